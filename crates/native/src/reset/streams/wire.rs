//! What is on the way between the two ends of a connection.

use super::Answer::{self, Is, Unknown};
use crate::reset::reach::{can_be_read, can_be_written};

/// Bytes that wait to be read. The kernel has more room: who needs that goes there.
const ROOM: usize = 1 << 11;
/// Sends that wait to be read. The kernel counts for each what it takes to keep it, so many small ones use up its room, too.
const SENDS_MAX: usize = 32;
/// The room that the kernel must have for a socket: so much that it takes as many, and says that it would take more. It says
/// so while a quarter is in use; a send takes at most twice its size, and the second number.
pub(super) const KERNEL_ROOM: usize = 4 * (2 * ROOM + 1024 * SENDS_MAX);

/// A connection: what waits to be read at each side, and whether it is open.
#[derive(Debug)]
pub(super) struct Wire {
    bytes: [[u8; ROOM]; 2],
    lengths: [usize; 2],
    /// How much of each send is left of that.
    sends: [[u16; SENDS_MAX]; 2],
    sends_count: [usize; 2],
    open: [bool; 2],
    /// Whether this side has yet to be told that the other was closed with something unread.
    reset: [bool; 2],
    /// Both ends were made at once: nobody has listened, and neither has a name.
    is_pair: bool,
}

impl Wire {
    pub(super) const NONE: Wire = Wire {
        bytes: [[0; ROOM]; 2],
        lengths: [0; 2],
        sends: [[0; SENDS_MAX]; 2],
        sends_count: [0; 2],
        open: [false; 2],
        reset: [false; 2],
        is_pair: false,
    };

    /// Both ends are open.
    pub(super) fn begin(&mut self, is_pair: bool) {
        (self.lengths, self.sends_count) = ([0; 2], [0; 2]);
        (self.open, self.reset, self.is_pair) = ([true; 2], [false; 2], is_pair);
    }

    /// Everything is as it is with another.
    pub(super) fn follow(&mut self, other: &Wire) {
        for (side, &length) in other.lengths.iter().enumerate() {
            self.bytes[side][..length].copy_from_slice(&other.bytes[side][..length]);
        }
        let Wire { lengths, sends, sends_count, open, reset, is_pair, bytes: _ } = *other;
        (self.lengths, self.sends, self.sends_count) = (lengths, sends, sends_count);
        (self.open, self.reset, self.is_pair) = (open, reset, is_pair);
    }

    /// Whether it is a pair of which nobody could tell that it was ever used.
    pub(super) fn is_like_new_pair(&self) -> bool {
        self.is_pair && self.open == [true; 2] && self.lengths == [0; 2]
    }

    /// Whether this side is told of the end of the other.
    pub(super) fn is_over(&self, side: usize) -> bool {
        !self.open[1 - side]
    }

    /// Whether something waits for this side.
    pub(super) fn has_bytes(&self, side: usize) -> bool {
        self.lengths[side] > 0
    }

    /// Whether an error waits for this side.
    pub(super) fn is_reset(&self, side: usize) -> bool {
        self.reset[side]
    }

    /// This side is closed.
    pub(super) fn close(&mut self, side: usize) {
        self.open[side] = false;
        self.reset[1 - side] = self.has_bytes(side) && !self.is_over(side);
    }

    /// `quietly`: without a signal if nobody can receive it.
    pub(super) fn send(&mut self, side: usize, address: usize, size: usize, quietly: bool) -> Answer {
        const BROKEN_PIPE: isize = -32;
        if self.is_over(side) {
            return if quietly { Is(BROKEN_PIPE) } else { Unknown };
        }
        let (to, length) = (&mut self.bytes[1 - side], &mut self.lengths[1 - side]);
        let (sends, count) = (&mut self.sends[1 - side], &mut self.sends_count[1 - side]);
        let room = length.checked_add(size).and_then(|end| to.get_mut(*length..end));
        let room = room.filter(|_| *count < SENDS_MAX && can_be_read(address, size));
        let Some(room) = room else { return Unknown };
        // SAFETY: the program's bytes, which can be read.
        unsafe { core::ptr::copy_nonoverlapping(address as *const u8, room.as_mut_ptr(), size) };
        *length += size;
        sends[*count] = size as u16;
        *count += 1;
        Is(size as isize)
    }

