//! Other names of open files: what is read and written through them is the same.

use crate::file_locks;
use core::ffi::c_int;
use raddle_native::io;
use raddle_native::run::active;

const DUPLICATE: [c_int; 2] = [0, 1030];

mod number {
    pub(super) const DUP: usize = 32;
    pub(super) const DUP2: usize = 33;
    pub(super) const FCNTL: usize = 72;
    pub(super) const DUP3: usize = 292;
}

/// A file has got another name.
fn named(fd: c_int, new: c_int) -> c_int {
    if active() && new >= 0 && new != fd {
        io::same(new, fd);
    }
    new
}

/// Comes to a file and to what has the name that it gets. What had that is closed, and whoever waits for it may go on.
fn naming(fd: c_int, new: c_int, number: usize, pc: usize, name: impl FnOnce() -> c_int) -> c_int {
    let concerns = active() && io::before_both([fd, new], number, pc);
    let result = named(fd, name());
    if concerns {
        io::after(pc);
    }
    result
}

unsafe extern "C" fn dup_(fd: c_int, pc: usize) -> c_int {
    // SAFETY: our own arguments; so in all that follow.
    naming(fd, fd, number::DUP, pc, || unsafe { real!(dup(c_int) -> c_int)(fd) })
}

unsafe extern "C" fn dup2_(fd: c_int, new: c_int, pc: usize) -> c_int {
    // SAFETY: as above.
    naming(fd, new, number::DUP2, pc, || unsafe { real!(dup2(c_int, c_int) -> c_int)(fd, new) })
}

unsafe extern "C" fn dup3_(fd: c_int, new: c_int, flags: c_int, pc: usize) -> c_int {
    // SAFETY: as above.
    let name = || unsafe { real!(dup3(c_int, c_int, c_int) -> c_int)(fd, new, flags) };
    naming(fd, new, number::DUP3, pc, name)
}

/// Among other things the same. It takes what it is given after the first two, if anything.
unsafe extern "C" fn fcntl_(fd: c_int, what: c_int, argument: usize, pc: usize) -> c_int {
    if active() && file_locks::SETS.contains(&what) {
        // SAFETY: passed on to the caller.
        return unsafe { file_locks::set(fd, what, argument, pc) };
    }
    if active() && io::concerns(fd) {
        io::before(fd, number::FCNTL, pc);
    }
    // SAFETY: as above; what is not there is not looked at.
    let result = unsafe { real!(fcntl(c_int, c_int, usize) -> c_int)(fd, what, argument) };
    if DUPLICATE.contains(&what) { named(fd, result) } else { result }
}

hook! {
    dup rsi => dup_;
    dup2 rdx => dup2_;
    dup3 rcx => dup3_;
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
