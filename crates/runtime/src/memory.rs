//! The program's heap. Memory that is given out anew has no past, and giving it back is a write.

use core::ffi::c_int;
use raddle_native::libc::is_inside;
use raddle_native::run::{self, active, with};

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> usize;
    fn __libc_calloc(count: usize, size: usize) -> usize;
    fn __libc_realloc(old: usize, size: usize) -> usize;
    fn __libc_memalign(align: usize, size: usize) -> usize;
    fn __libc_free(block: usize);
    fn malloc_usable_size(block: usize) -> usize;
}

const NO_MEMORY: c_int = 12;
const INVALID: c_int = 22;

fn controlled() -> bool {
    active() && !is_inside()
}

fn given(block: usize) -> usize {
    if block != 0 && controlled() {
        // SAFETY: libc has just given it out.
        let size = unsafe { malloc_usable_size(block) };
        with(|run| run.forget(block, size));
    }
    block
}

unsafe extern "C" fn malloc_(size: usize, _: usize) -> usize {
    // SAFETY: our own arguments; so in all calls of libc below.
    given(unsafe { __libc_malloc(size) })
}

unsafe extern "C" fn calloc_(count: usize, size: usize, _: usize) -> usize {
    // SAFETY: as above.
    given(unsafe { __libc_calloc(count, size) })
}

unsafe extern "C" fn realloc_(old: usize, size: usize, pc: usize) -> usize {
    returned(old, pc);
    // SAFETY: as above.
    given(unsafe { __libc_realloc(old, size) })
}

unsafe extern "C" fn memalign_(align: usize, size: usize, _: usize) -> usize {
    // SAFETY: as above.
    given(unsafe { __libc_memalign(align, size) })
}

unsafe extern "C" fn posix_memalign_(result: *mut usize, align: usize, size: usize, _: usize) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return INVALID;
    }
    // SAFETY: as above.
    let block = given(unsafe { __libc_memalign(align, size) });
    if block == 0 {
        return NO_MEMORY;
    }
    // SAFETY: the program's own variable.
    unsafe { *result = block };
    0
}

unsafe extern "C" fn free_(block: usize, pc: usize) {
    returned(block, pc);
    // SAFETY: as above.
    unsafe { __libc_free(block) };
}

fn returned(block: usize, pc: usize) {
    if block != 0 && controlled() {
        // SAFETY: the program says that it has the block.
        let size = unsafe { malloc_usable_size(block) };
        run::freed(block, size, pc);
    }
}

hook! {
    malloc rsi => malloc_;
    calloc rdx => calloc_;
    realloc rdx => realloc_;
    memalign rdx => memalign_;
    aligned_alloc rdx => memalign_;
    posix_memalign rcx => posix_memalign_;
    free rsi => free_;
}
