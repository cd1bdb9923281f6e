//! Functions of libc's that read and write the program's memory, and which compilers call of their own accord. They
//! are accesses like any other.
//!
//! The runtime itself must not come in here. When it is packed into an object file, what it calls `memcpy` becomes
//! `raddle_own_memcpy` (`raddle_native::own`), and `raddle_hook_memcpy` becomes `memcpy`; likewise the others.

use core::ffi::c_int;
use raddle_native::access::{access, kept, moment, place};

pub(crate) fn touched(address: usize, size: usize, write: bool, pc: usize) {
    if size > 0 {
        access(address, size, write, pc);
    }
}

/// Bytes of a string up to its end, or up to a limit; without that end.
///
/// # Safety
/// There must be a string.
pub(crate) unsafe fn length(text: usize, limit: usize) -> usize {
    // SAFETY: the caller says so.
    unsafe { real!(strnlen(usize, usize) -> usize)(text, limit) }
}

/// A string is read up to its end, or up to a limit: to where that is when nobody else can come in between any more. Gives
/// back its length.
unsafe fn string_read(text: usize, limit: usize, pc: usize) -> usize {
    loop {
        // SAFETY: the caller says that there is a string.
        let size = unsafe { length(text, limit) };
        let before = moment();
        touched(text, size.saturating_add(1).min(limit), false, pc);
        // SAFETY: as above.
        if moment() == before || unsafe { length(text, limit) } == size {
            return size;
        }
    }
}

unsafe extern "C" fn copy(to: usize, from: usize, size: usize, pc: usize) -> usize {
    touched(from, size, false, pc);
    // SAFETY: our own arguments; so in all calls of libc below.
    unsafe {
        let kept = kept(from, size, pc);
        touched(to, size, true, pc);
        real!(memcpy(usize, usize, usize) -> usize)(to, place(&kept, from), size)
    }
}

unsafe extern "C" fn move_(to: usize, from: usize, size: usize, pc: usize) -> usize {
    touched(from, size, false, pc);
    // SAFETY: as above.
    unsafe {
        let kept = kept(from, size, pc);
        touched(to, size, true, pc);
        real!(memmove(usize, usize, usize) -> usize)(to, place(&kept, from), size)
    }
}

unsafe extern "C" fn set(to: usize, byte: c_int, size: usize, pc: usize) -> usize {
    touched(to, size, true, pc);
    // SAFETY: as above.
    unsafe { real!(memset(usize, c_int, usize) -> usize)(to, byte, size) }
}

unsafe extern "C" fn compare(a: usize, b: usize, size: usize, pc: usize) -> c_int {
    touched(a, size, false, pc);
    // SAFETY: as above.
    unsafe {
        let kept = kept(a, size, pc);
        touched(b, size, false, pc);
        real!(memcmp(usize, usize, usize) -> c_int)(place(&kept, a), b, size)
    }
}

unsafe extern "C" fn string_length(text: usize, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe { string_read(text, usize::MAX, pc) }
}

unsafe extern "C" fn string_copy(to: usize, from: usize, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe {
        let size = string_read(from, usize::MAX, pc) + 1;
        let kept = kept(from, size, pc);
        touched(to, size, true, pc);
        real!(strcpy(usize, usize) -> usize)(to, place(&kept, from))
    }
}

unsafe extern "C" fn string_copy_some(to: usize, from: usize, size: usize, pc: usize) -> usize {
    // SAFETY: as above. All `size` bytes are written, whatever the string's length.
    unsafe {
        let read = (string_read(from, size, pc) + 1).min(size);
        let kept = kept(from, read, pc);
        touched(to, size, true, pc);
        real!(strncpy(usize, usize, usize) -> usize)(to, place(&kept, from), size)
    }
}

unsafe extern "C" fn string_append(to: usize, from: usize, pc: usize) -> usize {
    // SAFETY: as above.
    unsafe {
        let new = string_read(from, usize::MAX, pc) + 1;
        let kept = kept(from, new, pc);
        let end = to + string_read(to, usize::MAX, pc);
        touched(end, new, true, pc);
        real!(strcpy(usize, usize) -> usize)(end, place(&kept, from));
        to
    }
}

unsafe extern "C" fn string_compare(a: usize, b: usize, pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe {
        let kept = kept(a, string_read(a, usize::MAX, pc) + 1, pc);
        string_read(b, usize::MAX, pc);
        real!(strcmp(usize, usize) -> c_int)(place(&kept, a), b)
    }
}

unsafe extern "C" fn string_compare_some(a: usize, b: usize, size: usize, pc: usize) -> c_int {
    // SAFETY: as above.
    unsafe {
        let kept = kept(a, (string_read(a, size, pc) + 1).min(size), pc);
        string_read(b, size, pc);
        real!(strncmp(usize, usize, usize) -> c_int)(place(&kept, a), b, size)
    }
}

hook! {
    raddle_hook_memcpy rcx => copy;
    raddle_hook_memmove rcx => move_;
    raddle_hook_memset rcx => set;
    raddle_hook_memcmp rcx => compare;
    raddle_hook_bcmp rcx => compare;
    raddle_hook_strlen rsi => string_length;
    raddle_hook_strcpy rdx => string_copy;
    raddle_hook_strncpy rcx => string_copy_some;
    raddle_hook_strcat rdx => string_append;
    raddle_hook_strcmp rdx => string_compare;
    raddle_hook_strncmp rcx => string_compare_some;
}