    pub(super) fn receive(&mut self, side: usize, address: usize, size: usize, waits: bool) -> Answer {
        const AGAIN: isize = -11;
        const RESET: isize = -104;
        let (from, length) = (&mut self.bytes[side], &mut self.lengths[side]);
        let size = size.min(*length);
        if size == 0 {
            if core::mem::take(&mut self.reset[side]) {
                return Is(RESET);
            }
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
        self.forget_sends(side, size);
        Is(size as isize)
    }

    /// So many bytes have been read at this side.
    fn forget_sends(&mut self, side: usize, mut size: usize) {
        let (sends, count) = (&mut self.sends[side], &mut self.sends_count[side]);
        let mut read = 0;
        while size > 0 {
            let part = size.min(sends[read] as usize);
            sends[read] -= part as u16;
            size -= part;
            read += usize::from(sends[read] == 0);
        }
        sends.copy_within(read..*count, 0);
        *count -= read;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn send(wire: &mut Wire, bytes: &[u8]) -> Answer {
        wire.send(0, bytes.as_ptr() as usize, bytes.len(), true)
    }

    fn receive(wire: &mut Wire, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        let Is(size) = wire.receive(1, bytes.as_mut_ptr() as usize, most, false) else {
            panic!("nobody knows")
        };
        bytes.truncate(usize::try_from(size).unwrap_or(0));
        bytes
    }

    #[test]
    fn sends_take_room_until_they_are_read_as_a_whole() {
        let mut wire = Wire::NONE;
        wire.begin(true);
        for _ in 0..SENDS_MAX {
            assert_eq!(send(&mut wire, b"ab"), Is(2));
        }
        assert_eq!(send(&mut wire, b"c"), Unknown);
        assert_eq!(receive(&mut wire, 1), b"a");
        assert_eq!(send(&mut wire, b"c"), Unknown);
        assert_eq!(receive(&mut wire, 4), b"baba");
        assert_eq!((send(&mut wire, b"c"), send(&mut wire, b"d")), (Is(1), Is(1)));
        assert_eq!(send(&mut wire, b"e"), Unknown);
        assert_eq!(
            receive(&mut wire, 100),
            [b"b".to_vec(), b"ab".repeat(SENDS_MAX - 3), b"cd".to_vec()].concat()
        );
        assert_eq!(wire.sends_count, [0, 0]);
        assert_eq!((send(&mut wire, &[1; ROOM]), send(&mut wire, b"a")), (Is(ROOM as isize), Unknown));
    }

    #[test]
    fn who_is_left_is_told_once_of_what_was_not_read() {
        let mut wire = Wire::NONE;
        wire.begin(true);
        assert_eq!(send(&mut wire, b"unread"), Is(6));
        wire.close(1);
        let mut byte = 0u8;
        let mut receive = || wire.receive(0, (&raw mut byte) as usize, 1, true);
        assert_eq!((receive(), receive(), receive()), (Is(-104), Is(0), Is(0)));
        assert_eq!((send(&mut wire, b"x"), wire.send(0, 8, 1, false)), (Is(-32), Unknown));
        wire.close(0);
        assert!(!wire.is_reset(1));
    }

    #[test]
    fn a_wire_can_be_what_another_is() {
        let [mut one, mut other] = [Wire::NONE; 2];
        one.begin(true);
        assert!(one.is_like_new_pair());
        other.begin(false);
        assert!(!other.is_like_new_pair());
        send(&mut other, b"left");
        one.follow(&other);
        send(&mut other, b"more");
        assert_eq!((receive(&mut one, 9), receive(&mut one, 9)), (b"left".to_vec(), vec![]));
        assert!(!one.is_like_new_pair());
    }
}
