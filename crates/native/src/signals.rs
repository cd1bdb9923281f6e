//! Fatal signals: a crash is a failure like any other, with the place where it happened. And one that the server sends to
//! a run that shows no sign of life, which says where it is and ends.

use crate::arena;
use crate::run::{self, with};
use crate::sys::{self, nr};
use crate::{calls, failing, server};
use alloc::format;
use alloc::string::String;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use raddle_model::{Failure, FailureKind};

const SEGV: i32 = 11;
const KILL: i32 = 9;
/// Caught from the beginning: they belong to the instruction that runs.
const FATAL: [i32; 6] = [4, 5, 6, 7, 8, SEGV];

/// Those that end a process when nothing is said of them, in the order of their numbers.
const NAMES: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    SPARES,
    SPARES,
    SPARES,
    SPARES,
    SPARES,
    SPARES,
    SPARES,
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    SPARES,
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];
/// One that does not: it stops the process, lets it go on or does nothing.
const SPARES: &str = "";

/// What a signal is called; None for one that does not end a process by itself.
fn fatal(signal: i32) -> Option<String> {
    match NAMES.get(signal as usize - 1) {
        Some(&SPARES) => None,
        Some(&name) => Some(String::from(name)),
        None => Some(format!("signal {signal}")),
    }
}

/// Asks a run where it is. One of the two that libc keeps for itself: no program handles it, or leaves it waiting.
pub(crate) const NUDGE: i32 = 33;

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
    for signal in FATAL {
        // What comes while one is handled is known for that, see `crashed`.
        const AGAIN: usize = 0x4000_0000;
        handle_so(signal, crashed as *const () as usize, AGAIN);
    }
    handle(NUDGE, nudged as *const () as usize);
    // Who starts the program may have it ignored.
    if action(PIPE).handler == 0 {
        handle(PIPE, broken as *const () as usize);
    }
}

/// There is nobody at the other end of what the process writes to.
pub const PIPE: i32 = 13;

/// Whether the skin makes a call that may write to nobody, and whether it has.
static GIVES: AtomicBool = AtomicBool::new(false);
static IN_VAIN: AtomicBool = AtomicBool::new(false);

/// What is done about [`PIPE`] in place of nothing: a handler with the signal's information, on the stack for that.
pub fn pipe_handler() -> usize {
    broken as *const () as usize
}

/// Makes a call that gives something to a file. If there is nobody to take it, and the program says nothing of that, the
/// program is killed where it has called us from.
pub fn giving(pc: usize, call: impl FnOnce() -> isize) -> isize {
    GIVES.store(true, Ordering::Relaxed);
    let result = call();
    GIVES.store(false, Ordering::Relaxed);
    if IN_VAIN.swap(false, Ordering::Relaxed) {
        die_of(String::from(NAMES[PIPE as usize - 1]), pc);
    }
    result
}

unsafe extern "C" fn broken(signal: i32, info: *const u8, context: *const u8) {
    if !run::active() {
        // As if nobody had caught it: it comes again as soon as this returns.
        leave_to_the_system(signal as usize);
        // SAFETY: signals this process.
        unsafe { sys::call3(nr::KILL, sys::call3(nr::GETPID, 0, 0, 0) as usize, signal as usize, 0) };
    } else if GIVES.load(Ordering::Relaxed) {
        IN_VAIN.store(true, Ordering::Relaxed);
    } else {
        // Libc writes what a stream has kept.
        // SAFETY: passed on.
        unsafe { crashed(signal, info, context) }
    }
}

/// The program sends itself a signal that nobody handles. Comes back if that does not end the process; otherwise it is a
/// failure of whoever sends it, before the kernel hears of it.
pub fn sends_itself(signal: i32, pc: usize) {
    let handler = action(signal).handler;
    let default = [0, broken as *const () as usize, crashed as *const () as usize].contains(&handler);
    if let Some(name) = fatal(signal).filter(|_| default || signal == KILL) {
        die_of(name, pc);
    }
}

fn die_of(name: String, pc: usize) -> ! {
    let (site, task) = with(|run| (run.site(pc), run.engine.world().path(run.running)));
    failing::fail(FailureKind::Crash, format!("{task} is killed by {name}"), site)
}

/// What the kernel does about a signal.
fn action(signal: i32) -> Action {
    let mut action = Action { handler: 0, flags: 0, restorer: 0, mask: 0 };
    // SAFETY: a structure of the kernel's layout that lives until the call returns.
    unsafe { sys::call(nr::SIGACTION, [signal as usize, 0, (&raw mut action) as usize, 8, 0, 0]) };
    action
}

/// Has a function of ours called for a signal, on the stack for that.
pub(crate) fn handle(signal: i32, handler: usize) {
    handle_so(signal, handler, 0);
}

