//! The end of modules. When a process ends, after all that the program has registered for it, the loader has each module end
//! in turn. With nothing but plain C modules none has anything to do then; but the loader writes to several pages to find that
//! out, and all of them have to be copied in every copy of the process. So it is found out beforehand, once.
//!
//! A module may end by a function (`DT_FINI`) and by a list of them (`DT_FINI_ARRAY`). What every linker puts there is an
//! empty function and one entry, which ends what the module has registered in the name of itself: for the executable that has
//! all been done by then, and other modules register something only if they are in C++, or say so in a longer list.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char};

/// A loaded module, as `link.h` has it.
#[repr(C)]
struct Module {
    base: usize,
    name: *const c_char,
    dynamic: *const (usize, usize),
    next: *const Module,
}

/// What the loader tells debuggers.
#[repr(C)]
struct Loader {
    version: i32,
    first: *const Module,
}

/// Modules of C's own that register nothing.
const PLAIN: [&[u8]; 5] = [b"libgcc_s.so.1", b"libm.so.6", b"libpthread.so.0", b"libdl.so.2", b"librt.so.1"];

struct Slot(UnsafeCell<*const Module>);

// SAFETY: written once, before the program begins.
unsafe impl Sync for Slot {}

/// The last module, if none has anything to do when it ends. More that are loaded later would follow it.
static LAST: Slot = Slot(UnsafeCell::new(core::ptr::null()));

/// In the server, before the program begins, on its only thread: looks what is loaded.
pub(crate) fn look() {
    let loader = crate::libc::anywhere(c"_r_debug") as *const Loader;
    if loader.is_null() {
        return;
    }
    // SAFETY: the loader's list, which changes only when modules are loaded or unloaded; nobody does that now.
    unsafe {
        let first = (*loader).first;
        let (mut module, mut last) = (first, core::ptr::null());
        while !module.is_null() {
            if !is_plain(&*module, module == first) {
                return;
            }
            last = module;
            module = (*module).next;
        }
        *LAST.0.get() = last;
    }
}

/// Whether no module has anything to do when the process ends.
pub fn is_quiet() -> bool {
    // SAFETY: see `Slot`. A module of those that were there from the beginning is never unloaded.
    unsafe {
        let last = *LAST.0.get();
        !last.is_null() && (*last).next.is_null()
    }
}

/// # Safety
/// A module that is loaded.
unsafe fn is_plain(module: &Module, is_executable: bool) -> bool {
    const END: usize = 0;
    const FUNCTION: usize = 13;
    const LIST_SIZE: usize = 28;
    let (mut function, mut list_size, mut entry) = (None, 0, module.dynamic);
    // SAFETY: a list of pairs with an end, and a C string.
    let name = unsafe {
        while (*entry).0 != END {
            match *entry {
                (FUNCTION, offset) => function = Some(module.base + offset),
                (LIST_SIZE, size) => list_size = size,
                _ => {}
            }
            entry = entry.add(1);
        }
        CStr::from_ptr(module.name).to_bytes()
    };
    let name = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    match function {
        None => list_size == 0,
        Some(function) => {
            // SAFETY: code of this module.
            let ends = unsafe { !is_empty(function) };
            (is_executable || PLAIN.contains(&name)) && list_size <= size_of::<usize>() && !ends
        }
    }
}

/// Whether a function does nothing but make room on the stack, as what linkers put together from no parts at all.
///
/// # Safety
/// Code that can be read.
unsafe fn is_empty(function: usize) -> bool {
    const LANDING: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const NOTHING: [u8; 9] = [0x48, 0x83, 0xec, 0x08, 0x48, 0x83, 0xc4, 0x08, 0xc3];
    // SAFETY: passed on to the caller; what is read is within the pages that the function lies on.
    unsafe {
        let at = function as *const u8;
        let at = if at.cast::<[u8; 4]>().read() == LANDING { at.add(LANDING.len()) } else { at };
        at.cast::<[u8; 9]>().read() == NOTHING
    }
}
