//! Fatal signals: a crash is a failure like any other, with the place where it happened.

use crate::arena;
use crate::run::{self, with};
use crate::sys::{self, nr};
use alloc::format;
use alloc::string::String;
use core::sync::atomic::{AtomicPtr, Ordering};

const SEGV: i32 = 11;
const FATAL: &[(i32, &str)] =
    &[(4, "SIGILL"), (5, "SIGTRAP"), (6, "SIGABRT"), (7, "SIGBUS"), (8, "SIGFPE"), (SEGV, "SIGSEGV")];

/// The handler works on a stack of its own: the program's may be what has run out.
const STACK: usize = 1 << 18;

/// The kernel's structure.
#[repr(C)]
struct Action {
    handler: usize,
    flags: usize,
    restorer: usize,
    mask: u64,
}

#[repr(C)]
struct AlternateStack {
    base: *mut u8,
    flags: i32,
    size: usize,
}

static STACK_BASE: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());

/// The calling kernel thread handles crashes on the stack for that. All have the same: one runs at a time, and whoever
/// has come there ends the run.
pub(crate) fn use_alternate_stack() {
    let stack = AlternateStack { base: STACK_BASE.load(Ordering::Relaxed), flags: 0, size: STACK };
    // SAFETY: a structure of the kernel's layout that lives until the call returns; the stack lives for ever.
    unsafe { sys::call3(nr::SIGALTSTACK, (&raw const stack) as usize, 0, 0) };
}

/// The stack for crashes, from its lowest address to its end.
pub(crate) fn stack() -> (usize, usize) {
    let bottom = STACK_BASE.load(Ordering::Relaxed) as usize;
    (bottom, bottom + STACK)
}

/// Catches fatal signals from now on.
pub fn watch_for_crashes() {
    STACK_BASE.store(arena::take(STACK), Ordering::Relaxed);
    use_alternate_stack();
    for &(signal, _) in FATAL {
        handle(signal, crashed as *const () as usize);
    }
}

/// Has a function of ours called for a signal, on the stack for that.
pub(crate) fn handle(signal: i32, handler: usize) {
    const SIGINFO: usize = 4;
    const ON_STACK: usize = 0x0800_0000;
    const RESTORER: usize = 0x0400_0000;
    let flags = SIGINFO | ON_STACK | RESTORER;
    let action = Action { handler, flags, restorer: sys::signal_return(), mask: 0 };
    // SAFETY: a structure of the kernel's layout that lives until the call returns.
    unsafe { sys::call(nr::SIGACTION, [signal as usize, (&raw const action) as usize, 0, 8, 0, 0]) };
}

const ALARM: usize = 14;

unsafe extern "C" fn woken(_: i32) {}

/// Interrupts what this process waits for every so many milliseconds; 0 for no more.
pub(crate) fn wake_every(milliseconds: u32) {
    const RESTORER: usize = 0x0400_0000;
    let action = Action {
        handler: woken as *const () as usize,
        flags: RESTORER,
        restorer: sys::signal_return(),
        mask: 0,
    };
    let microseconds = u64::from(milliseconds) * 1000;
    // Seconds and microseconds, between two and until the first.
    let (seconds, rest) = (microseconds / 1_000_000, microseconds % 1_000_000);
    let timer = [seconds, rest, seconds, rest];
    // SAFETY: structures of the kernel's layout that live until the calls return.
    unsafe {
        sys::call(nr::SIGACTION, [ALARM, (&raw const action) as usize, 0, 8, 0, 0]);
        sys::call3(nr::SETITIMER, 0, timer.as_ptr() as usize, 0);
    }
}

/// Whether nothing is done when a child of this process ends, but that somebody can wait for it.
pub(crate) fn leaves_children() -> bool {
    const CHILD: usize = 17;
    let mut action = Action { handler: 0, flags: 0, restorer: 0, mask: 0 };
    // SAFETY: as above.
    unsafe { sys::call(nr::SIGACTION, [CHILD, 0, (&raw mut action) as usize, 8, 0, 0]) };
    const NOT_WAITED_FOR: usize = 2;
    action.handler == 0 && action.flags & NOT_WAITED_FOR == 0
}

/// In a copy, which has inherited the handler and not the timer.
pub(crate) fn sleep_again() {
    let action = Action { handler: 0, flags: 0, restorer: 0, mask: 0 };
    // SAFETY: as above.
    unsafe { sys::call(nr::SIGACTION, [ALARM, (&raw const action) as usize, 0, 8, 0, 0]) };
}

/// Offsets in what the kernel hands to a handler.
const FAULT_ADDRESS: usize = 16;
const INSTRUCTION: usize = 40 + 16 * 8;

unsafe extern "C" fn crashed(signal: i32, info: *const u8, context: *const u8) {
    if !run::active() {
        sys::exit(128 + signal);
    }
    crate::reset::interrupted();
    // SAFETY: the kernel's structures, which live while the handler runs.
    let (address, pc) = unsafe {
        (info.add(FAULT_ADDRESS).cast::<usize>().read(), context.add(INSTRUCTION).cast::<usize>().read())
    };
    let name = FATAL.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, name)| name);
    let (site, message) = with(|run| {
        let (bottom, top) = run.threads[run.running.index()].fiber.stack_range();
        let task = run.engine.world().path(run.running);
        // Addresses differ from process to process, and so have no place in a message.
        let what = match address {
            _ if signal != SEGV => String::new(),
            at if at < 1 << 16 => format!(": it follows a null pointer (offset {at})"),
            at if (bottom..top).contains(&at) => String::from(": its stack is full"),
            _ => String::from(": an address that it has no memory at"),
        };
        // Sites are return addresses, which point behind the instruction.
        (run.site(pc + 1), format!("{task} is ended by {name}{what}"))
    });
    crate::failing::crash(message, site)
}
