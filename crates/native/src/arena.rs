//! Most of the runtime's own memory, and the stacks of threads, in one mapping: what a copy of the process costs hangs on
//! how many mappings it has, far more than on how large they are. All of it lies close together, so that few tables of
//! pages have to be copied.
//!
//! It grows up to where the stacks begin, far from everything that the kernel places; what is given back is given out
//! again. Right below it lies what runs share with the server, so that what every run writes to first is found by one table of pages. Where there is no room for it everything has a mapping of its own, and so it has in a process that repeats runs,
//! which keeps account of mappings (`reset`).

use crate::sys::{self, nr};
use core::cell::UnsafeCell;

/// Bytes below the stacks.
const ROOM: usize = 16 << 20;

/// Where it begins: soon behind where a table of pages does.
pub(crate) const BASE: usize = 0x1000_2000_0000 + (32 << 10);

/// Where stacks begin. What lies below them is found by the same upper tables of pages.
pub const TOP: usize = BASE + ROOM;

/// What `madvise` is told.
const DROP: usize = 4;
const NO_HUGE_PAGES: usize = 15;

/// Pieces that were given back and are kept at a time.
const SPARE: usize = 16;

struct Arena {
    /// What was not given out yet begins there; 0 if there is no arena.
    next: usize,
    /// And ends there.
    end: usize,
    /// Where a piece lies that nobody uses, and its size.
    spare: [(usize, usize); SPARE],
}

impl Arena {
    const fn new(next: usize, end: usize) -> Arena {
        Arena { next, end, spare: [(0, 0); SPARE] }
    }

    /// Null if there is no room.
    fn take(&mut self, size: usize) -> *mut u8 {
        if let Some(piece) = self.spare.iter_mut().find(|piece| piece.1 == size) {
            return core::mem::take(piece).0 as *mut u8;
        }
        if self.end - self.next < size {
            return core::ptr::null_mut();
        }
        self.next += size;
        (self.next - size) as *mut u8
    }

    /// False if it stays as it is.
    ///
    /// # Safety
    /// It was taken here, and nobody may use it any more.
    unsafe fn give(&mut self, address: *mut u8, size: usize) -> bool {
        let Some(place) = self.spare.iter_mut().find(|piece| piece.1 == 0) else { return false };
        // SAFETY: memory of ours that nobody uses: it is zeros from now on.
        if unsafe { sys::call3(nr::MADVISE, address as usize, size, DROP) } != 0 {
            return false;
        }
        *place = (address as usize, size);
        true
    }
}

struct Slot(UnsafeCell<Arena>);

// SAFETY: the runtime never runs on two kernel threads at once.
unsafe impl Sync for Slot {}

static ARENA: Slot = Slot(UnsafeCell::new(Arena::new(0, TOP)));

fn arena() -> &'static mut Arena {
    // SAFETY: see `Slot`; nobody keeps the reference.
    unsafe { &mut *ARENA.0.get() }
}

/// Makes the mapping, with so many bytes for stacks. Whether there are these.
pub fn prepare(stacks: usize) -> bool {
    let (base, size) = (BASE, ROOM + stacks);
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
    arena().next = BASE;
    true
}

/// Fresh zeroed memory of so many pages' size; null if there is none.
pub fn take(size: usize) -> *mut u8 {
    let is_used = arena().next != 0 && !crate::reset::is_on();
    match if is_used { arena().take(size) } else { core::ptr::null_mut() } {
        piece if piece.is_null() => sys::map(size, false),
        piece => piece,
    }
}

/// Gives memory back that was taken here. False if it stays as it is.
///
/// # Safety
/// Nobody may use it any more.
pub unsafe fn give(address: *mut u8, size: usize) -> bool {
    // SAFETY: passed on to the caller.
    unsafe {
        if !(BASE..TOP).contains(&(address as usize)) {
            return sys::unmap(address, size);
        }
        !crate::reset::is_on() && arena().give(address, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_given_out_as_zeros() {
        // One of its own: others have theirs while this runs.
        let base = sys::map(ROOM, false) as usize;
        let mut arena = Arena::new(base, base + ROOM);
        let (small, large) = (arena.take(1 << 16), arena.take(1 << 20));
        assert!(small as usize == base && large as usize == base + (1 << 16));
        // SAFETY: memory of our own.
        unsafe {
            small.write(7);
            assert!(arena.give(small, 1 << 16));
            assert!(arena.take(1 << 20) > large, "a piece is used as a whole");
            assert!(arena.take(1 << 16) == small && small.read() == 0);
            assert!(arena.take(ROOM).is_null());
            sys::unmap(base as *mut u8, ROOM);
        }
    }
}