fn handle_so(signal: i32, handler: usize, how: usize) {
    const SIGINFO: usize = 4;
    const ON_STACK: usize = 0x0800_0000;
    const RESTORER: usize = 0x0400_0000;
    let flags = SIGINFO | ON_STACK | RESTORER | how;
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
    const CHILD: i32 = 17;
    let action = action(CHILD);
    const NOT_WAITED_FOR: usize = 2;
    action.handler == 0 && action.flags & NOT_WAITED_FOR == 0
}

/// In a copy, which has inherited the handler and not the timer.
pub(crate) fn sleep_again() {
    leave_to_the_system(ALARM);
}

fn leave_to_the_system(signal: usize) {
    let action = Action { handler: 0, flags: 0, restorer: 0, mask: 0 };
    // SAFETY: as above.
    unsafe { sys::call(nr::SIGACTION, [signal, (&raw const action) as usize, 0, 8, 0, 0]) };
}

/// Offsets in what the kernel hands to a handler.
const REASON: usize = 8;
const FAULT_ADDRESS: usize = 16;
const INSTRUCTION: usize = 40 + 16 * 8;

/// How far an interrupted run has come. A program may write over this, too: then it is none of these.
static STAGE: AtomicU32 = AtomicU32::new(CALM);
const CALM: u32 = 0;
/// It tells what has happened.
const TELLS: u32 = 0x0074_656c;
/// That is told, and what comes now may go wrong.
const TRIES: u32 = 0x0074_7279;

/// An interrupted run, which has been told of, does something that may crash. Then the run ends, and nothing else comes of it.
pub(crate) fn may_crash_again(work: impl FnOnce()) {
    STAGE.store(TRIES, Ordering::Relaxed);
    work();
    STAGE.store(TELLS, Ordering::Relaxed);
}

unsafe extern "C" fn crashed(signal: i32, info: *const u8, context: *const u8) {
    match STAGE.load(Ordering::Relaxed) {
        CALM => {}
        TRIES => {
            STAGE.store(TELLS, Ordering::Relaxed);
            crate::end::over()
        }
        // Nothing can be told. The instruction is done once more, and ends the process.
        _ => return leave_to_the_system(signal as usize),
    }
    if !run::active() {
        sys::exit(128 + signal);
    }
    // SAFETY: the kernel's structure, which lives while the handler runs.
    let (reason, address) =
        unsafe { (info.add(REASON).cast::<i32>().read(), info.add(FAULT_ADDRESS).cast::<usize>().read()) };
    // Otherwise somebody has sent it: then there is no address, and no instruction that is to blame.
    let is_fault = reason > 0 && signal != PIPE;
    let pc = interrupted(context);
    let name = NAMES[signal as usize - 1];
    let (site, message) = with(|run| {
        let (bottom, top) = run.threads[run.running.index()].fiber.stack_range();
        let task = run.engine.world().path(run.running);
        let how = if is_fault { "ended" } else { "killed" };
        // Addresses differ from process to process, and so have no place in a message.
        let what = match address {
            _ if signal != SEGV || !is_fault => String::new(),
            at if at < 1 << 16 => format!(": it follows a null pointer (offset {at})"),
            at if (bottom..top).contains(&at) => String::from(": its stack is full"),
            _ => String::from(": an address that it has no memory at"),
        };
        let world = run.engine.world();
        // Where libc writes differs: its system calls are made in several ways.
        let made_at = world.object(world.task(run.running).object).site;
        let site = if signal == PIPE { made_at } else { run.site(calls::after(pc)) };
        (site, format!("{task} is {how} by {name}{what}"))
    });
    failing::interrupt(FailureKind::Crash, message, site, pc)
}

/// The run shows no sign of life, and the server wants to know where it is. Whoever cannot say it now is ended.
unsafe extern "C" fn nudged(_: i32, _: *const u8, context: *const u8) {
    if STAGE.load(Ordering::Relaxed) != CALM || !run::active() {
        return;
    }
    let pc = interrupted(context);
    if let Some(failure) = with(|run| run.outside.standstill.take()) {
        let message = format!("nothing comes from outside for {} ms: {}", server::hang_ms(), failure.message);
        failing::give_up(Failure { kind: FailureKind::Hang, message, ..failure });
    }
    let (site, message) = with(|run| {
        let world = run.engine.world();
        let message =
            format!("{} reaches no operation for {} ms", world.path(run.running), server::hang_ms());
        // Where it is interrupted is chance, and how much is written down of what it did last hangs on who wants to see it.
        (world.object(world.task(run.running).object).site, message)
    });
    failing::interrupt(FailureKind::Hang, message, site, pc)
}

/// A run is interrupted. Says where.
fn interrupted(context: *const u8) -> usize {
    STAGE.store(TELLS, Ordering::Relaxed);
    crate::reset::interrupted();
    // SAFETY: the kernel's structure, which lives while the handler runs.
    unsafe { context.add(INSTRUCTION).cast::<usize>().read() }
}
