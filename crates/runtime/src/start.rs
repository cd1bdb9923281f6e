//! Where the process begins.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_native::run::active;
use raddle_native::{end, server};

unsafe extern "C" {
    fn on_exit(function: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
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
    if server::begins_at_main() {
        MAIN.store(main, Ordering::Relaxed);
        // SAFETY: our own arguments, but for main.
        return unsafe { real(at_main as *const () as usize, argc, argv, init, fini, rtld_fini, stack_end) };
    }
    if active() {
        await_exit();
    }
    // SAFETY: our own arguments.
    unsafe { real(main, argc, argv, init, fini, rtld_fini, stack_end) }
}

static MAIN: AtomicUsize = AtomicUsize::new(0);

/// Control begins here, and constructors have been called already.
unsafe extern "C" fn at_main(argc: c_int, argv: usize, envp: usize) -> c_int {
    let main = server::Main { function: MAIN.load(Ordering::Relaxed), argc, argv, envp };
    // SAFETY: what the startup code wants called.
    unsafe { server::main(main, await_exit) }
}

/// Whether libc will tell us of the end of the process.
// See `run::ACTIVE`.
#[cfg_attr(target_os = "linux", unsafe(link_section = ".data"))]
static AWAITED: AtomicBool = AtomicBool::new(false);

/// What is registered first is called last: when all that the program registers has been done.
fn await_exit() {
    if !AWAITED.swap(true, Ordering::Relaxed) {
        // SAFETY: the function never returns.
        unsafe { on_exit(last, core::ptr::null_mut()) };
    }
}

/// The end of the process by `exit` or by the return of main.
unsafe extern "C" fn last(code: c_int, _: *mut c_void) {
    AWAITED.store(false, Ordering::Relaxed);
    if active() {
        // SAFETY: a task is running.
        unsafe { end::returned(code) };
    }
}
