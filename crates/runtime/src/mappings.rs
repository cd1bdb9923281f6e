//! Memory that the program maps: it is new, and may be the same as at another address.

use core::ffi::c_int;
use raddle_native::access;
use raddle_native::mappings::{self, Source};
use raddle_native::run::active;
use raddle_native::sys;

const SHARED: c_int = 1;
const PRIVATE: c_int = 2;
const ANONYMOUS: c_int = 0x20;
const FAILED: usize = usize::MAX;
const PAGE: usize = 4096;

/// As the kernel counts.
fn pages(size: usize) -> usize {
    size.next_multiple_of(PAGE)
}

/// `mmap`, of which it is noted what lies where.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn mmap(
    wish: usize,
    size: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: usize,
) -> usize {
    // SAFETY: the program's own arguments.
    let start = unsafe {
        real!(mmap(usize, usize, c_int, c_int, c_int, usize) -> usize)(
            wish, size, protection, flags, fd, offset,
        )
    };
    if start != FAILED && active() {
        // Shared and checked is both bits.
        let shared = flags & (SHARED | PRIVATE) != PRIVATE;
        let source = match flags & ANONYMOUS {
            0 => Source::of_file(fd),
            _ => shared.then_some(Source::Nameless(start as u64)),
        };
        mappings::mapped(start, pages(size), offset, source, shared);
    }
    start
}

/// The same by its other name.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn mmap64(
    wish: usize,
    size: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: usize,
) -> usize {
    // SAFETY: passed on to the caller.
    unsafe { mmap(wish, size, protection, flags, fd, offset) }
}

/// `munmap`, likewise; and whoever still uses what is unmapped races with it.
unsafe extern "C" fn unmap(start: usize, size: usize, pc: usize) -> c_int {
    // What the kernel refuses is nothing.
    if active() && start.is_multiple_of(PAGE) && (1..isize::MAX as usize).contains(&size) {
        access::unmapping(start, pages(size), pc);
    }
    // SAFETY: as above.
    let result = unsafe { real!(munmap(usize, usize) -> c_int)(start, size) };
    if result == 0 && active() {
        mappings::unmapped(start, pages(size));
    }
    result
}

hook! {
    munmap rdx => unmap;
}

/// `mremap`, likewise. With the old size 0 the memory stays where it is as well.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn mremap(
    old: usize,
    old_size: usize,
    new_size: usize,
    flags: c_int,
    wish: usize,
) -> usize {
    // SAFETY: as above.
    let new = unsafe {
        real!(mremap(usize, usize, usize, c_int, usize) -> usize)(old, old_size, new_size, flags, wish)
    };
    if new != FAILED && active() && (new, new_size) != (old, old_size) {
        mappings::moved(old, pages(old_size), new, pages(new_size));
    }
    new
}

/// Bytes of a segment.
fn segment_size(id: c_int) -> Option<usize> {
    const CONTROL: usize = 31;
    const STATUS: usize = 2;
    // The kernel's `struct shmid64_ds`, whose seventh word it is.
    let mut about = [0usize; 16];
    // SAFETY: so many bytes are written to it at most.
    let result = unsafe { sys::call3(CONTROL, id as usize, STATUS, about.as_mut_ptr() as usize) };
    (result == 0).then_some(about[6])
}

/// `shmat`, likewise.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn shmat(id: c_int, wish: usize, flags: c_int) -> usize {
    // SAFETY: as above.
    let start = unsafe { real!(shmat(c_int, usize, c_int) -> usize)(id, wish, flags) };
    if start != FAILED
        && active()
        && let Some(size) = segment_size(id)
    {
        mappings::mapped(start, pages(size), 0, Some(Source::Segment(id as u64)), true);
    }
    start
}

/// `shmdt`, likewise.
///
/// # Safety
/// As libc's.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn shmdt(start: usize) -> c_int {
    // SAFETY: as above.
    let result = unsafe { real!(shmdt(usize) -> c_int)(start) };
    if result == 0 && active() {
        mappings::detached(start);
    }
    result
}
