//! Other names of open files: what is read and written through them is the same.

use crate::file_locks;
use core::ffi::c_int;
use raddle_native::io;
use raddle_native::run::active;

const DUPLICATE: [c_int; 2] = [0, 1030];

/// A file has got another name.
fn named(fd: c_int, new: c_int) -> c_int {
    if active() && new >= 0 && new != fd {
        io::same(new, fd);
    }
    new
}

/// Another name for an open file.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn dup(fd: c_int) -> c_int {
    // SAFETY: our own arguments; so in all that follow.
    named(fd, unsafe { real!(dup(c_int) -> c_int)(fd) })
}

/// The same, with a given name.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn dup2(fd: c_int, new: c_int) -> c_int {
    // SAFETY: as above.
    named(fd, unsafe { real!(dup2(c_int, c_int) -> c_int)(fd, new) })
}

/// The same, with flags.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn dup3(fd: c_int, new: c_int, flags: c_int) -> c_int {
    // SAFETY: as above.
    named(fd, unsafe { real!(dup3(c_int, c_int, c_int) -> c_int)(fd, new, flags) })
}

/// Among other things the same. It takes what it is given after the first two, if anything.
unsafe extern "C" fn fcntl_(fd: c_int, what: c_int, argument: usize, pc: usize) -> c_int {
    if active() && file_locks::SETS.contains(&what) {
        // SAFETY: passed on to the caller.
        return unsafe { file_locks::set(fd, what, argument, pc) };
    }
    // SAFETY: as above; what is not there is not looked at.
    let result = unsafe { real!(fcntl(c_int, c_int, usize) -> c_int)(fd, what, argument) };
    if DUPLICATE.contains(&what) { named(fd, result) } else { result }
}

hook! {
    fcntl rcx => fcntl_;
}

/// The name that it has where files are large.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn fcntl64() {
    core::arch::naked_asm!("jmp {fcntl}", fcntl = sym fcntl)
}
