//! What C++ has thrown, for people. The program may be written in anything, so all of this is looked for by its name
//! in the C++ runtime that the program has, if it has one.

use alloc::format;
use alloc::string::String;
use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use raddle_native::libc::next;
use raddle_native::run::aside;

/// A description of a type: the table of its functions, and its name as the linker knows it.
#[repr(C)]
struct Type {
    functions: *const CanCatch,
    name: *const c_char,
}

/// Whether what was thrown is of this type; if so the pointer to it becomes one to the part that is.
type CanCatch = unsafe extern "C" fn(*const Type, *const Type, *mut *mut Exception, u32) -> bool;

/// Which of a type's functions that is, by the ABI that gcc's and clang's libraries share.
const CAN_CATCH: usize = 4;

/// An object of `std::exception`.
#[repr(C)]
struct Exception {
    functions: *const What,
}

type What = unsafe extern "C" fn(*const Exception) -> *const c_char;

/// Which of its functions says what has happened.
const WHAT: usize = 2;

/// Most characters of what it says.
const SAID_MAX: usize = 200;

/// The exception that is being handled: its type, and what it says of itself.
pub(crate) fn handled() -> Option<String> {
    let current = next(c"__cxa_current_exception_type");
    if current == 0 {
        return None;
    }
    // The program's own code is called for it, and nothing of that is part of the run.
    aside(|| {
        // SAFETY: the C++ runtime's function of this name; what it gives back lives as long as the program's file.
        let kind = unsafe {
            core::mem::transmute::<usize, unsafe extern "C" fn() -> *const Type>(current)().as_ref()
        }?;
        // SAFETY: a name of the program's file.
        let linker = unsafe { CStr::from_ptr(kind.name) };
        let name = demangled(linker).unwrap_or_else(|| {
            let name = linker.to_string_lossy();
            String::from(name.trim_start_matches('*'))
        });
        Some(match said(kind) {
            Some(said) => format!("{name} ({said})"),
            None => name,
        })
    })
}

/// A type's name as in the source.
fn demangled(name: &CStr) -> Option<String> {
    type Demangle = unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;
    let demangle = next(c"__cxa_demangle");
    if demangle == 0 {
        return None;
    }
    let mut status = 0;
    // SAFETY: the C++ runtime's function of this name. What it allocates is left: the run is about to end.
    unsafe {
        let demangle = core::mem::transmute::<usize, Demangle>(demangle);
        let text = demangle(name.as_ptr(), ptr::null_mut(), ptr::null_mut(), &raw mut status);
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}

/// What an exception of this type says, if it is one of the standard library's or made of one.
fn said(kind: &Type) -> Option<String> {
    let [standard, current] = [next(c"_ZTISt9exception"), next(c"_ZSt17current_exceptionv")];
    if standard == 0 || current == 0 {
        return None;
    }
    let mut thrown: *mut Exception = ptr::null_mut();
    // SAFETY: a description of a type and a function of the C++ library, by their names; what the latter fills in is a
    // pointer to what was thrown. Functions are called as the ABI has them, and the object is of a type that has the second.
    unsafe {
        type Current = unsafe extern "C" fn(*mut *mut Exception);
        core::mem::transmute::<usize, Current>(current)(&raw mut thrown);
        let standard = standard as *const Type;
        let can_catch = (*standard).functions.add(CAN_CATCH).read();
        if thrown.is_null() || !can_catch(standard, kind, &raw mut thrown, 1) {
            return None;
        }
        let what = (*thrown).functions.add(WHAT).read();
        let said = what(thrown);
        let said = (!said.is_null()).then(|| CStr::from_ptr(said).to_string_lossy())?;
        Some(said.chars().take(SAID_MAX).collect())
    }
}
