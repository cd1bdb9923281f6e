//! Where the program lies in memory. That is chance, and by default it is left to it: what depends on an address is no function of
//! the plan, and repeats by luck. Some programs do so all the same (the number of a thread is an address, and is hashed), so
//! whoever asks for it has all processes lie at the same place.

use crate::sys::{self, nr};
use core::ffi::{CStr, c_char};

/// The variable that asks for it.
pub const FIXED: &CStr = c"RADDLE_FIXED_ADDRESSES";

/// The kernel's flag for processes that are not to be moved about. It is kept when another program is started.
const NO_RANDOMIZE: usize = 0x0040000;
/// Asks for the flags.
const NONE: usize = 0xffff_ffff;

/// Has the process begin anew, if it is not where it should be. False if the system refuses.
///
/// # Safety
/// Both arrays end with null, as the kernel puts them, and nobody has changed them yet.
pub(super) unsafe fn fix(arguments: *mut *mut c_char, environment: *mut *mut c_char) -> bool {
    let mut path = [0u8; 4096];
    let link = c"/proc/self/exe".as_ptr() as usize;
    // SAFETY: whatever is handed over lives until the call returns; if the program begins anew, it does not.
    unsafe {
        let flags = sys::call3(nr::PERSONALITY, NONE, 0, 0);
        if flags < 0 || flags as usize & NO_RANDOMIZE != 0 {
            return flags >= 0;
        }
        let kept = sys::call3(nr::PERSONALITY, flags as usize | NO_RANDOMIZE, 0, 0) >= 0;
        if kept && sys::call3(nr::READLINK, link, path.as_mut_ptr() as usize, path.len() - 1) > 0 {
            sys::call3(nr::EXECVE, path.as_ptr() as usize, arguments as usize, environment as usize);
        }
    }
    false
}
