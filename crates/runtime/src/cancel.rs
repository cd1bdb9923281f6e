//! Cancellation.

use core::ffi::c_int;
use raddle_native::cancel;

unsafe extern "C" fn request(handle: u64, pc: usize) -> c_int {
    cancel::request(handle, pc)
}

unsafe extern "C" fn test(pc: usize) {
    cancel::look(pc);
}

/// Hands over what was set before.
///
/// # Safety
/// `old` must be null or the program's variable.
unsafe fn give(before: Result<i32, i32>, old: *mut c_int) -> c_int {
    match before {
        Ok(before) => {
            if !old.is_null() {
                // SAFETY: the caller says so.
                unsafe { *old = before };
            }
            0
        }
        Err(error) => error,
    }
}

unsafe extern "C" fn set_state(state: c_int, old: *mut c_int, pc: usize) -> c_int {
    // SAFETY: the program's variable.
    unsafe { give(cancel::set_state(state, pc), old) }
}

unsafe extern "C" fn set_type(kind: c_int, old: *mut c_int, pc: usize) -> c_int {
    // SAFETY: the program's variable.
    unsafe { give(cancel::set_type(kind, pc), old) }
}

point! {
    pthread_cancel rsi => request;
    pthread_testcancel rdi => test;
    pthread_setcancelstate rdx => set_state;
    pthread_setcanceltype rdx => set_type;
}
