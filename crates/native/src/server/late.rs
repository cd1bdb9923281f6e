//! Copies that are made late. Up to its first choice every run of a request is the same (as for runs that are reset, see
//! `crate::reset`). So one copy stays there and makes the others: these begin with all that the program has built up by
//! then, and need not map, write and fetch it again.
//!
//! What came before has happened once for all, and must not show: calls are looked at as for checkpoints (`left`), and where
//! the kernel keeps something of it, all copies begin before main as before.
//!
//! The one that stays is watched by the server like any run. It waits for its copies, and needs no timer of its own, which the
//! program might notice: if one of them hangs it is the server who ends it.

use super::copies::{self, Marks};
use super::outbox::Outbox;
use super::resets;
use super::shared::{self, Shared};
use super::{CAPTURED, CHECKED, CHECKPOINTS_ALWAYS, CHECKPOINTS_OFF, FROM_MAIN, Request, THREADS};
use super::{has_mail, processor, reply, request, socket};
use crate::reset::guard;
use crate::signals;
use crate::sys::{self, nr};
use crate::warm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use raddle_model::Rng;

/// So many runs must have been, and be left, for it to pay. By then it is known which code a run needs.
const RUNS_MIN: u64 = 32;

/// So many of them are watched for the code that they need: which that is hangs on their choices.
const WATCHED: u32 = 4;

/// So many after them tell which pages they write to, if so many or more are left.
const ASKED: u32 = 3;
const ASKED_FROM: u64 = 200;

/// Runs cannot begin late: they all come to their first choice in the same way.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// What a copy needs to know that may stay.
#[derive(Clone, Copy)]
struct Invitation {
    flags: u32,
    last: u64,
    seed: u64,
}

struct Slot(UnsafeCell<Option<Invitation>>);

// SAFETY: written and read on the process's one thread.
unsafe impl Sync for Slot {}

static INVITED: Slot = Slot(UnsafeCell::new(None));

fn invited() -> &'static mut Option<Invitation> {
    // SAFETY: see `Slot`; nobody keeps the reference.
    unsafe { &mut *INVITED.0.get() }
}

/// Whether this copy may stay at its first choice.
pub(super) fn is_invited() -> bool {
    invited().is_some()
}

/// Whether the runs from this one on may begin late.
fn may_begin_late(request: &Request, number: u64) -> bool {
    const NOT: u32 = CHECKPOINTS_OFF | FROM_MAIN | THREADS;
    let shared = shared::get().expect("raddle bug: no shared memory");
    let always = request.flags & CHECKPOINTS_ALWAYS != 0;
    let pays = || shared.made.load(Ordering::Relaxed) >= RUNS_MIN && request.last - number >= RUNS_MIN;
    request.kind == request::SAMPLE
        && request.flags & NOT == 0
        && request.flags & CAPTURED != 0
        && !REFUSED.load(Ordering::Relaxed)
        // Those that others are compared with begin before main.
        && (always || request.flags & CHECKED == 0 && pays())
}

/// The run of this number, or more if they can begin late. Gives back the number of the next; none in a copy that
/// is to do this one.
pub(super) fn some(request: &Request, number: u64, outbox: &mut Outbox) -> Option<u64> {
    if !may_begin_late(request, number) {
        return copies::one(request, number, outbox);
    }
    let shared = shared::get().expect("raddle bug: no shared memory");
    guard::look_around();
    shared.begin_process(number, request.last);
    copies::rewind(true);
    let Some(child) = copies::copy(outbox) else {
        if guard::begin_watching() {
            *invited() =
                Some(Invitation { flags: request.flags, last: request.last, seed: request.plan.seed });
        }
        copies::start(request, number);
        return None;
    };
    let (status, hangs) = copies::finished(child, request.hang_ms, shared);
    if shared.done.load(Ordering::Relaxed) != 0 {
        return Some(shared.run.load(Ordering::Acquire));
    }
    REFUSED.store(true, Ordering::Relaxed);
    if shared.alone.load(Ordering::Relaxed) == 0 {
        let status = copies::checked(request.flags, status, shared);
        copies::tell(number, status, hangs, shared, outbox);
        return Some(number + 1);
    }
    // It stayed, and somebody has ended it.
    if shared.is_talking() {
        outbox.break_off();
    }
    Some(shared.run.load(Ordering::Acquire))
}

