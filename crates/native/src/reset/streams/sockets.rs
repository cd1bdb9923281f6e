//! Sockets of the kernel's: the one that all stand for, and those that take its place.

use super::table::NAME_MAX;
use super::wire::KERNEL_ROOM;
use super::{LOCAL, STREAM, number};
use crate::reset::kept;
use crate::reset::reach::can_be_written;
use crate::reset::undo::{HIDDEN, Undo};
use crate::sys::{self, nr};

/// A socket that is never used. None if the kernel has less room for what is sent than is counted on here.
pub(super) fn make_blank() -> Option<u32> {
    // SAFETY: makes a descriptor.
    let blank = sys::out_of_the_way(unsafe { sys::call3(nr::SOCKET, LOCAL, STREAM, 0) })?;
    (HIDDEN.contains(&blank) && kept::room_to_send(blank) >= KERNEL_ROOM).then_some(blank as u32)
}

/// Makes another descriptor for the same.
pub(super) fn duplicate(fd: usize, cloexec: bool) -> isize {
    // SAFETY: a descriptor that nobody knows yet.
    unsafe { sys::call3(nr::FCNTL, fd, if cloexec { sys::DUPLICATE_CLOEXEC } else { sys::DUPLICATE }, 0) }
}

/// How many numbers there are for descriptors.
pub(super) fn numbers() -> usize {
    const GET_LIMIT: usize = 97;
    const FILES: usize = 7;
    let mut limits = [0usize; 2];
    // SAFETY: the kernel's structure, which lives until the call returns.
    let known = unsafe { sys::call3(GET_LIMIT, FILES, limits.as_mut_ptr() as usize, 0) == 0 };
    if known { limits[0] } else { 0 }
}

/// Puts a socket of the kernel's in the place of one that nothing was done to yet.
pub(super) fn make_real(fd: usize, undo: &mut Undo) -> bool {
    undo.anything = true;
    undo.opens(1);
    // SAFETY: makes a descriptor.
    let real = unsafe { sys::call3(nr::SOCKET, LOCAL, STREAM, 0) };
    usize::try_from(real).is_ok_and(|real| replace(fd, real, undo))
}

/// The same for both of a pair that nothing was done to.
pub(super) fn make_pair_real(fds: [usize; 2], undo: &mut Undo) -> bool {
    undo.anything = true;
    undo.opens(2);
    let mut real = [0i32; 2];
    // SAFETY: makes two descriptors; their numbers live until the call returns.
    let made =
        unsafe { sys::call(number::SOCKETPAIR, [LOCAL, STREAM, 0, real.as_mut_ptr() as usize, 0, 0]) == 0 };
    made && fds.into_iter().zip(real).all(|(fd, real)| replace(fd, real as usize, undo))
}

/// Gives a descriptor another's number, and closes that; false if the number could not be given back.
fn replace(fd: usize, real: usize, undo: &mut Undo) -> bool {
    const GET_FD: usize = 1;
    if !undo.may_close(fd) {
        return false;
    }
    // SAFETY: one socket takes the place of one like it.
    unsafe {
        let cloexec = sys::call3(nr::FCNTL, fd, GET_FD, 0) == 1;
        let made = sys::duplicate_as(real, fd, cloexec);
        sys::call3(nr::CLOSE, real, 0, 0);
        made
    }
}

/// The name by which a stream on this machine can be found; none if it is none.
pub(super) fn name(fd: usize) -> Option<([u8; NAME_MAX], u8)> {
    let (mut name, mut length) = ([0; NAME_MAX], NAME_MAX as u32);
    // SAFETY: room for a name, and its length, which live until the call returns.
    let known = unsafe {
        sys::call3(number::GETSOCKNAME, fd, name.as_mut_ptr() as usize, (&raw mut length) as usize) == 0
    };
    let local = u16::from_ne_bytes([name[0], name[1]]) as usize == LOCAL;
    (known && local && kept::is_local_stream(fd)).then_some((name, length as u8))
}

/// Tells whoever accepts that the other has no name; false if that cannot be.
pub(super) fn tell_nameless(address: usize, length: *mut u32) -> bool {
    const FAMILY: [u8; 2] = (LOCAL as u16).to_ne_bytes();
    // SAFETY: the program's variable, which can be written.
    let room = unsafe { length.read_unaligned() } as usize;
    if i32::try_from(room).is_err() || !can_be_written(address, room.min(FAMILY.len())) {
        return false;
    }
    // SAFETY: the program's memory, which can be written.
    unsafe {
        core::ptr::copy_nonoverlapping(FAMILY.as_ptr(), address as *mut u8, room.min(FAMILY.len()));
        length.write_unaligned(FAMILY.len() as u32);
    }
    true
}
