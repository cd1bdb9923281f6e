//! What the kernel says of the pages of this process.

use crate::code::PAGE;
use crate::sys::{self, nr};
use core::ops::Range;

/// What it says of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry(u64);

impl Entry {
    /// Whether there is anything.
    pub(crate) fn is_there(self) -> bool {
        const PRESENT: u64 = 1 << 63;
        const SWAPPED: u64 = 1 << 62;
        self.0 & (PRESENT | SWAPPED) != 0
    }

    /// Whether it is what a file has, or what is shared.
    pub(crate) fn is_of_file(self) -> bool {
        self.0 >> 61 & 1 != 0
    }

    /// Whether no other process has it.
    pub(crate) fn is_exclusive(self) -> bool {
        self.0 >> 56 & 1 != 0
    }
}

pub(crate) struct Pagemap(usize);

impl Pagemap {
    /// None where there is no `/proc`.
    pub(crate) fn open() -> Option<Pagemap> {
        let path = c"/proc/self/pagemap".as_ptr() as usize;
        // SAFETY: a path that lives for ever.
        sys::out_of_the_way(unsafe { sys::call3(nr::OPEN, path, sys::CLOEXEC, 0) }).map(Pagemap)
    }

    /// Shows each page of a stretch, with its number in there. So many at a time as there is room for.
    pub(crate) fn each(&self, range: &Range<usize>, room: &mut [u64], mut each: impl FnMut(usize, Entry)) {
        const PREAD: usize = 17;
        let pages = range.len() / PAGE;
        let mut first = 0;
        while first < pages {
            let (at, wanted) = ((range.start / PAGE + first) * 8, (pages - first).min(room.len()));
            // SAFETY: the kernel writes into a buffer that is alive.
            let read =
                unsafe { sys::call(PREAD, [self.0, room.as_mut_ptr() as usize, wanted * 8, at, 0, 0]) };
            let read = read.max(0) as usize / 8;
            for (i, &entry) in room[..read].iter().enumerate() {
                each(first + i, Entry(entry));
            }
            if read == 0 {
                return;
            }
            first += read;
        }
    }
}

impl Drop for Pagemap {
    fn drop(&mut self) {
        // SAFETY: a descriptor of our own.
        unsafe { sys::call3(nr::CLOSE, self.0, 0, 0) };
    }
}
