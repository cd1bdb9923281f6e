//! Small programs that fail in no schedule; the program of the same name in [`bug`](crate::bug) does in some.

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
    program("aba_stack", aba_stack::body),
    program("check_then_act", check_then_act::body),
    program("detached", detached::body),
    program("double_checked_init", double_checked_init::body),
    program("if_for_while", if_for_while::body),
    program("lock_order", lock_order::body),
    program("lost_update", lost_update::body),
    program("lost_wakeup", lost_wakeup::body),
    program("park_token", park_token::body),
    program("plain_counter", plain_counter::body),
    program("poisoned_once", poisoned_once::body),
    program("readers_writer", readers_writer::body),
    program("rwlock_upgrade", rwlock_upgrade::body),
    program("semaphore_counter", semaphore_counter::body),
    program("send_after_drop", send_after_drop::body),
    program("spin_flags", spin_flags::body),
];

const fn program(name: &'static str, body: fn()) -> Program {
    Program { name, body, expect: Expect::Ok }
}
