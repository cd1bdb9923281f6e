//! Runs one after another in one process: main is called again, and nothing of what it has left behind is put back.
//! That is right for programs that begin anew by themselves, and many times quicker than a copy for each run. Which
//! programs these are is not known: the controller has runs now and then repeated in a copy, and compares.
//!
//! Each run has a stack of its own for main, so that it can be left from anywhere: at its end the process switches
//! back here. A run that has failed ends the process, and the server makes another for those that are left.

use super::outbox::{Outbox, nanoseconds};
use super::shared;
use super::{CAPTURED, Main, Request, copies, has_mail, reply};
use crate::fiber::{self, Fiber, Stack};
use crate::run::with;
use crate::sys::{self, nr};
use crate::threads::STACK_DEFAULT;
use alloc::boxed::Box;
use core::cell::UnsafeCell;
use core::sync::atomic::Ordering;

/// Between two looks whether the controller has had enough, and whether anything was written.
const LOOK_EVERY: u64 = 64;

/// A process for the runs from `first` on. Gives back the number of the first that it has not done; none in that
/// process.
pub(super) fn some(request: &Request, first: u64, outbox: &mut Outbox) -> Option<u64> {
    let shared = shared::get().expect("raddle bug: no shared memory");
    shared.begin_process(first, request.last);
    copies::rewind(request.flags & CAPTURED != 0);
    let child = copies::copy(outbox)?;
    let (status, hangs) = copies::finished(child, request.hang_ms, shared);
    let number = shared.run.load(Ordering::Relaxed);
    if shared.done.load(Ordering::Relaxed) != 0 {
        return Some(number);
    }
    if shared.is_talking() {
        outbox.break_off();
    }
    copies::tell(number, status, hangs, shared, outbox);
    Some(number + 1)
}

/// The loop, and the run that goes on.
struct Repeating {
    driver: Fiber,
    main: Main,
}

struct Slot(UnsafeCell<Option<Box<Repeating>>>);

// SAFETY: everything here happens on one kernel thread.
unsafe impl Sync for Slot {}

static REPEATING: Slot = Slot(UnsafeCell::new(None));

fn repeating() -> Option<*mut Repeating> {
    // SAFETY: see `Slot`; the box stays where it is.
    unsafe { (*REPEATING.0.get()).as_mut().map(|repeating| &raw mut **repeating) }
}

/// Does the runs of a request from `first` on, and ends the process.
pub(super) fn repeat(request: &Request, first: u64, main: Main, prepare: fn()) -> ! {
    let shared = shared::get().expect("raddle bug: no shared memory");
    let mut outbox = Outbox::new(super::socket()).expect("raddle bug: no shared memory");
    let libc = crate::libc::get();
    let Some(stack) = Stack::new(STACK_DEFAULT, libc) else {
        outbox.despair(b"there is no memory for a stack");
    };
    // SAFETY: see `Slot`.
    unsafe { *REPEATING.0.get() = Some(Box::new(Repeating { driver: Fiber::main(), main })) };
    let here = repeating().expect("raddle bug: it was just made");
    // Mostly there is nothing to read, and nothing to be rewound.
    // SAFETY: no memory is involved.
    let reads = unsafe { sys::call3(nr::LSEEK, 0, 0, END) } > 0;
    rewind_input();
    with(|run| run.engine.analysis_mut().shadow.reuse());
    let mut now = nanoseconds();
    for number in first..request.last {
        if number % LOOK_EVERY == 0 {
            now = nanoseconds();
            copies::rewind(request.flags & CAPTURED != 0);
            if has_mail(super::socket()) {
                break;
            }
        }
        shared.run.store(number, Ordering::Relaxed);
        shared.begin_run();
        if reads {
            rewind_input();
        }
        prepare();
        let task = with(|run| run.begin_again(&request.plan, stack, begin as *const () as usize));
        copies::start(request, number);
        // SAFETY: the loop is what runs, and the task is new. It comes back by `next`.
        unsafe { fiber::switch(&raw mut (*here).driver, task) };
        let report = crate::end::report();
        outbox.say_at(now, reply::REPORT, &report, 0, number, false);
        shared.run.store(number + 1, Ordering::Relaxed);
    }
    outbox.send();
    shared.done.store(1, Ordering::Relaxed);
    sys::exit(0)
}

/// Counted from the end.
const END: usize = 2;

/// Standard input is read from its beginning, if it is a file.
fn rewind_input() {
    // SAFETY: no memory is involved.
    unsafe { sys::call3(nr::LSEEK, 0, 0, 0) };
}

/// Where a run begins, on its own stack.
unsafe extern "C" fn begin(_: usize) -> usize {
    let here = repeating().expect("raddle bug: nothing is repeated");
    // SAFETY: the program's main, as its startup code would call it.
    let code = unsafe { (*here).main.call() };
    // SAFETY: what `exit` would do, but for what the program has registered.
    unsafe { crate::end::returned(code) }
}

/// A run has ended well: if runs are repeated here, goes on with the next and does not return.
pub(crate) fn next() {
    if let Some(here) = repeating() {
        let mut nobody = Fiber::main();
        // SAFETY: the loop waits in a switch; whoever runs is never gone on with.
        unsafe { fiber::switch(&raw mut nobody, &raw const (*here).driver) };
    }
}
