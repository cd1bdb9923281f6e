//! Calls that are looked at and made, whatever they are: whether a process may be left behind, and others go on from it,
//! depends on them. The same list says it; what is not in it ends all that. Memory, signal actions and blocked signals are
//! each process's own; what two processes share (files that are open, and all behind them) must not tell them apart.

use super::rules::{ANYWHERE, RECVMSG, Rule, may_be_output, opening, rule};
use super::{DISPATCH, begin as dispatch, prepare};
use crate::reset::undo::{DESCRIPTORS, Undo};
use crate::server;
use crate::sys::{self, nr};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// Most calls of a run that may make descriptors, up to two each: after more of them some could be too high to be seen.
const OPENINGS_MAX: u32 = 400;

/// What is known of the run in this process.
struct Known {
    undo: Undo,
    /// Calls that may have made descriptors.
    openings: u32,
    /// It listens for connections, so that it may speak to itself.
    listens: bool,
    /// It has asked who it is, which a process that goes on from it is not.
    knows_itself: bool,
}

struct Slot(UnsafeCell<Option<Known>>);

// SAFETY: written and read on the process's one thread.
unsafe impl Sync for Slot {}

/// As it is before all runs, once somebody has looked; in a run as it is there.
static KNOWN: Slot = Slot(UnsafeCell::new(None));
/// Whether calls are looked at in this process.
static ON: AtomicBool = AtomicBool::new(false);

/// Makes ready for copies whose calls are looked at. In the server.
pub(crate) fn look_around() {
    // SAFETY: see `Slot`.
    let known = unsafe { &mut *KNOWN.0.get() };
    if known.is_none() {
        prepare();
        let fresh = Known { undo: Undo::new(), openings: 0, listens: false, knows_itself: false };
        known.insert(fresh).undo.look();
    }
}

/// Calls are looked at from now on. False if they cannot be.
pub(crate) fn begin() -> bool {
    let on = dispatch();
    ON.store(on, Ordering::Relaxed);
    on
}

fn known() -> Option<&'static mut Known> {
    // SAFETY: see `Slot`; nobody keeps the reference.
    if ON.load(Ordering::Relaxed) { unsafe { (*KNOWN.0.get()).as_mut() } } else { None }
}

/// What is known of the run's descriptors, if calls are looked at.
pub(super) fn undo() -> Option<&'static mut Undo> {
    known().map(|known| &mut known.undo)
}

/// Whether the kernel keeps nothing of this run that a copy of it would not have for itself.
pub(crate) fn can_be_left() -> bool {
    known().is_some_and(|known| {
        let all_seen = known.openings <= OPENINGS_MAX;
        all_seen && !known.knows_itself && known.undo.can_be_start()
    })
}

/// A call makes descriptors, or may.
pub(super) fn opens() {
    if let Some(known) = known() {
        known.openings += 1;
    }
}

/// Looks at a call that is about to be made for the program.
pub(super) fn look(number: usize, args: &[usize; 6]) {
    if !is_known(number, args) {
        outlives();
    }
}

/// Whether a call is known not to outlive its run, and to be seen by nobody who is left behind before it.
pub(super) fn is_known(number: usize, args: &[usize; 6]) -> bool {
    const LISTEN: usize = 50;
    const GETPGRP: usize = 111;
    const READV: usize = 19;
    let Some(known) = known() else { return true };
    let inherited = known.undo.is_inherited(args[0]);
    // Where those are is put back.
    let standard = (args[0] as u32) < 3;
    match number {
        nr::MMAP => args[3] & 1 == 0,
        nr::MADVISE => is_same_in_copies(args[2]),
        nr::MPROTECT | nr::MUNMAP | nr::BRK | nr::MREMAP | nr::EXIT_GROUP => true,
        nr::SIGACTION => args[0] != DISPATCH,
        nr::GETPID | nr::GETTID | GETPGRP => {
            known.knows_itself = true;
            true
        }
        nr::READ | READV => standard || !inherited,
        nr::LSEEK => {
            const HERE: usize = 1;
            let asks = args[1] == 0 && args[2] == HERE;
            // What was written before may be written over.
            asks || (standard || !inherited) && !may_be_output(args[0])
        }
        LISTEN => {
            known.listens |= !inherited;
            !inherited
        }
        nr::CONNECT => !inherited && known.listens,
        RECVMSG => opening(!inherited, ANYWHERE),
        nr::FCNTL if is_too_high(args) => false,
        _ => match rule(number) {
            Some(Rule::Free) => true,
            // Some make two.
            Some(Rule::Opens) => opening(true, 2),
            Some(Rule::Own | Rule::Held) => !inherited,
            Some(Rule::If(may)) => may(args),
            Some(Rule::By(_)) | None => false,
        },
    }
}

