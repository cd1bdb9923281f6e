//! What is done to open files besides reading and writing: flags and options, names, the end of one direction. None of it waits, but
//! others may wait for it, and what they read hangs on the order.

use crate::files::plain;
use core::ffi::{c_int, c_long};
use raddle_native::io;
use raddle_native::run::active;

mod number {
    pub(super) const IOCTL: usize = 16;
    pub(super) const SHUTDOWN: usize = 48;
    pub(super) const BIND: usize = 49;
    pub(super) const LISTEN: usize = 50;
    pub(super) const SETSOCKOPT: usize = 54;
    pub(super) const GETSOCKOPT: usize = 55;
}

/// A call that is an operation if the file is one of the run's own.
///
/// # Safety
/// As for the call.
unsafe fn call(fd: c_int, number: usize, args: [usize; 6], pc: usize) -> c_long {
    let concerns = active() && io::concerns(fd);
    if concerns {
        io::before(fd, number, pc);
    }
    // SAFETY: passed on to the caller.
    let result = unsafe { plain(number, args) };
    if concerns {
        io::after(pc);
    }
    result
}

unsafe extern "C" fn ioctl_(fd: c_int, what: usize, argument: usize, pc: usize) -> c_int {
    // SAFETY: the program's own arguments, and what is not there is not looked at; so in all that follow.
    unsafe { call(fd, number::IOCTL, [fd as usize, what, argument, 0, 0, 0], pc) as c_int }
}

unsafe extern "C" fn shutdown_(fd: c_int, how: c_int, pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe { call(fd, number::SHUTDOWN, [fd as usize, how as usize, 0, 0, 0, 0], pc) as c_int }
}

unsafe extern "C" fn bind_(fd: c_int, address: usize, length: usize, pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe { call(fd, number::BIND, [fd as usize, address, length, 0, 0, 0], pc) as c_int }
}

unsafe extern "C" fn listen_(fd: c_int, most: c_int, pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe { call(fd, number::LISTEN, [fd as usize, most as usize, 0, 0, 0, 0], pc) as c_int }
}

unsafe extern "C" fn setsockopt_(
    fd: c_int,
    level: c_int,
    option: c_int,
    value: usize,
    length: usize,
    pc: usize,
) -> c_int {
    let args = [fd as usize, level as usize, option as usize, value, length, 0];
    // SAFETY: as above.
    unsafe { call(fd, number::SETSOCKOPT, args, pc) as c_int }
}

unsafe extern "C" fn getsockopt_(
    fd: c_int,
    level: c_int,
    option: c_int,
    value: usize,
    length: usize,
    pc: usize,
) -> c_int {
    let args = [fd as usize, level as usize, option as usize, value, length, 0];
    // SAFETY: as above.
    unsafe { call(fd, number::GETSOCKOPT, args, pc) as c_int }
}

hook! {
    ioctl rcx => ioctl_;
    shutdown rdx => shutdown_;
    bind rcx => bind_;
    listen rdx => listen_;
    setsockopt r9 => setsockopt_;
    getsockopt r9 => getsockopt_;
}
