//! Whether the kernel could read or write memory of the program's, as it does for a call that it is spared.

use crate::run::{active, with};
use crate::sys::{self, nr};

const PAGE: usize = 4096;

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
    is_in_use(address, size) || answers_for_read(address, size)
}

fn answers_for_read(address: usize, size: usize) -> bool {
    const NONSENSE: usize = usize::MAX;
    const INVALID: isize = -22;
    // SAFETY: the kernel reads eight bytes within one page, or says that it cannot.
    let can = |at: usize| unsafe { sys::call(nr::SIGPROCMASK, [NONSENSE, at, 0, 8, 0, 0]) } == INVALID;
    words(address, size).is_some_and(|mut words| words.all(can))
}

/// Whether it could write all of this: asked by a call that does write; what was there is put back.
pub(super) fn can_be_written(address: usize, size: usize) -> bool {
    let can = |at: usize| {
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
    is_in_use(address, size)
        || answers_for_read(address, size) && words(address, size).is_some_and(|mut words| words.all(can))
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