/// The run has come to its first choice. If this copy stays, it does not come back: only those do that it makes.
/// Says with which seed.
pub(super) fn first_choice() -> Option<u64> {
    let invitation = invited().take()?;
    let marks = Marks::now();
    // What is written already a copy could write over, for all others; and of the end of a copy the program is not to hear.
    let quiet = guard::can_be_left() && !marks.has_output() && signals::leaves_children();
    let stays = resets::is_any() && quiet;
    guard::end_watching();
    if !stays {
        return None;
    }
    let shared = shared::get().expect("raddle bug: no shared memory");
    stay(invitation, marks, shared)
}

/// The controller by a number of the lowest, if the program has left one: the kernel copies as long a list of descriptors for
/// every process as the highest of them says. Copies have none of it.
fn low_socket() -> i32 {
    /// So long is the list that every process has in any case.
    const SHORT: isize = 64;
    let high = socket() as usize;
    // SAFETY: descriptors of our own.
    unsafe {
        let low = sys::call3(nr::FCNTL, high, sys::DUPLICATE_CLOEXEC, SHORT as usize - 1);
        if low == SHORT - 1 {
            sys::call3(nr::CLOSE, high, 0, 0);
            return low as i32;
        }
        if low >= 0 {
            sys::call3(nr::CLOSE, low as usize, 0, 0);
        }
    }
    high as i32
}

/// Makes the copies for all runs that are left.
///
/// Not part of its caller, from where all runs go on: see `reset::late`.
#[inline(never)]
fn stay(Invitation { flags, last, seed }: Invitation, marks: Marks, shared: &Shared) -> Option<u64> {
    let socket = low_socket();
    let mut outbox = Outbox::new(socket)?;
    let mut number = shared.run.load(Ordering::Relaxed);
    processor::stay();
    warm::again(shared);
    shared.alone.store(1, Ordering::Relaxed);
    outbox.put(0, reply::MOVED, &[], 0, number);
    let mut to_watch = if warm::watches_late(shared) { WATCHED } else { 0 };
    let asks = flags & CHECKPOINTS_ALWAYS != 0 || last - number >= ASKED_FROM;
    let asks = asks && shared.written().begin(shared.spare_room());
    let mut to_ask = if asks { ASKED } else { 0 };
    while number < last && !has_mail(socket) {
        shared.begin_run();
        marks.rewind(true);
        let is_usual = !copies::is_close(number);
        let watched = to_watch > 0 && is_usual;
        let asked = to_watch == 0 && to_ask > 0 && is_usual;
        shared.asks.store(u32::from(asked), Ordering::Relaxed);
        let Some(child) = copies::awaited_copy(&mut outbox, &shared.copy) else {
            processor::begin_here();
            // SAFETY: a descriptor of ours, which the one who stays needs, and a run does not.
            unsafe { sys::call3(nr::CLOSE, socket as usize, 0, 0) };
            if watched {
                warm::watch(warm::LATE);
            }
            return Some(Rng::seed_of_run(seed, number));
        };
        let status = copies::wait_for(child);
        shared.copy.store(0, Ordering::Release);
        if watched {
            to_watch -= 1;
            warm::again(shared);
        }
        if asked {
            to_ask -= 1;
        }
        copies::end_group(child, shared);
        let hangs = shared.hung.swap(0, Ordering::Relaxed) != 0;
        let status = copies::checked(flags, status, shared);
        copies::tell(number, status, hangs, shared, &mut outbox);
        number += 1;
        shared.run.store(number, Ordering::Release);
        if asked && to_ask == 0 {
            // Where that cannot be, copies only take longer.
            shared.written().register(shared.spare_room());
        }
    }
    shared.done.store(1, Ordering::Release);
    sys::exit(0)
}