/// Advice on memory that means the same for a copy, and keeps nothing from it.
fn is_same_in_copies(advice: usize) -> bool {
    // Read ahead, need or not, huge pages or not, dump or not.
    matches!(advice, 0..=4 | 8 | 14..=17)
}

/// Whether `fcntl` is to make a descriptor so high that nobody would see it.
pub(super) fn is_too_high(args: &[usize; 6]) -> bool {
    sys::is_duplicate(args[1]) && args[2] >= DESCRIPTORS / 2
}

/// The program does something that outlives its run: nobody need look any more.
pub(super) fn outlives() {
    server::outlives();
    end();
}

/// Calls are not looked at any more.
pub(crate) fn end() {
    const SET_DISPATCH: usize = 59;
    ON.store(false, Ordering::Relaxed);
    // SAFETY: concerns this process alone; calls go their own way again.
    unsafe { sys::call3(nr::PRCTL, SET_DISPATCH, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that had three descriptors at first.
    fn watched() {
        let mut undo = Undo::new();
        undo.had(3);
        let fresh = Known { undo, openings: 0, listens: false, knows_itself: false };
        // SAFETY: the one test below uses it.
        unsafe { *KNOWN.0.get() = Some(fresh) };
        ON.store(true, Ordering::Relaxed);
    }

    fn call(number: usize, args: &[usize]) -> bool {
        let mut all = [0; 6];
        all[..args.len()].copy_from_slice(args);
        is_known(number, &all)
    }

    #[test]
    fn what_is_not_known_to_be_harmless_ends_it() {
        watched();
        // Children, kill, chdir, mkdir, unlink, timers, prctl; and numbers that nobody has seen yet.
        for number in [56, 57, 58, 59, 62, 80, 83, 87, 222, 37, 38, 157, 282, 289, 450, 5_000] {
            assert!(!call(number, &[0; 6]), "call {number}");
        }
        let private = [0, 4096, 3, 0x22, usize::MAX, 0];
        assert!(call(nr::MMAP, &private) && !call(nr::MMAP, &[0, 4096, 3, 0x21, usize::MAX, 0]));
        assert!(call(nr::MADVISE, &[0, 4096, 4]) && !call(nr::MADVISE, &[0, 4096, 10]));
        assert!(call(nr::SIGACTION, &[10]) && !call(nr::SIGACTION, &[DISPATCH]));
        assert!(!call(nr::CONNECT, &[7]) && call(50, &[7]) && call(nr::CONNECT, &[8]));
        // Files that it had from the beginning, and those of its own.
        assert!(call(nr::READ, &[0]) && call(nr::READ, &[9]) && call(nr::CLOSE, &[9]));
        assert!(!call(nr::CLOSE, &[0]) && !call(nr::READ, &[DESCRIPTORS + 1]));
        assert!(!call(nr::FCNTL, &[0, sys::DUPLICATE, 900]));
        assert!(can_be_left_but_for_files());
        assert!(call(nr::GETPID, &[]) && !can_be_left_but_for_files());
        watched();
        assert!(call(nr::SOCKET, &[]) && undo().expect("it is watched").opened > 0);
        for _ in 0..=OPENINGS_MAX {
            assert!(call(nr::SOCKET, &[]));
        }
        assert!(!can_be_left_but_for_files());
        ON.store(false, Ordering::Relaxed);
    }

    fn can_be_left_but_for_files() -> bool {
        undo().expect("it is watched").opened = 0;
        can_be_left()
    }
}
