//! Signals: what the program handles itself is handled at its operations, not in the middle of ours.

use crate::clocks::set_errno;
use core::ffi::c_int;
use raddle_model::trace::Hidden;
use raddle_native::deferred::{self, Handler, SIGNALS};
use raddle_native::locks::error;
use raddle_native::run::{active, with};
use raddle_native::time::TimeSpec;
use raddle_native::{hidden, sent, signals, sys, threads};

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
const INFORMED: c_int = 4;
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
    hidden::uses(Hidden::SIGNALS, signal as usize, !new.is_null());
    let before = deferred::get(signal as usize);
    // SAFETY: the program's structure, if there is one.
    let wanted = (!new.is_null()).then(|| unsafe { *new });
    let passed = wanted.map(|wanted| match SPECIAL.contains(&wanted.function) {
        // What is done about this one by default is a failure like any other.
        true if signal == signals::PIPE && wanted.function == 0 => {
            SigAction { function: signals::pipe_handler(), flags: INFORMED | ALTERNATE_STACK, ..wanted }
        }
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
    // SAFETY: the program's structure, if there is one.
    if let Some(old) = unsafe { old.as_mut() }
        && (before.function != 0 || old.function == signals::pipe_handler())
    {
        old.function = before.function;
        old.flags = before.flags;
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

fn is_known(signal: c_int) -> bool {
    usize::try_from(signal).is_ok_and(|signal| (1..SIGNALS).contains(&signal))
}

unsafe extern "C" fn raise_(signal: c_int, pc: usize) -> c_int {
    if active() && is_known(signal) && sent::send(Some(with(|run| run.running)), signal, pc) {
        return 0;
    }
    if active() && is_known(signal) {
        signals::sends_itself(signal, pc);
    }
    // SAFETY: our own arguments; so in all calls of libc below.
    let result = unsafe { real!(raise(c_int) -> c_int)(signal) };
    if active() {
        deferred::handle();
    }
    result
}

/// If the process is this one the signal has been handled when this returns.
pub(crate) unsafe extern "C" fn kill_(process: c_int, signal: c_int, pc: usize) -> c_int {
    // SAFETY: asks for a number.
    let own = || unsafe { sys::call3(sys::nr::GETPID, 0, 0, 0) } as c_int;
    if active() && is_known(signal) && process == own() {
        if sent::send(None, signal, pc) {
            return 0;
        }
        signals::sends_itself(signal, pc);
    }
    // SAFETY: as above.
    let result = unsafe { real!(kill(c_int, c_int) -> c_int)(process, signal) };
    if active() {
        deferred::handle();
    }
    result
}

/// The same with a value, which no handler is told.
unsafe extern "C" fn sigqueue_(process: c_int, signal: c_int, value: usize, pc: usize) -> c_int {
    // SAFETY: asks for a number.
    if active() && process == unsafe { sys::call3(sys::nr::GETPID, 0, 0, 0) } as c_int {
        // SAFETY: as above.
        return unsafe { kill_(process, signal, pc) };
    }
    // SAFETY: as above.
    unsafe { real!(sigqueue(c_int, c_int, usize) -> c_int)(process, signal, value) }
}

/// To a kernel thread, of which the process has one: the running thread.
pub(crate) unsafe extern "C" fn tgkill_(process: c_int, thread: c_int, signal: c_int, pc: usize) -> c_int {
    // SAFETY: asks for numbers.
    let own = |number| unsafe { sys::call3(number, 0, 0, 0) } as c_int;
    if active() && process == own(sys::nr::GETPID) && thread == own(sys::nr::GETTID) {
        // SAFETY: as above.
        return unsafe { raise_(signal, pc) };
    }
    let args = [process as usize, thread as usize, signal as usize, 0, 0, 0];
    // SAFETY: numbers.
    unsafe { crate::files::plain(sys::nr::TGKILL, args) as c_int }
}

unsafe extern "C" fn pthread_kill_(handle: u64, signal: c_int, pc: usize) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(pthread_kill(u64, c_int) -> c_int)(handle, signal) };
    }
    let found = threads::alive(handle);
    if found.is_none_or(|(_, own)| !own) {
        hidden::hides(Hidden::SIGNALS);
    }
    match found {
        _ if signal != 0 && !is_known(signal) => error::INVALID,
        None => error::NO_SUCH,
        Some(_) if signal == 0 => 0,
        Some((task, _)) if sent::send(Some(task), signal, pc) => 0,
        // One that ends or spares the whole process.
        Some(_) => {
            signals::sends_itself(signal, pc);
            // SAFETY: as above.
            unsafe { real!(raise(c_int) -> c_int)(signal) }
        }
    }
}

