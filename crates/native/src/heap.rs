//! The runtime's own memory. It lies in mappings of its own, so that what the program's allocator gives
//! out never depends on us.
//!
//! Runs are short, and much of what they allocate are small lists that grow: those come from lists of blocks of one size
//! each, and go back there. Everything else is dlmalloc's.

use crate::arena;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use dlmalloc::Dlmalloc;

/// Where the heap gets its memory from.
struct Pages;

/// Memory is taken in large pieces: each is a system call, and a page fault for each page used.
const PIECE: usize = 1 << 20;

// SAFETY: every region is fresh memory of its own, and none is ever given back in part.
unsafe impl dlmalloc::Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let size = size.next_multiple_of(PIECE);
        (arena::take(size), size, 0)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        core::ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, address: *mut u8, size: usize) -> bool {
        // SAFETY: the heap has given up this region.
        unsafe { arena::give(address, size) }
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        4096
    }
}

/// Sizes of small blocks are multiples of this, and so are their addresses.
const UNIT: usize = 16;
/// The largest of them.
const SMALL: usize = 1024;
/// Bytes that small blocks are cut from.
const CHUNK: usize = 8192;

/// A block that nobody uses.
struct Free {
    next: *mut Free,
}

/// The heap, to whoever is in it.
struct Inner {
    /// Blocks that were given back, by size.
    free: [*mut Free; SMALL / UNIT],
    /// What is left of the last chunk.
    left: *mut u8,
    left_size: usize,
    all: Dlmalloc<Pages>,
}

/// The size of the block that something of this size gets, if that is a small one.
#[inline(always)]
fn small(size: usize, align: usize) -> Option<usize> {
    (size.wrapping_sub(1) < SMALL && align <= UNIT).then(|| size.next_multiple_of(UNIT))
}

impl Inner {
    #[inline(always)]
    fn take(&mut self, size: usize) -> *mut u8 {
        let first = &mut self.free[size / UNIT - 1];
        let block = *first;
        if block.is_null() {
            return self.cut(size);
        }
        // SAFETY: a block that nobody uses, which says itself what is next.
        *first = unsafe { (*block).next };
        block.cast()
    }

    fn cut(&mut self, size: usize) -> *mut u8 {
        if self.left_size < size {
            // SAFETY: as for any block.
            let chunk = unsafe { self.all.malloc(CHUNK, UNIT) };
            if chunk.is_null() {
                return chunk;
            }
            // What was left is too little for whom it is: that is the size of the largest that it would do for.
            if self.left_size > 0 {
                self.give(self.left, self.left_size);
            }
            (self.left, self.left_size) = (chunk, CHUNK);
        }
        let block = self.left;
        // SAFETY: within the chunk, or where it ends.
        self.left = unsafe { block.add(size) };
        self.left_size -= size;
        block
    }

    #[inline(always)]
    fn give(&mut self, block: *mut u8, size: usize) {
        let (first, block) = (&mut self.free[size / UNIT - 1], block.cast::<Free>());
        // SAFETY: nobody uses it any more, and it has room for a pointer.
        unsafe { block.write(Free { next: *first }) };
        *first = block;
    }
}

/// The allocator of the runtime. The runtime never runs on two kernel threads at once.
pub struct Heap(UnsafeCell<Inner>);

impl Heap {
    /// An empty heap.
    pub const fn new() -> Heap {
        let free = [core::ptr::null_mut(); SMALL / UNIT];
        let all = Dlmalloc::new_with_allocator(Pages);
        Heap(UnsafeCell::new(Inner { free, left: core::ptr::null_mut(), left_size: 0, all }))
    }

    #[expect(clippy::mut_from_ref, reason = "nobody else is in the heap")]
    #[inline(always)]
    fn inner(&self) -> &mut Inner {
        // SAFETY: see `Sync`; nobody keeps it.
        unsafe { &mut *self.0.get() }
    }
}

impl Default for Heap {
    fn default() -> Heap {
        Heap::new()
    }
}

// SAFETY: all tasks of a run share one kernel thread, and no task is switched away from inside the heap. A
// program that is not under control does not reach it.
unsafe impl Sync for Heap {}

// SAFETY: small blocks lie apart and are aligned as their unit; the rest is passed on to dlmalloc, whose requirements are
// those of the trait.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match small(layout.size(), layout.align()) {
            Some(size) => self.inner().take(size),
            // SAFETY: the caller's layout.
            None => unsafe { self.inner().all.malloc(layout.size(), layout.align()) },
        }
    }

    #[inline]
    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        match small(layout.size(), layout.align()) {
            Some(size) => self.inner().give(address, size),
            // SAFETY: the block came from here.
            None => unsafe { self.inner().all.free(address, layout.size(), layout.align()) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match small(layout.size(), layout.align()) {
            Some(size) => {
                let block = self.inner().take(size);
                if !block.is_null() {
                    // SAFETY: a block of this size, which is new.
                    unsafe { block.write_bytes(0, size) };
                }
                block
            }
            // SAFETY: the caller's layout.
            None => unsafe { self.inner().all.calloc(layout.size(), layout.align()) },
        }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (old, new) = (small(layout.size(), layout.align()), small(size, layout.align()));
        if old.is_none() && new.is_none() {
            // SAFETY: the block came from here.
            return unsafe { self.inner().all.realloc(address, layout.size(), layout.align(), size) };
        }
        if old == new {
            return address;
        }
        // SAFETY: the caller's layout with another size, which it says is possible; both blocks have room for the smaller.
        unsafe {
            let block = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !block.is_null() {
                core::ptr::copy_nonoverlapping(address, block, layout.size().min(size));
                self.dealloc(address, layout);
            }
            block
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use raddle_model::{Dice, Rng};

    /// Blocks of many sizes that grow, shrink and go, each full of a byte of its own.
    #[test]
    fn blocks_keep_what_is_in_them() {
        let (heap, mut rng) = (Heap::new(), Rng::new(7));
        let mut draw = |below: usize| rng.below(below as u32) as usize;
        let mut blocks: Vec<(*mut u8, Layout, u8)> = Vec::new();
        let layout = |size: usize, align: usize| Layout::from_size_align(size, align).expect("a layout");
        for step in 0..40_000 {
            let size = 1 + if draw(4) == 0 { draw(9000) } else { draw(300) };
            let byte = step as u8;
            // SAFETY: blocks are used as long as they are there, and no further than they go.
            unsafe {
                if blocks.len() < 50 || draw(3) == 0 {
                    let layout = layout(size, 1 << draw(7));
                    let zeroed = draw(2) == 0;
                    let block = if zeroed { heap.alloc_zeroed(layout) } else { heap.alloc(layout) };
                    assert!(block.addr().is_multiple_of(layout.align()));
                    assert!(
                        !zeroed || core::slice::from_raw_parts(block, size).iter().all(|&byte| byte == 0)
                    );
                    block.write_bytes(byte, size);
                    blocks.push((block, layout, byte));
                    continue;
                }
                let at = draw(blocks.len());
                let (block, old, byte) = blocks[at];
                let same = |block: *mut u8, size: usize| {
                    core::slice::from_raw_parts(block, size).iter().all(|&found| found == byte)
                };
                assert!(same(block, old.size()), "{old:?}");
                if draw(2) == 0 {
                    heap.dealloc(block, old);
                    blocks.swap_remove(at);
                } else {
                    let moved = heap.realloc(block, old, size);
                    assert!(moved.addr().is_multiple_of(old.align()) && same(moved, size.min(old.size())));
                    moved.write_bytes(byte, size);
                    blocks[at] = (moved, layout(size, old.align()), byte);
                }
            }
        }
    }
}
