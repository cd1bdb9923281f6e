//! Whether the kernel could read or write memory of the program's, as it does for a call that it is spared.

use super::outside;
use crate::run::{active, with};
use crate::sys::{self, nr};

const PAGE: usize = 4096;

/// Pages of which the kernel has said that it could, until anything is mapped, taken away or protected.
#[derive(Debug)]
pub(super) struct Reach {
    /// Each with its lowest bit set if it can be written, too.
    pages: [usize; Reach::PAGES],
    next: usize,
}

impl Reach {
    const PAGES: usize = 16;
    const WRITABLE: usize = 1;

    /// No page begins there.
    const NONE: usize = usize::MAX;

    pub(super) const NOTHING: Reach = Reach { pages: [Reach::NONE; Reach::PAGES], next: 0 };

    /// Memory may be another from now on.
    pub(super) fn forget(&mut self) {
        *self = Reach::NOTHING;
    }

    fn has(&self, at: usize, write: bool) -> bool {
        let page = at & !(PAGE - 1);
        self.pages.contains(&(page | Reach::WRITABLE)) || !write && self.pages.contains(&page)
    }

    fn add(&mut self, at: usize, write: bool) {
        self.pages[self.next] = at & !(PAGE - 1) | usize::from(write);
        self.next = (self.next + 1) % Reach::PAGES;
    }
}

/// Whether all pages of this memory are known, or the kernel could do with each what `can` tries.
fn all_known(address: usize, size: usize, write: bool, can: impl Fn(usize) -> bool) -> bool {
    let known = |at: usize| {
        outside().is_some_and(|outside| outside.reach.has(at, write)) || {
            let can = can(at);
            if let Some(outside) = outside().filter(|_| can) {
                outside.reach.add(at, write);
            }
            can
        }
    };
    words(address, size).is_some_and(|mut words| words.all(known))
}

/// The words of which each lies in another page of this memory, all of its pages; none if it goes beyond all memory.
fn words(address: usize, size: usize) -> Option<impl Iterator<Item = usize>> {
    let end = address.checked_add(size)?;
    let next = |at: &usize| (at | (PAGE - 1)).checked_add(1);
    Some(core::iter::successors(Some(address & !7), next).take_while(move |&at| at < end))
}

/// What lies on the stack that is in use needs no question.
fn is_in_use(address: usize, size: usize) -> bool {
    active() && with(|run| run.is_in_use(address, size))
}

/// Whether it could read all of this: asked by a call that reads and then finds that it was told nonsense.
pub(super) fn can_be_read(address: usize, size: usize) -> bool {
    is_in_use(address, size) || all_known(address, size, false, answers_for_read)
}

fn answers_for_read(at: usize) -> bool {
    const NONSENSE: usize = usize::MAX;
    const INVALID: isize = -22;
    // SAFETY: the kernel reads eight bytes within one page, or says that it cannot.
    unsafe { sys::call(nr::SIGPROCMASK, [NONSENSE, at, 0, 8, 0, 0]) == INVALID }
}

/// Whether it could write all of this: asked by a call that does write; what was there is put back.
pub(super) fn can_be_written(address: usize, size: usize) -> bool {
    let can = |at: usize| {
        if !answers_for_read(at) {
            return false;
        }
        let word = at as *mut u64;
        // SAFETY: the word can be read, and is written only if it can be; nobody else runs.
        unsafe {
            let before = word.read();
            let can = sys::call(nr::SIGPROCMASK, [0, 0, at, 8, 0, 0]) == 0;
            if can {
                word.write(before);
            }
            can
        }
    };
    is_in_use(address, size) || all_known(address, size, true, can)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_reach_is_told() {
        let mut bytes = [7u8; 3 * PAGE];
        let at = bytes.as_mut_ptr() as usize;
        for (from, size) in [(at, 1), (at + 1, PAGE), (at + PAGE - 1, 2), (at, bytes.len())] {
            assert!(can_be_read(from, size) && can_be_written(from, size), "{from:#x} {size}");
        }
        assert!(bytes.iter().all(|&byte| byte == 7), "nothing is changed by that");
        for (from, size) in [(0, 1), (8, 8), (usize::MAX - 1, 8), (usize::MAX - 7, 4)] {
            assert!(!can_be_read(from, size) && !can_be_written(from, size), "{from:#x} {size}");
        }
        // A page, and then one that nobody may read.
        let two = sys::map(2 * PAGE, false);
        // SAFETY: memory of this test alone.
        unsafe { sys::forbid(two.add(PAGE), PAGE) };
        let at = two as usize;
        assert!(
            can_be_written(at, PAGE) && !can_be_read(at + PAGE - 1, 2) && !can_be_written(at + PAGE - 1, 2)
        );
        let constant = b"words".as_ptr() as usize;
        assert!(can_be_read(constant, 5) && !can_be_written(constant, 5));
    }
}
