//! Variables of modules in one mapping each: those that have a value in the file lie in a mapping of that, and those that
//! begin as zeros behind it in one of their own. To both the same may be done; as memory that is of no file they are one
//! mapping, of which a copy of the process costs half as much.

use crate::site::{Segment, each_module};
use crate::sys;
use core::arch::asm;
use core::ops::Range;

const PAGE: usize = 4096;

/// Most modules that are looked at.
const MODULES_MAX: usize = 32;

/// Most bytes of variables with values that it pays for: all of them are in every copy from then on.
const SIZE_MAX: usize = 16 * PAGE;

/// In the server, before the program begins, on its only thread: the loader is done with them.
pub(crate) fn join() {
    let (mut all, mut count) = ([const { 0..0 }; MODULES_MAX], 0);
    each_module(|base, segments| {
        for segment in segments.iter().filter(|segment| segment.is_loaded()) {
            if let Some(range) = with_values(segment, segments)
                && count < all.len()
            {
                all[count] = base + range.start..base + range.end;
                count += 1;
            }
        }
    });
    all[..count].iter().for_each(detach);
}

/// The pages of a part with variables that have values, if pages with zeros follow.
fn with_values(segment: &Segment, all: &[Segment]) -> Option<Range<usize>> {
    let end = segment.file_end().next_multiple_of(PAGE);
    // The loader protects whole pages.
    let protected = all.iter().filter(|part| part.is_protected() && part.start() >= segment.start());
    let protected = protected.map(|part| part.end() / PAGE * PAGE).filter(|&upto| upto <= end).max();
    let start = (segment.start() / PAGE * PAGE).max(protected.unwrap_or(0));
    let is_plain = segment.is_writable() && !segment.is_executable();
    let is_little = start < end && end - start <= SIZE_MAX;
    (is_plain && is_little && end < segment.end().next_multiple_of(PAGE)).then_some(start..end)
}

/// Memory that is of no file takes the place of these pages, with the same in it.
fn detach(range: &Range<usize>) {
    const MMAP: usize = sys::nr::MMAP;
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS_HERE: usize = 0x32;
    let copy = sys::map(range.len(), false);
    if copy.is_null() {
        return;
    }
    // SAFETY: the pages can be read and written, and the copy has room for them. In between they are zeros: nothing is
    // read but registers, and no signal is handled yet. If the kernel refuses they are as they were, and are overwritten by
    // what they have.
    unsafe {
        core::ptr::copy_nonoverlapping(range.start as *const u8, copy, range.len());
        asm!(
            "syscall",
            "mov rdi, {start}",
            "mov rsi, {copy}",
            "mov rcx, {size}",
            "rep movsb",
            start = in(reg) range.start,
            copy = in(reg) copy,
            size = in(reg) range.len(),
            inout("rax") MMAP => _,
            inout("rdi") range.start => _,
            inout("rsi") range.len() => _,
            inout("rdx") READ_WRITE => _,
            inout("r10") PRIVATE_ANONYMOUS_HERE => _,
            inout("r8") usize::MAX => _,
            inout("r9") 0usize => _,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
        sys::unmap(copy, range.len());
    }
}