unsafe extern "C" fn pthread_sigqueue_(handle: u64, signal: c_int, _: usize, pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe { pthread_kill_(handle, signal, pc) }
}

hook! {
    raise rsi => raise_;
    kill rdx => kill_;
    sigqueue rcx => sigqueue_;
    tgkill rcx => tgkill_;
    pthread_kill rdx => pthread_kill_;
    pthread_sigqueue rcx => pthread_sigqueue_;
}

const BLOCK: c_int = 0;
const UNBLOCK: c_int = 1;
const SET: c_int = 2;

/// Says which signals the running thread does not want to hear of. Those from outside are kept from all.
unsafe fn change_mask(how: c_int, new: *const u64, old: *mut u64) -> c_int {
    let before = sent::mask();
    if !old.is_null() {
        // SAFETY: the program's set.
        unsafe { *old = before };
    }
    if new.is_null() {
        return 0;
    }
    // SAFETY: the program's set.
    let wanted = unsafe { *new };
    let mask = match how {
        BLOCK => before | wanted,
        UNBLOCK => before & !wanted,
        SET => wanted,
        _ => return error::INVALID,
    };
    sent::set_mask(mask);
    0
}

/// The mask of the running thread.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_sigmask(how: c_int, new: *const u64, old: *mut u64) -> c_int {
    let real = real!(pthread_sigmask(c_int, *const u64, *mut u64) -> c_int);
    // SAFETY: as above.
    let result = unsafe { real(how, new, old) };
    if !active() || result != 0 {
        return result;
    }
    // SAFETY: the program's sets.
    unsafe { change_mask(how, new, old) }
}

/// The same with another way to tell of errors.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn sigprocmask(how: c_int, new: *const u64, old: *mut u64) -> c_int {
    // SAFETY: as above.
    match unsafe { pthread_sigmask(how, new, old) } {
        0 => 0,
        error => set_errno(error),
    }
}

/// Signals that wait until somebody wants them.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn sigpending(set: *mut u64) -> c_int {
    // SAFETY: as above.
    let result = unsafe { real!(sigpending(*mut u64) -> c_int)(set) };
    if active() && result == 0 {
        // SAFETY: the program's set.
        unsafe { *set |= sent::pending() & sent::mask() };
    }
    result
}

unsafe extern "C" fn sigwait_(set: *const u64, signal: *mut c_int, pc: usize) -> c_int {
    // SAFETY: the program's set and variable; so in all that follow.
    match unsafe { sent::wait(*set, None, pc) } {
        Ok(taken) => {
            // SAFETY: as above.
            unsafe { *signal = taken };
            0
        }
        Err(error) => error,
    }
}

unsafe extern "C" fn sigtimedwait_(
    set: *const u64,
    info: *mut c_int,
    limit: *const TimeSpec,
    pc: usize,
) -> c_int {
    // SAFETY: as above.
    let limit = if limit.is_null() { None } else { unsafe { *limit }.get() };
    // SAFETY: as above.
    match unsafe { sent::wait(*set, limit, pc) } {
        Ok(signal) => {
            if !info.is_null() {
                // SAFETY: as above; the number comes first.
                unsafe {
                    core::ptr::write_bytes(info.cast::<u8>(), 0, INFO_SIZE);
                    *info = signal;
                }
            }
            signal
        }
        Err(error) => set_errno(error),
    }
}

/// What the kernel says of a signal.
const INFO_SIZE: usize = 128;

unsafe extern "C" fn sigwaitinfo_(set: *const u64, info: *mut c_int, pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe { sigtimedwait_(set, info, core::ptr::null(), pc) }
}

unsafe extern "C" fn pause_(pc: usize) -> c_int {
    sent::suspend(None, pc);
    set_errno(error::INTERRUPTED)
}

unsafe extern "C" fn sigsuspend_(mask: *const u64, pc: usize) -> c_int {
    // SAFETY: as above.
    sent::suspend(Some(unsafe { *mask }), pc);
    set_errno(error::INTERRUPTED)
}

point! {
    sigwait rdx => sigwait_;
    sigwaitinfo rdx => sigwaitinfo_;
    sigtimedwait rcx => sigtimedwait_;
    sigsuspend rsi => sigsuspend_;
    pause rdi => pause_;
}
