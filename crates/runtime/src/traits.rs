//! What threads have that makes no difference here: names, processors, priorities, clocks of their own. The kernel knows
//! none of our threads, so it is not asked about them.

use core::ffi::{c_char, c_int, c_void};
use raddle_model::trace::Hidden;
use raddle_native::locks::error;
use raddle_native::run::active;
use raddle_native::{hidden, threads};

/// Names with the byte that ends them.
const NAME_MAX: usize = 16;
const ORDINARY: c_int = 0;
const CPU_CLOCK: c_int = 3;

/// Gives a thread a name.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_setname_np(handle: u64, name: *const c_char) -> c_int {
    if !active() {
        // SAFETY: our own arguments; so in all calls of libc below.
        return unsafe { real!(pthread_setname_np(u64, *const c_char) -> c_int)(handle, name) };
    }
    // SAFETY: the program's own string.
    let name = unsafe { core::ffi::CStr::from_ptr(name) }.to_bytes();
    hidden::uses(Hidden::PROCESS, handle as usize, true);
    if name.len() >= NAME_MAX { error::RANGE } else { threads::set_name(handle, name) }
}

/// The name of a thread.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_getname_np(handle: u64, name: *mut u8, size: usize) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(pthread_getname_np(u64, *mut u8, usize) -> c_int)(handle, name, size) };
    }
    if size < NAME_MAX {
        return error::RANGE;
    }
    hidden::uses(Hidden::PROCESS, handle as usize, false);
    let Some(known) = threads::name(handle) else { return error::NO_SUCH };
    // SAFETY: the program's own buffer, which has room for a name.
    unsafe {
        core::ptr::write_bytes(name, 0, NAME_MAX);
        core::ptr::copy_nonoverlapping(known.as_ptr(), name, known.len());
    }
    0
}

/// Which processors a thread may run on: those of the process.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_getaffinity_np(handle: u64, size: usize, set: *mut c_void) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(pthread_getaffinity_np(u64, usize, *mut c_void) -> c_int)(handle, size, set) };
    }
    if threads::alive(handle).is_none() {
        return error::NO_SUCH;
    }
    raddle_native::server::part();
    let ask = real!(sched_getaffinity(c_int, usize, *mut c_void) -> c_int);
    // SAFETY: as above.
    if unsafe { ask(0, size, set) } == 0 { 0 } else { error::INVALID }
}

/// A thread shall run on some processors only: they all run on one.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_setaffinity_np(handle: u64, size: usize, set: *const c_void) -> c_int {
    if !active() {
        let real = real!(pthread_setaffinity_np(u64, usize, *const c_void) -> c_int);
        // SAFETY: as above.
        return unsafe { real(handle, size, set) };
    }
    if threads::alive(handle).is_none() { error::NO_SUCH } else { 0 }
}

/// How a thread is scheduled: like all others.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_getschedparam(
    handle: u64,
    policy: *mut c_int,
    priority: *mut c_int,
) -> c_int {
    if !active() {
        let real = real!(pthread_getschedparam(u64, *mut c_int, *mut c_int) -> c_int);
        // SAFETY: as above.
        return unsafe { real(handle, policy, priority) };
    }
    if threads::alive(handle).is_none() {
        return error::NO_SUCH;
    }
    // SAFETY: the program's own variables.
    unsafe {
        *policy = ORDINARY;
        *priority = 0;
    }
    0
}

/// How a thread shall be scheduled: the strategy decides.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_setschedparam(handle: u64, policy: c_int, priority: *const c_int) -> c_int {
    if !active() {
        let real = real!(pthread_setschedparam(u64, c_int, *const c_int) -> c_int);
        // SAFETY: as above.
        return unsafe { real(handle, policy, priority) };
    }
    if threads::alive(handle).is_none() { error::NO_SUCH } else { 0 }
}

/// The same.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_setschedprio(handle: u64, priority: c_int) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(pthread_setschedprio(u64, c_int) -> c_int)(handle, priority) };
    }
    if threads::alive(handle).is_none() { error::NO_SUCH } else { 0 }
}

/// The clock of a thread's own time: virtual, as all are.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_getcpuclockid(handle: u64, clock: *mut c_int) -> c_int {
    if !active() {
        // SAFETY: as above.
        return unsafe { real!(pthread_getcpuclockid(u64, *mut c_int) -> c_int)(handle, clock) };
    }
    if threads::alive(handle).is_none() {
        return error::NO_SUCH;
    }
    // SAFETY: the program's own variable.
    unsafe { *clock = CPU_CLOCK };
    0
}
