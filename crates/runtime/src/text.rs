//! More of `string.h`, and sorting: functions that read or write the program's memory inside of libc. As in `strings`,
//! which has those that compilers call of their own accord.

use crate::strings::{length, touched};
use core::ffi::c_int;
use raddle_native::run::active;

/// How much of a text was read by somebody who has found something there, or not: then all of it.
fn read_up_to(text: usize, found: usize, all: usize, pc: usize) {
    let size = if found == 0 { all } else { found - text + 1 };
    touched(text, size, false, pc);
}

unsafe extern "C" fn find_byte(bytes: usize, byte: c_int, size: usize, pc: usize) -> usize {
    // SAFETY: our own arguments; so in all calls of libc below.
    let found = unsafe { real!(memchr(usize, c_int, usize) -> usize)(bytes, byte, size) };
    read_up_to(bytes, found, size, pc);
    found
}

unsafe extern "C" fn find_last_byte(bytes: usize, byte: c_int, size: usize, pc: usize) -> usize {
    // SAFETY: as above.
    let found = unsafe { real!(memrchr(usize, c_int, usize) -> usize)(bytes, byte, size) };
    let from = if found == 0 { bytes } else { found };
    touched(from, bytes + size - from, false, pc);
    found
}

unsafe extern "C" fn find_character(text: usize, character: c_int, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe {
        let found = real!(strchr(usize, c_int) -> usize)(text, character);
        let all = if found == 0 { length(text, usize::MAX) + 1 } else { 0 };
        read_up_to(text, found, all, pc);
        found
    }
}

unsafe extern "C" fn find_last_character(text: usize, character: c_int, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe {
        touched(text, length(text, usize::MAX) + 1, false, pc);
        real!(strrchr(usize, c_int) -> usize)(text, character)
    }
}

unsafe extern "C" fn find_text(text: usize, wanted: usize, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe {
        let found = real!(strstr(usize, usize) -> usize)(text, wanted);
        let size = length(wanted, usize::MAX);
        touched(wanted, size + 1, false, pc);
        let read = if found == 0 { length(text, usize::MAX) + 1 } else { found - text + size };
        touched(text, read, false, pc);
        found
    }
}

unsafe extern "C" fn limited_length(text: usize, limit: usize, pc: usize) -> usize {
    // SAFETY: as above.
    let size = unsafe { length(text, limit) };
    touched(text, (size + 1).min(limit), false, pc);
    size
}

unsafe extern "C" fn span(text: usize, set: usize, pc: usize) -> usize {
    // SAFETY: as above.
    let size = unsafe { real!(strspn(usize, usize) -> usize)(text, set) };
    spanned(text, set, size, pc)
}

unsafe extern "C" fn span_without(text: usize, set: usize, pc: usize) -> usize {
    // SAFETY: as above.
    let size = unsafe { real!(strcspn(usize, usize) -> usize)(text, set) };
    spanned(text, set, size, pc)
}

unsafe extern "C" fn find_any(text: usize, set: usize, pc: usize) -> usize {
    // SAFETY: as above.
    let found = unsafe { real!(strpbrk(usize, usize) -> usize)(text, set) };
    // SAFETY: as above.
    let size = if found == 0 { unsafe { length(text, usize::MAX) } } else { found - text };
    spanned(text, set, size, pc);
    found
}

fn spanned(text: usize, set: usize, size: usize, pc: usize) -> usize {
    // SAFETY: the program's own text, which libc has just read.
    touched(set, unsafe { length(set, usize::MAX) } + 1, false, pc);
    touched(text, size + 1, false, pc);
    size
}

unsafe extern "C" fn copy_to_end(to: usize, from: usize, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe {
        let size = length(from, usize::MAX) + 1;
        touched(from, size, false, pc);
        touched(to, size, true, pc);
        real!(stpcpy(usize, usize) -> usize)(to, from)
    }
}

unsafe extern "C" fn append_some(to: usize, from: usize, limit: usize, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe {
        let (old, new) = (length(to, usize::MAX), length(from, limit));
        touched(from, (new + 1).min(limit), false, pc);
        touched(to, old + 1, false, pc);
        touched(to + old, new + 1, true, pc);
        real!(strncat(usize, usize, usize) -> usize)(to, from, limit)
    }
}

unsafe extern "C" fn duplicate(text: usize, pc: usize) -> usize {
    // SAFETY: as above. The copy is nobody else's yet.
    unsafe {
        touched(text, length(text, usize::MAX) + 1, false, pc);
        real!(strdup(usize) -> usize)(text)
    }
}

unsafe extern "C" fn duplicate_some(text: usize, limit: usize, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe {
        touched(text, (length(text, limit) + 1).min(limit), false, pc);
        real!(strndup(usize, usize) -> usize)(text, limit)
    }
}

unsafe extern "C" fn compare_loosely(a: usize, b: usize, pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe {
        touched(a, length(a, usize::MAX) + 1, false, pc);
        touched(b, length(b, usize::MAX) + 1, false, pc);
        real!(strcasecmp(usize, usize) -> c_int)(a, b)
    }
}

unsafe extern "C" fn copy_behind(to: usize, from: usize, size: usize, pc: usize) -> usize {
    touched(from, size, false, pc);
    touched(to, size, true, pc);
    // SAFETY: as above.
    unsafe { real!(mempcpy(usize, usize, usize) -> usize)(to, from, size) }
}

/// What is compared is seen in the program's own function; what is moved is not.
unsafe extern "C" fn sort(base: usize, count: usize, size: usize, compare: usize, pc: usize) {
    if active() && count > 1 {
        touched(base, count.saturating_mul(size), true, pc);
    }
    // SAFETY: as above.
    unsafe { real!(qsort(usize, usize, usize, usize))(base, count, size, compare) };
}

hook! {
    memchr rcx => find_byte;
    memrchr rcx => find_last_byte;
    strchr rdx => find_character;
    index rdx => find_character;
    strrchr rdx => find_last_character;
    rindex rdx => find_last_character;
    strstr rdx => find_text;
    strnlen rdx => limited_length;
    strspn rdx => span;
    strcspn rdx => span_without;
    strpbrk rdx => find_any;
    stpcpy rdx => copy_to_end;
    strncat rcx => append_some;
    strdup rsi => duplicate;
    strndup rdx => duplicate_some;
    strcasecmp rdx => compare_loosely;
    mempcpy rcx => copy_behind;
    qsort r8 => sort;
}
