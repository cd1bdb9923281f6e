//! Threads.

use crate::sync::{WALL, limit};
use core::ffi::{c_int, c_void};
use raddle_native::locks::{Patience, error};
use raddle_native::run::active;
use raddle_native::threads;
use raddle_native::time::TimeSpec;

unsafe extern "C" {
    fn pthread_attr_getstacksize(attributes: *const c_void, size: *mut usize) -> c_int;
    fn pthread_attr_getdetachstate(attributes: *const c_void, state: *mut c_int) -> c_int;
    fn pthread_attr_init(attributes: *mut c_void) -> c_int;
    fn pthread_attr_setstack(attributes: *mut c_void, address: usize, size: usize) -> c_int;
}

unsafe extern "C" fn create(
    handle: *mut u64,
    attributes: *const c_void,
    start: usize,
    argument: usize,
    pc: usize,
) -> c_int {
    if !active() {
        let real = real!(pthread_create(*mut u64, *const c_void, usize, usize) -> c_int);
        // SAFETY: our own arguments; so in all calls of libc below.
        return unsafe { real(handle, attributes, start, argument) };
    }
    let (mut stack, mut detached) = (threads::STACK_DEFAULT, 0);
    if !attributes.is_null() {
        // SAFETY: the program's attributes and our own variables.
        unsafe {
            pthread_attr_getstacksize(attributes, &mut stack);
            pthread_attr_getdetachstate(attributes, &mut detached);
        }
    }
    // SAFETY: the program's variable.
    unsafe { threads::create(handle, stack, detached != 0, start, argument, pc) }
}

/// Hands over what a thread returned.
///
/// # Safety
/// `result` must be null or the program's variable.
unsafe fn give(joined: Result<usize, i32>, result: *mut usize) -> c_int {
    match joined {
        Ok(value) => {
            if !result.is_null() {
                // SAFETY: the caller says so.
                unsafe { *result = value };
            }
            0
        }
        Err(error) => error,
    }
}

unsafe extern "C" fn join(handle: u64, result: *mut usize, pc: usize) -> c_int {
    // SAFETY: the program's variable.
    unsafe { give(threads::join(handle, Patience::Endless, pc), result) }
}

unsafe extern "C" fn timed_join(
    handle: u64,
    result: *mut usize,
    moment: *const TimeSpec,
    pc: usize,
) -> c_int {
    // SAFETY: the program's variables.
    unsafe { clock_join(handle, result, WALL, moment, pc) }
}

unsafe extern "C" fn clock_join(
    handle: u64,
    result: *mut usize,
    clock: c_int,
    moment: *const TimeSpec,
    pc: usize,
) -> c_int {
    // SAFETY: the program's variables; no moment means that there is none.
    unsafe {
        let patience = if moment.is_null() { Some(Patience::Endless) } else { limit(clock, moment) };
        match patience {
            Some(patience) => give(threads::join(handle, patience, pc), result),
            None => error::INVALID,
        }
    }
}

unsafe extern "C" fn try_join(handle: u64, result: *mut usize, pc: usize) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(pthread_tryjoin_np(u64, *mut usize) -> c_int)(handle, result) };
    }
    // SAFETY: the program's variable.
    unsafe { give(threads::try_join(handle, pc), result) }
}

hook! {
    pthread_create r8 => create;
    pthread_tryjoin_np rdx => try_join;
}

point! {
    pthread_join rdx => join;
    pthread_timedjoin_np rcx => timed_join;
    pthread_clockjoin_np r8 => clock_join;
}

/// Nobody will join the thread.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn pthread_detach(handle: u64) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(pthread_detach(u64) -> c_int)(handle) };
    }
    threads::detach(handle)
}

static REAL_EXIT: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);

/// Before libc unwinds the thread: says what it returns, and where to go on.
unsafe extern "C" fn before_exit(result: usize) {
    let real = real!(pthread_exit(usize));
    REAL_EXIT.store(real as usize, core::sync::atomic::Ordering::Relaxed);
    if active() {
        threads::exiting(result);
    }
}

/// Ends the thread. Libc unwinds it, and none of our own frames is among those it unwinds.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_exit(result: usize) {
    core::arch::naked_asm!(
        "push rdi",
        "call {before}",
        "pop rdi",
        "mov rax, [rip + {real}]",
        "jmp rax",
        before = sym before_exit,
        real = sym REAL_EXIT,
    )
}

/// Where the stack of a thread is.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_getattr_np(handle: u64, attributes: *mut c_void) -> c_int {
    let stack = if active() { threads::stack_of(handle) } else { None };
    // SAFETY: as above.
    unsafe {
        match stack {
            None => real!(pthread_getattr_np(u64, *mut c_void) -> c_int)(handle, attributes),
            Some((start, size)) => {
                pthread_attr_init(attributes);
                pthread_attr_setstack(attributes, start, size)
            }
        }
    }
}

/// Makes a key.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_key_create(key: *mut u32, destructor: usize) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(pthread_key_create(*mut u32, usize) -> c_int)(key, destructor) };
    }
    // Keys that were made before the run are libc's: the two kinds must not be taken for each other.
    // SAFETY: the program's variable.
    unsafe { *key = threads::key_create(destructor) + KEY_BASE };
    0
}

const KEY_BASE: u32 = 1 << 16;

/// Gives a key back.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn pthread_key_delete(key: u32) -> c_int {
    match key.checked_sub(KEY_BASE) {
        Some(key) if active() => threads::key_delete(key),
        // SAFETY: as above.
        _ => unsafe { real!(pthread_key_delete(u32) -> c_int)(key) },
    }
}

/// Sets a thread-specific value.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn pthread_setspecific(key: u32, value: usize) -> c_int {
    match key.checked_sub(KEY_BASE) {
        Some(key) if active() => threads::set_specific(key, value),
        // SAFETY: as above.
        _ => unsafe { real!(pthread_setspecific(u32, usize) -> c_int)(key, value) },
    }
}

/// A thread-specific value.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub extern "C" fn pthread_getspecific(key: u32) -> usize {
    match key.checked_sub(KEY_BASE) {
        Some(key) if active() => threads::specific(key),
        // SAFETY: as above.
        _ => unsafe { real!(pthread_getspecific(u32) -> usize)(key) },
    }
}
