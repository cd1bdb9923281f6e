//! Semaphores. The world keeps the permits of those that are the run's alone. Those that other processes may have, too, are what
//! stands in memory: nobody controls who else takes and gives permits there.

use crate::cancel;
use crate::io;
use crate::locks::{Patience, code, error, fresh, place};
use crate::run::{arrive, with};
use crate::sys;
use core::sync::atomic::{AtomicU32, Ordering};
use raddle_model::objects::State;
use raddle_model::objects::semaphore::Semaphore;
use raddle_model::{Kind, ObjectId, Op, Outcome, SiteId};

fn semaphore(address: usize, pc: usize) -> (ObjectId, SiteId) {
    place(
        address,
        pc,
        |state| matches!(state, State::Semaphore(_)),
        || {
            // SAFETY: the program says that a semaphore lies there; glibc keeps its value in the first word.
            let permits = u64::from(unsafe { (address as *const u32).read() });
            State::Semaphore(Semaphore { permits })
        },
    )
}

/// Whether other processes may have a semaphore, too: glibc's mark for that.
fn is_common(address: usize) -> bool {
    const MARK: u32 = 128;
    // SAFETY: the program says that a semaphore lies there.
    unsafe { (address as *const u32).add(2).read_volatile() == MARK }
}

/// A semaphore that other processes may have, too: what it is stands in memory, and nowhere else.
fn common_semaphore(address: usize, pc: usize) -> (ObjectId, SiteId) {
    place(address, pc, |state| matches!(state, State::Kernel(_)), || State::Kernel("semaphore"))
}

/// Its permits, on which processes that nobody controls work, too.
fn permits(address: usize) -> &'static AtomicU32 {
    // SAFETY: the program says that a semaphore lies there; glibc keeps its value in the first word.
    unsafe { &*(address as *const AtomicU32) }
}

/// Takes a permit that another process may have given.
fn common_wait(address: usize, patience: Patience, pc: usize) -> i32 {
    let (object, site) = common_semaphore(address, pc);
    let limit = match patience {
        Patience::Limited(limit) => Some(limit),
        _ => None,
    };
    let mut over = false;
    loop {
        let op = Op::new(Kind::Rmw, object, site);
        let came = if patience == Patience::None { Some(arrive(op)) } else { cancel::point(op) };
        if came.is_none() {
            return 0;
        }
        let take = |permits: u32| permits.checked_sub(1);
        let taken = permits(address).fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok();
        if over && !with(|run| run.waits_no_more()) {
            // Somebody still found it waiting: its token is on its way.
            cancel::park(None, site);
        }
        if taken || over || patience == Patience::None {
            let error = if patience == Patience::None { error::AGAIN } else { error::TIMED_OUT };
            return if taken { 0 } else { error };
        }
        match io::wait_for_word(address, limit, site) {
            None => return 0,
            outcome => over = outcome == Some(Outcome::TimedOut),
        }
    }
}

/// Gives a permit that another process may take.
fn common_post(address: usize, pc: usize) {
    const WAKE: usize = 1;
    let (object, site) = common_semaphore(address, pc);
    arrive(Op::new(Kind::Rmw, object, site));
    permits(address).fetch_add(1, Ordering::SeqCst);
    // SAFETY: the word is not even looked at.
    unsafe { sys::call3(sys::nr::FUTEX, address, WAKE, 1) };
    io::after_word(address, pc);
}

/// A semaphore is made.
pub fn semaphore_init(address: usize, value: u32, pc: usize) {
    if is_common(address) {
        return fresh(address, pc, State::Kernel("semaphore"));
    }
    fresh(address, pc, State::Semaphore(Semaphore { permits: u64::from(value) }));
}

/// Takes a permit.
pub fn semaphore_wait(address: usize, patience: Patience, pc: usize) -> i32 {
    if is_common(address) {
        return common_wait(address, patience, pc);
    }
    let (object, site) = semaphore(address, pc);
    let op = patience.apply(Op::new(Kind::Acquire, object, site).arg(1));
    let outcome = if patience == Patience::None { Some(arrive(op)) } else { cancel::point(op) };
    match outcome {
        Some(Outcome::Failed) => error::AGAIN,
        outcome => outcome.map_or(0, code),
    }
}

/// Gives a permit.
pub fn semaphore_post(address: usize, pc: usize) {
    if is_common(address) {
        return common_post(address, pc);
    }
    let (object, site) = semaphore(address, pc);
    arrive(Op::new(Kind::Release, object, site).arg(1));
}

/// How many permits there are. Others may change that, so it is an operation.
pub fn semaphore_value(address: usize, pc: usize) -> i32 {
    if is_common(address) {
        let (object, site) = common_semaphore(address, pc);
        arrive(Op::new(Kind::Rmw, object, site));
        return permits(address).load(Ordering::SeqCst) as i32;
    }
    let (object, site) = semaphore(address, pc);
    arrive(Op::new(Kind::Release, object, site).arg(0));
    with(|run| match run.engine.world().object(object).state {
        State::Semaphore(Semaphore { permits }) => permits as i32,
        _ => 0,
    })
}
