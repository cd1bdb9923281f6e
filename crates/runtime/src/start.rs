//! Where the process begins.

use core::ffi::{c_char, c_int, c_void};
use raddle_model::SiteId;
use raddle_native::run::active;
use raddle_native::{end, server};

unsafe extern "C" {
    fn on_exit(function: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn fflush(stream: *mut c_void) -> c_int;
}

/// What the program's first instructions call. A server stays in here; its copies go on, and so does a program
/// that nobody controls.
///
/// # Safety
/// Called by the startup code only.
#[cfg_attr(panic = "abort", unsafe(no_mangle))]
pub unsafe extern "C" fn __libc_start_main(
    main: usize,
    argc: c_int,
    argv: *mut *mut c_char,
    init: usize,
    fini: usize,
    rtld_fini: usize,
    stack_end: usize,
) -> c_int {
    let real = real!(__libc_start_main(usize, c_int, *mut *mut c_char, usize, usize, usize, usize) -> c_int);
    // SAFETY: the environment lies behind the arguments and the null that ends them.
    unsafe { server::serve(argv.add(argc as usize + 1), crate::hook::find_all) };
    if active() {
        // What is registered first is called last: when all that the program registers has been done.
        // SAFETY: the function never returns.
        unsafe { on_exit(last, core::ptr::null_mut()) };
    }
    // SAFETY: our own arguments.
    unsafe { real(main, argc, argv, init, fini, rtld_fini, stack_end) }
}

/// The end of the process by `exit` or by the return of main.
unsafe extern "C" fn last(code: c_int, _: *mut c_void) {
    if active() {
        // SAFETY: all streams; libc would do the same after us.
        unsafe { fflush(core::ptr::null_mut()) };
        end::process_ends(code, SiteId::UNKNOWN);
    }
}
