//! Locks on files that threads may hold against each other: those of `flock`, and of `fcntl` where they belong to what was
//! opened. Other locks of `fcntl` belong to the process, and no thread waits for another there.
//!
//! Who has to wait for another thread tries again when something is done to any file. Who has to wait for another process
//! waits in the kernel.

use crate::clocks::set_errno;
use core::ffi::c_int;
use raddle_native::io;
use raddle_native::reset::guard;
use raddle_native::run::active;

const AGAIN: isize = -11;

mod number {
    pub(super) const FCNTL: usize = 72;
    pub(super) const FLOCK: usize = 73;
}

/// A call that takes a lock or gives it back. `tries` does not wait, and `waits` does, if the program wants it to.
fn locks(
    fd: c_int,
    number: usize,
    gives: bool,
    tries: [usize; 6],
    waits: Option<[usize; 6]>,
    pc: usize,
) -> c_int {
    loop {
        io::before(fd, number, pc);
        let mut result = guard::call(number, tries);
        if result == AGAIN
            && let Some(args) = waits
        {
            if io::is_locked_by_us(fd) {
                io::wait_for_any_change(pc);
                continue;
            }
            result = guard::call(number, args);
        }
        if result >= 0 {
            io::locked(fd, !gives);
        }
        io::after(pc);
        return if result < 0 { set_errno(-result as c_int) } else { result as c_int };
    }
}

unsafe extern "C" fn flock_(fd: c_int, how: c_int, pc: usize) -> c_int {
    const AT_ONCE: c_int = 4;
    const GIVES: c_int = 8;
    let args = |how: c_int| [fd as usize, how as usize, 0, 0, 0, 0];
    if !active() {
        // SAFETY: the program's own arguments.
        return unsafe { real!(flock(c_int, c_int) -> c_int)(fd, how) };
    }
    let waits = (how & AT_ONCE == 0).then(|| args(how));
    locks(fd, number::FLOCK, how & GIVES != 0, args(how | AT_ONCE), waits, pc)
}

/// Sets a lock of what was opened; one that does not wait, and one that does.
pub(crate) const SETS: [c_int; 2] = [37, 38];

/// `fcntl` for such a lock.
///
/// # Safety
/// As libc's.
pub(crate) unsafe fn set(fd: c_int, what: c_int, lock: usize, pc: usize) -> c_int {
    const GIVES: i16 = 2;
    let args = |what: c_int| [fd as usize, what as usize, lock, 0, 0, 0];
    // SAFETY: a `struct flock` begins with what is to be done.
    let gives = unsafe { *(lock as *const i16) } == GIVES;
    let waits = (what == SETS[1]).then(|| args(what));
    locks(fd, number::FCNTL, gives, args(SETS[0]), waits, pc)
}

hook! {
    flock rdx => flock_;
}
