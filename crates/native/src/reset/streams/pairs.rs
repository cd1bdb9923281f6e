//! Pairs of sockets that are made at once (`socketpair`): two ends of a wire, with nobody who listens.
//!
//! They are ours from where they are made, so nobody need find out later which descriptors belong together. If runs come to
//! begin after that, what is on the way is part of the start like everything else here. A pair of which nobody could tell
//! that it was used becomes a real one as soon as something is done to it that is not known here.

use super::sockets::make_pair_real;
use super::table::{End, SOCKETS_MAX, WIRES_MAX};
use super::{Answer, Is, Kernel, LOCAL, STREAM, Streams, Unknown};
use crate::reset::reach::can_be_written;
use crate::reset::undo::Undo;
use crate::sys::CLOEXEC;

impl Streams {
    /// What is to be said to `socketpair`.
    pub(super) fn pair(&mut self, args: &[usize; 6], undo: &mut Undo) -> Answer {
        let [domain, kind, protocol, ..] = args.map(|argument| argument as u32 as usize);
        let is_plain = (domain, kind & !CLOEXEC, protocol) == (LOCAL, STREAM, 0);
        let has_room = self.now.sockets_count + 2 <= SOCKETS_MAX && self.wires_count < WIRES_MAX;
        if !is_plain || !has_room || !can_be_written(args[3], size_of::<[i32; 2]>()) {
            return Kernel;
        }
        let wire = self.begin_wire(true);
        let mut fds = [0i32; 2];
        for (side, fd) in fds.iter_mut().enumerate() {
            let Is(made) = self.make(Some(End { wire, side: side as u8 }), kind & CLOEXEC != 0, undo) else {
                return Unknown;
            };
            *fd = made as i32;
        }
        // SAFETY: the program's variables, which can be written.
        unsafe { (args[3] as *mut [i32; 2]).write_unaligned(fds) };
        Is(0)
    }

    /// Puts a pair of the kernel's in the place of one here; false if that could be noticed.
    pub(super) fn leave_pair(&mut self, wire: u8, undo: &mut Undo) -> bool {
        if !self.wires[wire as usize].is_like_new_pair() {
            return false;
        }
        self.tell(undo);
        let fds = [0, 1].map(|side| {
            let at = self.now.at_end(End { wire, side }).expect("raddle bug: an open end that nobody has");
            let fd = self.now.sockets[at].fd as usize;
            self.now.remove(at);
            fd
        });
        make_pair_real(fds, undo)
    }
}
