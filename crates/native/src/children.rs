//! Processes that the program has made. Nobody controls them, and they may do something to each file that they have
//! inherited, to memory that is shared, or send signals. So as long as one of them is left it is no deadlock that none
//! of the program's own threads can go on (see [`crate::idle`]).
//!
//! Each inherits the end of a pipe, and hands it on to its own: the other end says when all of them are gone, even if
//! the first one is no longer there.

use crate::run::{Run, active, with};
use crate::sys::{self, nr};
use crate::{io, reset, server};
use alloc::vec::Vec;
use core::ffi::c_int;

/// What is known of them.
#[derive(Clone, Default, Debug)]
pub struct Children {
    /// Our ends.
    ends: Vec<usize>,
    /// Whether there has been one.
    ever: bool,
}

/// What a process is about to inherit: its end, and ours.
#[derive(Debug)]
#[must_use]
pub struct Life(Option<(usize, usize)>);

const PIPE2: usize = 293;
const CLOSE_ON_EXEC: usize = 0o2000000;

/// The program is about to make a process.
pub fn expect() -> Life {
    if !active() {
        return Life(None);
    }
    // What it makes cannot be undone, so there is no need to open anything.
    reset::refuse(nr::CLONE as u32);
    server::part();
    let mut low = [0i32; 2];
    // SAFETY: room for two descriptors.
    if unsafe { sys::call3(PIPE2, low.as_mut_ptr() as usize, CLOSE_ON_EXEC, 0) } < 0 {
        return Life(None);
    }
    let [ours, theirs] = low.map(|fd| fd as usize);
    let high = sys::duplicate_out_of_the_way(ours).zip(sys::duplicate_for_others(theirs));
    close(ours);
    close(theirs);
    Life(high.map(|(ours, theirs)| (theirs, ours)))
}

fn close(fd: usize) {
    // SAFETY: a descriptor of our own.
    unsafe { sys::call3(nr::CLOSE, fd, 0, 0) };
}

impl Life {
    /// It is made, and has inherited what is open now.
    pub fn begun(self) {
        let Life(Some((theirs, ours))) = self else { return };
        close(theirs);
        with(|run| {
            run.outside.children.forget_dead();
            run.outside.children.ends.push(ours);
            run.outside.children.ever = true;
            run.waiters.are_inherited();
        });
    }
}

impl Children {
    /// Whether there has been one.
    pub(crate) fn have_been(&self) -> bool {
        self.ever
    }

    fn polls(&self) -> Vec<io::Poll> {
        self.ends.iter().map(|&fd| io::Poll { fd: fd as i32, events: 0, found: 0 }).collect()
    }

    fn forget_dead(&mut self) {
        let mut polls = self.polls();
        io::ask_kernel(&mut polls);
        for (fd, poll) in core::mem::take(&mut self.ends).into_iter().zip(polls) {
            match poll.found {
                0 => self.ends.push(fd),
                _ => close(fd),
            }
        }
    }
}

impl Run {
    /// Whether a process that the program has made is left, or one of theirs.
    pub(crate) fn has_children(&mut self) -> bool {
        self.outside.children.forget_dead();
        !self.outside.children.ends.is_empty() || self.outside.children.ever && has_living_child()
    }

    /// What changes when one ends.
    pub(crate) fn lives(&self) -> Vec<io::Poll> {
        self.outside.children.polls()
    }
}

/// Whether the kernel knows of a child that has not ended: one that has closed what it has inherited.
fn has_living_child() -> bool {
    const WAITID: usize = 247;
    const ALL: usize = 0;
    const ENDED: usize = 4;
    const AT_ONCE: usize = 1;
    const LEAVE: usize = 0x0100_0000;
    const PROCESS: usize = 4;
    let mut info: [c_int; 32] = [0; 32];
    // SAFETY: room for what the kernel says.
    let result = unsafe {
        let info = info.as_mut_ptr() as usize;
        sys::call(WAITID, [ALL, 0, info, ENDED | AT_ONCE | LEAVE, 0, 0])
    };
    result == 0 && info[PROCESS] == 0
}
