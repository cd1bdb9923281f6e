//! Signals: what the program handles itself is handled at its operations, not in the middle of ours.

use core::ffi::c_int;
use raddle_native::deferred::{self, Handler, SIGNALS};
use raddle_native::locks::error;
use raddle_native::run::active;
use raddle_native::threads;

/// Libc's structure.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SigAction {
    function: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

/// By default, ignored.
const SPECIAL: [usize; 2] = [0, 1];
const RESTART: c_int = 0x1000_0000;
const ALTERNATE_STACK: c_int = 0x0800_0000;
/// Illegal instruction, trap, bus error, arithmetic error, memory: they belong to the instruction that runs.
const IMMEDIATE: [c_int; 5] = [4, 5, 7, 8, 11];

type Real = unsafe extern "C" fn(c_int, *const SigAction, *mut SigAction) -> c_int;

/// Says what is to be done about a signal.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn sigaction(signal: c_int, new: *const SigAction, old: *mut SigAction) -> c_int {
    let real: Real = real!(sigaction(c_int, *const SigAction, *mut SigAction) -> c_int);
    let known = usize::try_from(signal).is_ok_and(|signal| (1..SIGNALS).contains(&signal));
    if !active() || !known || IMMEDIATE.contains(&signal) {
        // SAFETY: our own arguments; so in all calls of libc below.
        return unsafe { real(signal, new, old) };
    }
    let before = deferred::get(signal as usize);
    // SAFETY: the program's structure, if there is one.
    let wanted = (!new.is_null()).then(|| unsafe { *new });
    let passed = wanted.map(|wanted| match SPECIAL.contains(&wanted.function) {
        true => wanted,
        // Ours only takes note; it needs no more than its number, and no other stack.
        false => SigAction {
            function: deferred::arrived as *const () as usize,
            flags: wanted.flags & RESTART & !ALTERNATE_STACK,
            ..wanted
        },
    });
    let passed = passed.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: as above.
    let result = unsafe { real(signal, passed, old) };
    if result != 0 {
        return result;
    }
    if let Some(wanted) = wanted {
        let function = if SPECIAL.contains(&wanted.function) { 0 } else { wanted.function };
        deferred::set(signal as usize, Handler { function, flags: wanted.flags });
    }
    if !old.is_null() && before.function != 0 {
        // SAFETY: the program's structure.
        unsafe {
            (*old).function = before.function;
            (*old).flags = before.flags;
        }
    }
    result
}

/// The same in a word, with interrupted calls begun again.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn signal(signal: c_int, function: usize) -> usize {
    let new = SigAction { function, mask: [0; 16], flags: RESTART, restorer: 0 };
    let mut old = new;
    // SAFETY: both live until the call returns.
    if unsafe { sigaction(signal, &new, &mut old) } == 0 { old.function } else { usize::MAX }
}

/// Sends a signal to the running thread; it has been handled when this returns.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn raise(signal: c_int) -> c_int {
    // SAFETY: as above.
    let result = unsafe { real!(raise(c_int) -> c_int)(signal) };
    if active() {
        deferred::handle();
    }
    result
}

/// Sends a signal to a process. If that is this one it has been handled when this returns.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn kill(process: c_int, signal: c_int) -> c_int {
    // SAFETY: as above.
    let result = unsafe { real!(kill(c_int, c_int) -> c_int)(process, signal) };
    if active() {
        deferred::handle();
    }
    result
}

/// Sends a signal to a thread.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_kill(handle: u64, signal: c_int) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(pthread_kill(u64, c_int) -> c_int)(handle, signal) };
    }
    let known = usize::try_from(signal).is_ok_and(|signal| signal < SIGNALS);
    match threads::alive(handle) {
        _ if !known => error::INVALID,
        None => error::NO_SUCH,
        Some(_) if signal == 0 => 0,
        Some((task, false)) if deferred::get(signal as usize).function != 0 => {
            deferred::send(task, signal);
            0
        }
        // To itself, or one that ends or spares the whole process.
        // SAFETY: as above.
        Some(_) => unsafe { raise(signal) },
    }
}
