//! The runtime's own memory. It lies in mappings of its own, so that what the program's allocator gives
//! out never depends on us.

use crate::sys;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use dlmalloc::Dlmalloc;

/// Where the heap gets its memory from.
struct Pages;

/// Memory is taken in large pieces: each is a system call, and a page fault for each page used.
const PIECE: usize = 1 << 20;

// SAFETY: every region is a fresh mapping of its own, and none is ever given back in part.
unsafe impl dlmalloc::Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let size = size.next_multiple_of(PIECE);
        (sys::map(size, false), size, 0)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        core::ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, address: *mut u8, size: usize) -> bool {
        // SAFETY: the heap has given up this region.
        unsafe { sys::unmap(address, size) }
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

/// The allocator of the runtime. The runtime never runs on two kernel threads at once.
pub struct Heap(UnsafeCell<Dlmalloc<Pages>>);

impl Heap {
    /// An empty heap.
    pub const fn new() -> Heap {
        Heap(UnsafeCell::new(Dlmalloc::new_with_allocator(Pages)))
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

// SAFETY: passed on to dlmalloc, whose requirements are those of the trait.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: nobody else is in the heap (see `Sync`).
        unsafe { (*self.0.get()).malloc(layout.size(), layout.align()) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: as above; the block came from here.
        unsafe { (*self.0.get()).free(address, layout.size(), layout.align()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { (*self.0.get()).calloc(layout.size(), layout.align()) }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; the block came from here.
        unsafe { (*self.0.get()).realloc(address, layout.size(), layout.align(), size) }
    }
}
