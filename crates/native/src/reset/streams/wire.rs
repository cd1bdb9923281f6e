//! What is on the way between the two ends of a connection.

use super::Answer::{self, Is, Unknown};
use crate::reset::reach::{can_be_read, can_be_written};

/// Bytes that wait to be read. The kernel has more room: who needs that goes there.
const ROOM: usize = 1 << 11;

/// A connection: what waits to be read at each side, and whether it is open.
#[derive(Debug)]
pub(super) struct Wire {
    bytes: [[u8; ROOM]; 2],
    lengths: [usize; 2],
    open: [bool; 2],
}

impl Wire {
    pub(super) const NONE: Wire = Wire { bytes: [[0; ROOM]; 2], lengths: [0; 2], open: [false; 2] };

    /// Both ends are open.
    pub(super) fn begin(&mut self) {
        (self.lengths, self.open) = ([0; 2], [true; 2]);
    }

    /// Whether this side is told of the end of the other.
    pub(super) fn is_over(&self, side: usize) -> bool {
        !self.open[1 - side]
    }

    /// Whether something waits for this side.
    pub(super) fn has_bytes(&self, side: usize) -> bool {
        self.lengths[side] > 0
    }

    /// This side is closed. False, and it is not, if the other has sent what is not read: then it is told so.
    pub(super) fn close(&mut self, side: usize) -> bool {
        let read = !self.has_bytes(side) || self.is_over(side);
        self.open[side] &= !read;
        read
    }

    pub(super) fn send(&mut self, side: usize, address: usize, size: usize) -> Answer {
        let (to, length) = (&mut self.bytes[1 - side], &mut self.lengths[1 - side]);
        let room = length.checked_add(size).and_then(|end| to.get_mut(*length..end));
        let Some(room) = room.filter(|_| self.open[1 - side] && can_be_read(address, size)) else {
            return Unknown;
        };
        // SAFETY: the program's bytes, which can be read.
        unsafe { core::ptr::copy_nonoverlapping(address as *const u8, room.as_mut_ptr(), size) };
        *length += size;
        Is(size as isize)
    }

    pub(super) fn receive(&mut self, side: usize, address: usize, size: usize, waits: bool) -> Answer {
        const AGAIN: isize = -11;
        let (from, length) = (&mut self.bytes[side], &mut self.lengths[side]);
        let size = size.min(*length);
        if size == 0 {
            return match (self.open[1 - side], waits) {
                (false, _) => Is(0),
                (true, false) => Is(AGAIN),
                // A task of the program's waits elsewhere, so this is something else.
                (true, true) => Unknown,
            };
        }
        if !can_be_written(address, size) {
            return Unknown;
        }
        // SAFETY: the program's memory, which can be written.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), address as *mut u8, size) };
        from.copy_within(size..*length, 0);
        *length -= size;
        Is(size as isize)
    }
}
