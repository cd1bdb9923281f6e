//! The other ends of a process: at once, by an abort, by an assertion.

use crate::exception;
use alloc::format;
use core::ffi::{CStr, c_char, c_int, c_uint};
use raddle_model::FailureKind;
use raddle_native::run::{active, with};
use raddle_native::{end, failing, sys};

unsafe extern "C" fn at_once(code: c_int, pc: usize) -> ! {
    if active() {
        let site = with(|run| run.site(pc));
        end::process_ends(code, site);
    }
    sys::exit(code)
}

unsafe extern "C" fn aborted(pc: usize) -> ! {
    if active() {
        let (site, task) = with(|run| (run.site(pc), run.engine.world().path(run.running)));
        match exception::handled() {
            Some(thrown) => failing::fail(
                FailureKind::Exception,
                format!("{task} throws {thrown}, and nobody catches it"),
                site,
            ),
            None => failing::fail(FailureKind::Crash, format!("{task} aborts"), site),
        }
    }
    // SAFETY: libc's own.
    unsafe { real!(abort())() };
    sys::exit(134)
}

fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "?";
    }
    // SAFETY: a string of the program's file.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}

unsafe extern "C" fn assertion(
    condition: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
    pc: usize,
) -> ! {
    if active() {
        let site = with(|run| run.site(pc));
        let (condition, function) = (text(condition), text(function));
        failing::fail(FailureKind::Assertion, format!("assertion `{condition}` failed in {function}"), site);
    }
    let real = real!(__assert_fail(*const c_char, *const c_char, c_uint, *const c_char));
    // SAFETY: our own arguments.
    unsafe { real(condition, file, line, function) };
    sys::exit(134)
}

hook! {
    _exit rsi => at_once;
    abort rdi => aborted;
    __assert_fail r8 => assertion;
}

/// The same under the name that C gives it, `_Exit`.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(panic = "abort", unsafe(export_name = "_Exit"))]
pub unsafe extern "C" fn exit_in_c() {
    core::arch::naked_asm!("jmp {exit}", exit = sym _exit)
}
