//! Memory that is not undone: the stack of the one who undoes, and all that it must remember.

use super::End;
use super::guard::Sites;
use super::late::Late;
use super::layers::Layers;
use super::output::Output;
use super::pages::{Pages, Room};
use super::reach::Reach;
use super::streams::Streams;
use super::undo::Undo;
use crate::fiber::{Fiber, Stack};
use crate::server::{self, Errand, When};
use crate::sys;
use core::ops::Range;

const STACK: usize = 1 << 20;
/// Lists of pages.
const RANGES: usize = 2 << 20;
/// Text from the kernel about what is mapped.
const TEXT: usize = 4 << 20;
/// Addresses of the pages that are kept, and then the pages.
const ADDRESSES: usize = 8 << 20;
const STORE: usize = 32 << 20;
/// Most pages that are kept: eight gigabytes of them.
const PAGES: usize = 2 << 20;
/// The plan of the next run, if each has one of its own.
const MAIL: usize = STORE + PAGES * 4096;
const MAIL_MAX: usize = 64 << 20;
/// The longest message that is compared with the one before: it must fit into what the kernel keeps for a socket.
const LIKE_IT_MAX: usize = 1 << 16;
const SIZE: usize = MAIL + MAIL_MAX;

/// What a checkpoint costs, until that is known, in nanoseconds.
const TAKE_NS: u64 = 50_000;

/// All of it. Lies above the stack.
pub(super) struct Outside {
    /// The one who undoes, who waits while a run goes on.
    pub(super) control: Fiber,
    /// Where all runs begin.
    pub(super) start: Fiber,
    /// The run that goes on.
    pub(super) number: u64,
    /// How it ended.
    pub(super) end: End,
    /// The call that was refused last.
    pub(super) last_refused: u32,
    /// This is a copy that does one run only.
    pub(super) alone: bool,
    /// Memory that the kernel writes to on its own account.
    pub(super) kernels: Range<usize>,
    /// The run listens for connections.
    pub(super) listens: bool,
    pub(super) errand: Errand,
    pub(super) undo: Undo,
    pub(super) output: Output,
    pub(super) streams: Streams,
    pub(super) sites: Sites,
    pub(super) reach: Reach,
    pub(super) late: Late,
    pub(super) pages: Pages,
    /// Where the run stands that has come to a checkpoint.
    pub(super) here: Fiber,
    /// Whether it comes from there again, with another plan.
    pub(super) again: bool,
    pub(super) layers: Layers,
    pub(super) when: When,
    pub(super) mail: Mail,
}

/// Where the controller's messages are put.
#[derive(Debug)]
pub(super) struct Mail {
    at: *mut u8,
    length: usize,
}

impl Mail {
    /// Room for so much.
    pub(super) fn room(&mut self, length: usize) -> Option<&mut [u8]> {
        if length > MAIL_MAX {
            return None;
        }
        self.length = length;
        // SAFETY: the room is ours, and so large.
        Some(unsafe { core::slice::from_raw_parts_mut(self.at, length) })
    }

    /// Puts a message there; false if it is too long.
    pub(super) fn put(&mut self, message: &[u8]) -> bool {
        self.room(message.len()).map(|room| room.copy_from_slice(message)).is_some()
    }

    /// The message, and room behind it for another that is like it.
    pub(super) fn answer(&mut self) -> server::Mail<'_> {
        let size = LIKE_IT_MAX.min(MAIL_MAX - self.length);
        // SAFETY: the room is ours, and so large; its beginning has been written.
        unsafe {
            let plan = core::slice::from_raw_parts(self.at, self.length);
            server::Mail { plan, room: core::slice::from_raw_parts_mut(self.at.add(self.length), size) }
        }
    }

    pub(super) fn message(&self) -> &[u8] {
        // SAFETY: as above; it has been written.
        unsafe { core::slice::from_raw_parts(self.at, self.length) }
    }
}

/// Maps the memory; null if there is no room for it.
pub(super) fn map() -> *mut u8 {
    sys::map(SIZE, false)
}

/// What lies in it at first: somebody who begins at `entry` with this errand.
pub(super) fn furnish(base: *mut u8, entry: usize, errand: Errand) -> *mut Outside {
    assert!(size_of::<Outside>() <= RANGES - STACK, "raddle bug: too little room outside");
    let at = |offset: usize| base.wrapping_add(offset);
    let outside = at(STACK).cast::<Outside>();
    let room = Room {
        ranges: at(RANGES).cast(),
        ranges_max: (TEXT - RANGES) / 2 / 24,
        known: at(RANGES + (TEXT - RANGES) / 2).cast(),
        text: at(TEXT),
        text_max: ADDRESSES - TEXT,
        addresses: at(ADDRESSES).cast(),
        store: at(STORE),
        pages_max: PAGES,
    };
    // SAFETY: fresh memory of that size, suitably aligned.
    unsafe {
        outside.write(Outside {
            control: Fiber::main_on(Stack::at(base, STACK), entry),
            start: Fiber::main(),
            number: 0,
            end: End::Reported,
            last_refused: 0,
            alone: false,
            kernels: crate::libc::rseq_area(),
            listens: false,
            output: Output::new(errand.keeps_output()),
            streams: Streams::new(errand.models_streams()),
            sites: Sites::new(),
            reach: Reach::NOTHING,
            late: Late::new(errand.may_begin_late()),
            errand,
            undo: Undo::new(),
            pages: Pages::new(room),
            here: Fiber::main(),
            again: false,
            layers: Layers::new(),
            when: When::new(TAKE_NS),
            mail: Mail { at: at(MAIL), length: 0 },
        });
    }
    outside
}

impl Outside {
    /// This is a copy that does one run, as an ordinary one would: it exits when that is over.
    pub(super) fn be_alone(&mut self) {
        self.alone = true;
        // Nobody puts anything back here, and the program could notice.
        let hidden = self.pages.descriptors().into_iter().chain(self.streams.blank());
        for fd in hidden {
            // SAFETY: descriptors of our own, which are used no more.
            unsafe { sys::call3(sys::nr::CLOSE, fd, 0, 0) };
        }
    }

    /// Tells the kernel of all descriptors that the run has made and closed without it.
    pub(super) fn tell_kernel(&mut self) {
        self.streams.tell(&mut self.undo);
    }

    /// Whether the kernel would be wrong about this descriptor.
    pub(super) fn is_untold(&self, fd: usize) -> bool {
        self.streams.is_untold(fd) || self.undo.kept.is_put_off(fd)
    }

    /// Where all of this lies.
    pub(super) fn range(&self) -> (usize, usize) {
        let base = &raw const *self as usize - STACK;
        (base, base + SIZE)
    }
}
