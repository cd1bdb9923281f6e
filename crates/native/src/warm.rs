//! Makes copies of the process cheap: what a run would have to do first in every copy is done once, before any is made.
//!
//! The dearest of it is invisible. The kernel leaves out of a copy what it could read from a file again, and so every
//! page of code that a run comes to costs it a page fault, more than to copy the entry for it. It does copy them for
//! a mapping that has been written to; so one byte of each is, with what it was.

use crate::site::{Segment, each_segment};
use crate::sys::{self, nr};

/// Most pages of a mapping that are made ready: beyond that, copying the entries would cost more than it saves.
const PAGES_MAX: usize = 1024;

const PAGE: usize = 4096;
const READ: usize = 1;
const WRITE: usize = 2;
const EXECUTE: usize = 4;
const POPULATE_READ: usize = 22;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut u8;
    fn __libc_free(block: *mut u8);
    fn mallopt(what: i32, value: i32) -> i32;
}

/// Does all of it. Before the program begins, on its only thread.
pub fn up() {
    crate::calls::prepare();
    // SAFETY: a block that is given back.
    unsafe {
        set_up_heap();
        // Libc does so, too, when it is first used.
        __libc_free(__libc_malloc(1));
    }
    each_segment(|base, segment| {
        if !segment.is_writable() {
            fill(base, segment);
        }
    });
}

/// Has libc's heap ask the kernel rarely. Its threads run one at a time, so they need no heaps of their own, each of which is
/// mapped, cut to size and unmapped again in every run.
unsafe fn set_up_heap() {
    const ARENAS_MAX: i32 = -8;
    const MAP_FROM: i32 = -3;
    const TRIM_FROM: i32 = -1;
    const GROW_BY: i32 = -2;
    // SAFETY: values that libc allows, before it has a heap.
    unsafe {
        mallopt(ARENAS_MAX, 1);
        mallopt(MAP_FROM, 1 << 20);
        mallopt(TRIM_FROM, i32::MAX);
        mallopt(GROW_BY, 1 << 20);
    }
}

/// Has the pages of a segment in memory, and in copies of the process.
fn fill(base: usize, segment: &Segment) {
    let start = (base + segment.start()) / PAGE * PAGE;
    let size = (base + segment.end()).next_multiple_of(PAGE) - start;
    let access = READ | if segment.is_executable() { EXECUTE } else { 0 };
    // SAFETY: the segment stays readable and, if it is code, executable all the time: we may be running in it. Its
    // first byte is written back as it is. A kernel that does not allow this has changed nothing.
    unsafe {
        let protect = |access: usize| sys::call3(nr::MPROTECT, start, size, access);
        if protect(access | WRITE) == 0 {
            let first = start as *mut u8;
            first.write_volatile(first.read_volatile());
            protect(access);
            sys::call3(nr::MADVISE, start, size.min(PAGES_MAX * PAGE), POPULATE_READ);
        }
    }
}
