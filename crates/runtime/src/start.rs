//! Where the process begins.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_native::run::{active, with};
use raddle_native::{end, fini, server};

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
    let real: Real =
        real!(__libc_start_main(usize, c_int, *mut *mut c_char, usize, usize, usize, usize) -> c_int);
    await_quick_exit();
    // SAFETY: the environment lies behind the arguments and the null that ends them.
    unsafe { server::serve(argv, argv.add(argc as usize + 1), crate::hook::find_all) };
    if server::begins_at_main() {
        MAIN.store(main, Ordering::Relaxed);
        let (main, rtld_fini) = (at_main as *const () as usize, instead_of(rtld_fini));
        // SAFETY: our own arguments, but for main and the end of modules.
        return unsafe { on_a_new_page(main, argc, argv, init, fini, rtld_fini, stack_end, real) };
    }
    if active() {
        await_exit();
        MAIN.store(main, Ordering::Relaxed);
        let (main, rtld_fini) = (main_and_end as *const () as usize, instead_of(rtld_fini));
        // SAFETY: our own arguments, but for main and the end of modules.
        return unsafe { on_a_new_page(main, argc, argv, init, fini, rtld_fini, stack_end, real) };
    }
    // SAFETY: our own arguments.
    unsafe { real(main, argc, argv, init, fini, rtld_fini, stack_end) }
}

/// What libc has under the name of [`__libc_start_main`].
type Real = unsafe extern "C" fn(usize, c_int, *mut *mut c_char, usize, usize, usize, usize) -> c_int;

/// Calls it with a stack that begins with a page: what the main task has on it is then on as few as can be, and each copy of
/// the process has to copy those that it writes to.
#[unsafe(naked)]
unsafe extern "C" fn on_a_new_page(
    main: usize,
    argc: c_int,
    argv: *mut *mut c_char,
    init: usize,
    fini: usize,
    rtld_fini: usize,
    stack_end: usize,
    real: Real,
) -> c_int {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "and rsp, -4096",
        "sub rsp, 8",
        "push [rbp + 16]",
        "call [rbp + 24]",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// What has the modules end.
static MODULES_END: AtomicUsize = AtomicUsize::new(0);

fn instead_of(rtld_fini: usize) -> usize {
    if rtld_fini == 0 {
        return 0;
    }
    MODULES_END.store(rtld_fini, Ordering::Relaxed);
    modules_end as *const () as usize
}

/// All that the program has registered for the end of the process has been done. glibc tells the code of the end to everything that
/// is registered.
unsafe extern "C" fn modules_end(_: usize, code: c_int) {
    if active() && fini::is_quiet() {
        // SAFETY: a task is running.
        unsafe { end::returned(code) };
    }
    // SAFETY: what the startup code wants called.
    unsafe { crate::hook::function::<unsafe extern "C" fn()>(MODULES_END.load(Ordering::Relaxed))() }
}

static MAIN: AtomicUsize = AtomicUsize::new(0);

/// Control begins here, and constructors have been called already.
unsafe extern "C" fn at_main(argc: c_int, argv: usize, envp: usize) -> c_int {
    let main = server::Main { function: MAIN.load(Ordering::Relaxed), argc, argv, envp };
    // SAFETY: what the startup code wants called.
    unsafe { server::main(main, await_exit) }
}

/// Whether anything is to be done at the end of the process.
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// The program has something done at the end of the process, or of a thread.
pub(crate) fn registers(_: usize, _: usize, _: usize) {
    REGISTERED.store(true, Ordering::Relaxed);
}

/// The program, from its constructors on, is under control.
unsafe extern "C" fn main_and_end(argc: c_int, argv: usize, envp: usize) -> c_int {
    type Main = unsafe extern "C" fn(c_int, usize, usize) -> c_int;
    // SAFETY: what the startup code wants called.
    let code = unsafe { crate::hook::function::<Main>(MAIN.load(Ordering::Relaxed))(argc, argv, envp) };
    // To have libc find out that nothing is to be done would cost every run a page.
    if active() && !REGISTERED.load(Ordering::Relaxed) && fini::is_quiet() {
        // SAFETY: a task is running.
        unsafe { end::returned(code) };
    }
    code
}

/// Whether libc will tell us of the end of the process.
// See `run::ACTIVE`.
#[cfg_attr(target_os = "linux", unsafe(link_section = ".data"))]
static AWAITED: AtomicBool = AtomicBool::new(false);

/// What is registered first is called last: when all that the program registers has been done.
fn await_exit() {
    if !AWAITED.swap(true, Ordering::Relaxed) {
        let on_exit = real!(on_exit(unsafe extern "C" fn(c_int, *mut c_void), *mut c_void) -> c_int);
        // SAFETY: the function never returns.
        unsafe { on_exit(last, core::ptr::null_mut()) };
    }
}

/// Where the program has called `quick_exit` from.
static QUICKLY_FROM: AtomicUsize = AtomicUsize::new(0);

/// Before the program registers anything for that, its constructors included: what is registered first is called last.
fn await_quick_exit() {
    type Last = unsafe extern "C" fn(*mut c_void, c_int);
    let register = real!(__cxa_at_quick_exit(Last, *mut c_void) -> c_int);
    // SAFETY: glibc tells the code of the end to everything that is registered.
    unsafe { register(last_quickly, core::ptr::null_mut()) };
}

/// The program ends at once, with what it has registered for that.
unsafe extern "C" fn quickly(code: c_int, pc: usize) -> c_int {
    QUICKLY_FROM.store(pc, Ordering::Relaxed);
    // SAFETY: our own argument. It does not return.
    unsafe { real!(quick_exit(c_int) -> c_int)(code) }
}

hook! {
    quick_exit rsi => quickly;
}

/// The end of the process by `quick_exit`.
unsafe extern "C" fn last_quickly(_: *mut c_void, code: c_int) {
    if active() {
        let site = with(|run| run.site(QUICKLY_FROM.load(Ordering::Relaxed)));
        end::process_ends(code, site);
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
