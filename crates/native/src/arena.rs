//! Most of the runtime's own memory, and the stacks of threads, in one mapping: what a copy of the process costs hangs on
//! how many mappings it has, far more than on how large they are. All of it lies close together, so that few tables of
//! pages have to be copied.
//!
//! It grows down from where the stacks begin, far from everything that the kernel places; what is given back is given out
//! again. Where there is no room for it everything has a mapping of its own, and so it has in a process that repeats runs,
//! which keeps account of mappings (`reset`).

use crate::sys::{self, nr};
use core::cell::UnsafeCell;

/// Bytes below the stacks.
const ROOM: usize = 16 << 20;

/// Where stacks begin. What lies below them is found by the same upper tables of pages.
pub const TOP: usize = 0x1000_0000_0000 + ROOM;

/// What `madvise` is told.
const DROP: usize = 4;
const NO_HUGE_PAGES: usize = 15;

/// Pieces that were given back and are kept at a time.
const SPARE: usize = 16;

struct Arena {
    /// The lowest address that is given out; 0 if there is no arena.
    lowest: usize,
    /// Where a piece lies that nobody uses, and its size.
    spare: [(usize, usize); SPARE],
}

struct Slot(UnsafeCell<Arena>);

// SAFETY: the runtime never runs on two kernel threads at once.
unsafe impl Sync for Slot {}

static ARENA: Slot = Slot(UnsafeCell::new(Arena { lowest: 0, spare: [(0, 0); SPARE] }));

fn arena() -> &'static mut Arena {
    // SAFETY: see `Slot`; nobody keeps the reference.
    unsafe { &mut *ARENA.0.get() }
}

/// Makes the mapping, with so many bytes for stacks. Whether there are these.
pub fn prepare(stacks: usize) -> bool {
    let (base, size) = (TOP - ROOM, ROOM + stacks);
    let mapped = sys::map_near(base, size, false);
    if mapped as usize != base {
        if !mapped.is_null() {
            // SAFETY: it was mapped just now.
            unsafe { sys::unmap(mapped, size) };
        }
        return false;
    }
    // Each copy writes to few of these pages; a large one would be copied as a whole.
    // SAFETY: changes nothing that can be seen.
    unsafe { sys::call3(nr::MADVISE, base, size, NO_HUGE_PAGES) };
    arena().lowest = TOP;
    true
}

/// Fresh zeroed memory of so many pages' size; null if there is none.
pub fn take(size: usize) -> *mut u8 {
    let Arena { lowest, spare } = arena();
    if *lowest == 0 || crate::reset::is_on() {
        return sys::map(size, false);
    }
    if let Some(piece) = spare.iter_mut().find(|piece| piece.1 == size) {
        return core::mem::take(piece).0 as *mut u8;
    }
    if *lowest - (TOP - ROOM) < size {
        return sys::map(size, false);
    }
    *lowest -= size;
    *lowest as *mut u8
}

/// Gives memory back that was taken here. False if it stays as it is.
///
/// # Safety
/// Nobody may use it any more.
pub unsafe fn give(address: *mut u8, size: usize) -> bool {
    if !(TOP - ROOM..TOP).contains(&(address as usize)) {
        // SAFETY: passed on to the caller.
        return unsafe { sys::unmap(address, size) };
    }
    if crate::reset::is_on() {
        return false;
    }
    let Some(place) = arena().spare.iter_mut().find(|piece| piece.1 == 0) else { return false };
    // SAFETY: memory of ours that nobody uses: it is zeros from now on.
    if unsafe { sys::call3(nr::MADVISE, address as usize, size, DROP) } != 0 {
        return false;
    }
    *place = (address as usize, size);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_given_out_as_zeros() {
        assert!(prepare(1 << 20));
        let (small, large) = (take(1 << 16), take(1 << 20));
        assert!((small as usize) < TOP && large as usize + (1 << 20) == small as usize);
        // SAFETY: memory of our own.
        unsafe {
            small.write(7);
            assert!(give(small, 1 << 16));
            assert!(take(1 << 20) < large, "a piece is used as a whole");
            assert!(take(1 << 16) == small && small.read() == 0);
        }
        let beyond = take(ROOM);
        assert!(!beyond.is_null() && !(TOP - ROOM..TOP).contains(&(beyond as usize)));
        // SAFETY: a mapping of its own.
        assert!(unsafe { give(beyond, ROOM) });
    }
}
