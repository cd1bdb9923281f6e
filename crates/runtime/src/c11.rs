//! C11 threads: the same under other names, with other numbers for what came of it.

use core::ffi::{c_int, c_void};
use raddle_native::locks::{self, Patience, error};
use raddle_native::run::active;
use raddle_native::threads;
use raddle_native::time::{TimeSpec, until};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const TIMED_OUT: c_int = 4;

fn result(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        error::BUSY => BUSY,
        error::TIMED_OUT => TIMED_OUT,
        _ => ERROR,
    }
}

/// How long to wait for a moment that the program gives.
///
/// # Safety
/// The program's own variable.
unsafe fn limit(moment: *const TimeSpec) -> Option<Patience> {
    // SAFETY: the caller says so.
    let moment = unsafe { *moment }.get()?;
    Some(Patience::Limited(until(0, moment)))
}

/// A function that is libc's if nobody controls the process.
macro_rules! controlled {
    ($($inner:ident = $name:ident ( $($argument:ident : $type:ty),* ) $pc:ident => $body:expr;)*) => {$(
        unsafe extern "C" fn $inner($($argument: $type,)* $pc: usize) -> c_int {
            if !active() {
                let _ = $pc;
                // SAFETY: our own arguments.
                return unsafe { real!($name($($type),*) -> c_int)($($argument),*) };
            }
            $body
        }
    )*};
}

controlled! {
    create = thrd_create(handle: *mut u64, start: usize, argument: usize) pc =>
        // SAFETY: the program's variable; so in all that follow.
        result(unsafe { threads::create(handle, threads::STACK_DEFAULT, false, start, argument, pc) });
    join = thrd_join(handle: u64, value: *mut c_int) pc => match threads::join(handle, Patience::Endless, pc) {
        Ok(returned) => {
            if !value.is_null() {
                // SAFETY: as above.
                unsafe { *value = returned as c_int };
            }
            SUCCESS
        }
        Err(_) => ERROR,
    };
    detach = thrd_detach(handle: u64) _pc => result(threads::detach(handle));
    sleep = thrd_sleep(wanted: *const TimeSpec, _rest: *mut TimeSpec) pc =>
        // SAFETY: as above.
        match unsafe { *wanted }.get() {
            Some(length) => {
                raddle_native::time::sleep(length, pc);
                0
            }
            None => -2,
        };
    lock = mtx_lock(object: usize) pc => result(locks::lock(object, Patience::Endless, pc));
    try_lock = mtx_trylock(object: usize) pc => result(locks::lock(object, Patience::None, pc));
    timed_lock = mtx_timedlock(object: usize, moment: *const TimeSpec) pc =>
        // SAFETY: as above.
        match unsafe { limit(moment) } {
            Some(patience) => result(locks::lock(object, patience, pc)),
            None => ERROR,
        };
    unlock = mtx_unlock(object: usize) pc => result(locks::unlock(object, pc));
    wait = cnd_wait(object: usize, mutex: usize) pc =>
        result(locks::cond_wait(object, mutex, Patience::Endless, pc));
    timed_wait = cnd_timedwait(object: usize, mutex: usize, moment: *const TimeSpec) pc =>
        // SAFETY: as above.
        match unsafe { limit(moment) } {
            Some(patience) => result(locks::cond_wait(object, mutex, patience, pc)),
            None => ERROR,
        };
    signal = cnd_signal(object: usize) pc => {
        locks::notify(object, false, pc);
        SUCCESS
    };
    broadcast = cnd_broadcast(object: usize) pc => {
        locks::notify(object, true, pc);
        SUCCESS
    };
}

unsafe extern "C" fn mutex_init(object: usize, kind: c_int, pc: usize) -> c_int {
    // SAFETY: our own arguments.
    let result = unsafe { real!(mtx_init(usize, c_int) -> c_int)(object, kind) };
    if active() {
        locks::mutex_init(object, pc);
    }
    result
}

unsafe extern "C" fn cond_init(object: usize, pc: usize) -> c_int {
    // SAFETY: our own arguments.
    let result = unsafe { real!(cnd_init(usize) -> c_int)(object) };
    if active() {
        locks::cond_init(object, pc);
    }
    result
}

unsafe extern "C" fn mutex_destroy(object: usize, pc: usize) {
    if active() {
        locks::mutex_destroy(object, pc);
    }
}

unsafe extern "C" fn cond_destroy(object: usize, pc: usize) {
    if active() {
        locks::destroy(object, pc);
    }
}

hook! {
    thrd_create rcx => create;
    thrd_detach rsi => detach;
    mtx_init rdx => mutex_init;
    mtx_lock rsi => lock;
    mtx_trylock rsi => try_lock;
    mtx_timedlock rdx => timed_lock;
    mtx_unlock rsi => unlock;
    mtx_destroy rsi => mutex_destroy;
    cnd_init rsi => cond_init;
    cnd_signal rsi => signal;
    cnd_broadcast rsi => broadcast;
    cnd_destroy rsi => cond_destroy;
}

point! {
    thrd_join rdx => join;
    thrd_sleep rdx => sleep;
    cnd_wait rdx => wait;
    cnd_timedwait rcx => timed_wait;
}

/// Does something once.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn call_once() {
    core::arch::naked_asm!("jmp {once}", once = sym crate::sync::pthread_once)
}

/// Ends the thread.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn thrd_exit() {
    core::arch::naked_asm!("movsxd rdi, edi", "jmp {exit}", exit = sym crate::pthread::pthread_exit)
}

/// Makes a key.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn tss_create(key: *mut u32, destructor: usize) -> c_int {
    // SAFETY: passed on to the caller.
    result(unsafe { crate::pthread::pthread_key_create(key, destructor) })
}

/// Gives a key back.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn tss_delete(key: u32) {
    crate::pthread::pthread_key_delete(key);
}

/// Sets a thread-specific value.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn tss_set(key: u32, value: *mut c_void) -> c_int {
    result(crate::pthread::pthread_setspecific(key, value as usize))
}

/// A thread-specific value.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn tss_get(key: u32) -> usize {
    crate::pthread::pthread_getspecific(key)
}
