//! Calls that are looked at and made, whatever they are: whether a process that was left behind by a run may still go on
//! for another depends on them. The same list says it. Memory, signal actions and blocked signals are each process's own.

use super::{Rule, begin as dispatch, may_be_output, prepare, rule};
use crate::reset::undo::Undo;
use crate::server;
use crate::sys::{self, nr};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

struct Slot(UnsafeCell<Option<Undo>>);

// SAFETY: written and read on the process's one thread.
unsafe impl Sync for Slot {}

/// Which descriptors the program had before its runs, once somebody has looked.
static KNOWN: Slot = Slot(UnsafeCell::new(None));
/// Whether calls are looked at in this process.
static ON: AtomicBool = AtomicBool::new(false);

/// Makes ready for copies whose calls are looked at. In the server.
pub(crate) fn look_around() {
    // SAFETY: see `Slot`.
    let known = unsafe { &mut *KNOWN.0.get() };
    if known.is_none() {
        prepare();
        known.insert(Undo::new()).look();
    }
}

/// Calls are looked at from now on. False if they cannot be.
pub(crate) fn begin() -> bool {
    let on = dispatch();
    ON.store(on, Ordering::Relaxed);
    on
}

/// What is known of the run's descriptors, if calls are looked at.
pub(super) fn undo() -> Option<&'static mut Undo> {
    // SAFETY: see `Slot`; nobody keeps the reference.
    if ON.load(Ordering::Relaxed) { unsafe { (*KNOWN.0.get()).as_mut() } } else { None }
}

/// Whether the kernel keeps nothing of this run that a copy of it would not have for itself.
pub(crate) fn can_be_left() -> bool {
    undo().is_some_and(|undo| undo.can_be_start())
}

/// Whether a call is known not to outlive its run.
pub(super) fn is_known(number: usize, args: &[usize; 6]) -> bool {
    const SHARED: usize = 1;
    const LISTEN: usize = 50;
    const HERE: usize = 1;
    let Some(undo) = undo() else { return true };
    match number {
        nr::MMAP => args[3] & SHARED == 0,
        nr::MPROTECT | nr::MUNMAP | nr::BRK | nr::SIGACTION | nr::MREMAP | nr::MADVISE => true,
        nr::LSEEK => args[1] == 0 && args[2] == HERE || !may_be_output(args[0]),
        LISTEN => !undo.is_inherited(args[0]),
        _ => match rule(number) {
            Some(Rule::Free) => true,
            Some(Rule::Opens) => {
                undo.opened = true;
                true
            }
            Some(Rule::Own) => !undo.is_inherited(args[0]),
            Some(Rule::If(may)) => may(args),
            Some(Rule::By(_)) | None => false,
        },
    }
}

/// The program does something that outlives its run: nobody need look any more.
pub(super) fn outlives() {
    const SET_DISPATCH: usize = 59;
    ON.store(false, Ordering::Relaxed);
    server::outlives();
    // SAFETY: concerns this process alone; calls go their own way again.
    unsafe { sys::call3(nr::PRCTL, SET_DISPATCH, 0, 0) };
}
