//! The program's heap. Libc has the memory; under control every block lies between red zones and is kept for a while
//! when it is freed.

use core::ffi::c_int;
use raddle_native::access::{allocated, freed};
use raddle_native::blocks::RED_ZONE;
use raddle_native::libc::is_inside;
use raddle_native::run::{active, with};

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> usize;
    fn __libc_calloc(count: usize, size: usize) -> usize;
    fn __libc_realloc(old: usize, size: usize) -> usize;
    fn __libc_memalign(align: usize, size: usize) -> usize;
    fn __libc_free(block: usize);
}

const NO_MEMORY: c_int = 12;
const INVALID: c_int = 22;
/// Larger ones libc would refuse, too.
const SIZE_MAX: usize = isize::MAX as usize / 2;

fn controlled() -> bool {
    active() && !is_inside()
}

/// A block with red zones around it; libc gives the memory for all.
fn guarded(size: usize, align: usize, pc: usize, give: impl FnOnce(usize, usize) -> usize) -> usize {
    if size > SIZE_MAX {
        crate::clocks::set_errno(NO_MEMORY);
        return 0;
    }
    let before = align.max(RED_ZONE);
    let raw = give(before + size.next_multiple_of(8) + RED_ZONE, align);
    if raw != 0 {
        allocated(raw, raw + before, size, pc);
        return raw + before;
    }
    0
}

unsafe extern "C" fn malloc_(size: usize, pc: usize) -> usize {
    // SAFETY: our own arguments; so in all calls of libc below.
    unsafe {
        if !controlled() {
            return __libc_malloc(size);
        }
        guarded(size, RED_ZONE, pc, |size, _| __libc_malloc(size))
    }
}

unsafe extern "C" fn calloc_(count: usize, size: usize, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe {
        if !controlled() {
            return __libc_calloc(count, size);
        }
        let size = count.saturating_mul(size);
        guarded(size, RED_ZONE, pc, |size, _| __libc_calloc(1, size))
    }
}

unsafe extern "C" fn realloc_(old: usize, size: usize, pc: usize) -> usize {
    let known = if controlled() { with(|run| run.blocks.size(old)) } else { None };
    // SAFETY: as above. A block of ours is moved in any case: whoever keeps the old address is found out.
    unsafe {
        match known {
            None if old == 0 => malloc_(size, pc),
            None => __libc_realloc(old, size),
            Some(_) if size == 0 => {
                free_(old, pc);
                0
            }
            Some(before) => {
                let new = malloc_(size, pc);
                if new != 0 {
                    core::ptr::copy_nonoverlapping(old as *const u8, new as *mut u8, before.min(size));
                    free_(old, pc);
                }
                new
            }
        }
    }
}

unsafe extern "C" fn memalign_(align: usize, size: usize, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe {
        if !controlled() || !align.is_power_of_two() {
            return __libc_memalign(align, size);
        }
        guarded(size, align.max(RED_ZONE), pc, |size, align| __libc_memalign(align, size))
    }
}

unsafe extern "C" fn posix_memalign_(result: *mut usize, align: usize, size: usize, pc: usize) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return INVALID;
    }
    // SAFETY: as above.
    let block = unsafe { memalign_(align, size, pc) };
    if block == 0 {
        return NO_MEMORY;
    }
    // SAFETY: the program's own variable.
    unsafe { *result = block };
    0
}

/// Libc gives back nothing many times when a thread ends.
unsafe extern "C" fn free_(block: usize, pc: usize) {
    if block == 0 {
        return;
    }
    if !controlled() {
        // SAFETY: as above.
        return unsafe { __libc_free(block) };
    }
    give_back(block, pc);
}

#[inline(never)]
fn give_back(block: usize, pc: usize) {
    for raw in freed(block, pc) {
        // SAFETY: libc has given it out, and nobody uses it any more.
        unsafe { __libc_free(raw) };
    }
}

/// How much of a block the program may use: what it has asked for.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn malloc_usable_size(block: usize) -> usize {
    let known = if controlled() { with(|run| run.blocks.size(block)) } else { None };
    // SAFETY: as above.
    known.unwrap_or_else(|| unsafe { real!(malloc_usable_size(usize) -> usize)(block) })
}

unsafe extern "C" fn page_aligned(size: usize, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe { memalign_(4096, size, pc) }
}

hook! {
    malloc rsi => malloc_;
    calloc rdx => calloc_;
    realloc rdx => realloc_;
    memalign rdx => memalign_;
    aligned_alloc rdx => memalign_;
    posix_memalign rcx => posix_memalign_;
    valloc rsi => page_aligned;
    free rsi => free_;
}
