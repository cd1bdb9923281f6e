//! Small programs of which each fails in some schedule; the program of the same name in [`ok`](crate::ok) does not.

mod aba_stack;
mod check_then_act;
mod detached;
mod double_checked_init;
mod if_for_while;
mod lock_order;
mod lost_update;
mod lost_wakeup;
mod park_token;
mod plain_counter;
mod poisoned_once;
mod readers_writer;
mod rwlock_upgrade;
mod semaphore_counter;
mod send_after_drop;
mod spin_flags;

use crate::program::{Expect, Program};

/// All of them, by name.
pub const PROGRAMS: &[Program] = &[
    program("aba_stack", aba_stack::body, "panic"),
    program("check_then_act", check_then_act::body, "assertion"),
    program("detached", detached::body, "assertion"),
    program("double_checked_init", double_checked_init::body, "race"),
    program("if_for_while", if_for_while::body, "panic"),
    program("lock_order", lock_order::body, "deadlock"),
    program("lost_update", lost_update::body, "assertion"),
    program("lost_wakeup", lost_wakeup::body, "deadlock"),
    program("park_token", park_token::body, "deadlock"),
    program("plain_counter", plain_counter::body, "race"),
    program("poisoned_once", poisoned_once::body, "panic"),
    program("readers_writer", readers_writer::body, "assertion"),
    program("rwlock_upgrade", rwlock_upgrade::body, "deadlock"),
    program("semaphore_counter", semaphore_counter::body, "assertion"),
    program("send_after_drop", send_after_drop::body, "panic"),
    program("spin_flags", spin_flags::body, "livelock"),
];

const fn program(name: &'static str, body: fn(), kind: &'static str) -> Program {
    Program { name, body, expect: Expect::Kind(kind) }
}
