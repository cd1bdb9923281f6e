//! Memory that is not undone: the stack of the one who undoes, and all that it must remember.

use super::End;
use super::late::Late;
use super::pages::{Pages, Room};
use super::undo::Undo;
use crate::fiber::{Fiber, Stack};
use crate::server::Errand;
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
const SIZE: usize = STORE + PAGES * 4096;

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
    pub(super) late: Late,
    pub(super) pages: Pages,
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
            late: Late::new(errand.may_begin_late()),
            errand,
            undo: Undo::new(),
            pages: Pages::new(room),
        });
    }
    outside
}

impl Outside {
    /// Where all of this lies.
    pub(super) fn range(&self) -> (usize, usize) {
        let base = &raw const *self as usize - STACK;
        (base, base + SIZE)
    }
}
