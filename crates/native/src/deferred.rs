//! Signals that the program handles itself. They come at any instruction, in the middle of the runtime too; so they
//! are noted when they come and handled at the next operation, on whichever thread that is. Those that the program
//! sends itself are in `sent`.

use crate::io::Poll;
use crate::run::with;
use crate::{idle, sent, sys, timers};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

/// Most signals there are.
pub const SIGNALS: usize = 65;

/// What the program wants done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handler {
    /// Its function; 0 if there is none.
    pub function: usize,
    /// As the program gave them.
    pub flags: i32,
}

struct Table(UnsafeCell<[Handler; SIGNALS]>);

// SAFETY: written and read on the program's one kernel thread, outside of signal handlers.
unsafe impl Sync for Table {}

static HANDLERS: Table = Table(UnsafeCell::new([Handler { function: 0, flags: 0 }; SIGNALS]));
static PENDING: AtomicU64 = AtomicU64::new(0);

/// The function is to be handed more than the signal's number.
const SIGINFO: i32 = 4;
/// It is to be used once.
const ONCE: i32 = 0x8000_0000_u32 as i32;

/// Sets what is to be done about a signal, and gives back what was.
pub fn set(signal: usize, handler: Handler) -> Handler {
    // SAFETY: see `Table`.
    let table = unsafe { &mut *HANDLERS.0.get() };
    core::mem::replace(&mut table[signal], handler)
}

/// What is to be done about a signal.
pub fn get(signal: usize) -> Handler {
    // SAFETY: see `Table`.
    unsafe { (*HANDLERS.0.get())[signal] }
}

/// A signal has come: the kernel calls this.
///
/// # Safety
/// As a signal handler.
pub unsafe extern "C" fn arrived(signal: i32) {
    PENDING.fetch_or(1 << (signal as u64 - 1), Ordering::Relaxed);
}

/// Whether something has come since the last operation.
#[inline(always)]
pub(crate) fn is_pending() -> bool {
    PENDING.load(Ordering::Relaxed) != 0
}

/// What stands for the end of timers that make threads: no program has this signal.
pub(crate) const TIMER: i32 = 33;

/// Whether the program handles any signal.
pub(crate) fn are_any_handled() -> bool {
    (1..SIGNALS).any(|signal| get(signal).function != 0)
}

/// What has come and is not handled yet, a bit for each; it is for the caller to see to that.
pub(crate) fn take() -> u64 {
    PENDING.swap(0, Ordering::Relaxed)
}

/// Nobody can handle these now.
pub(crate) fn leave(signals: u64) {
    PENDING.fetch_or(signals, Ordering::Relaxed);
}

/// Waits for one of the files or a signal, at most so many nanoseconds.
pub(crate) fn wait_unless_pending(polls: &mut [Poll], nanoseconds: u64) {
    // What is left is what nobody can handle.
    let left = PENDING.load(Ordering::Relaxed);
    let mask = sys::swap_mask(u64::MAX);
    if PENDING.load(Ordering::Relaxed) & !left == 0 {
        idle::sleep(polls, nanoseconds, mask);
    }
    sys::swap_mask(mask);
}

/// Handles what has come since the last operation. The program's code runs in here.
#[inline(always)]
pub fn handle() {
    if is_pending() {
        handle_pending();
    }
}

#[cold]
fn handle_pending() {
    // What the running thread does not want to hear now waits for one that does.
    let mask = with(|run| run.threads[run.running.index()].mask) & !bit(TIMER);
    let pending = take();
    for signal in (1..=64).filter(|&signal| pending & bit(signal) != 0) {
        if sent::hand_over(signal) {
            continue;
        }
        match mask & bit(signal) {
            0 => call(signal),
            masked => leave(masked),
        }
    }
}

fn bit(signal: i32) -> u64 {
    1 << (signal as u64 - 1)
}

/// Does what the program wants done about a signal.
pub(crate) fn call(signal: i32) {
    if signal == TIMER {
        return timers::make_threads();
    }
    let Handler { function, flags } = get(signal as usize);
    if function == 0 {
        return;
    }
    if flags & ONCE != 0 {
        set(signal as usize, Handler { function: 0, flags: 0 });
    }
    // SAFETY: the program's own function, of the type that it has said.
    unsafe {
        if flags & SIGINFO != 0 {
            // All that is known is the number; the rest is as if the process had sent it to itself.
            let mut info = [0i32; 32];
            info[0] = signal;
            let context = [0u64; 128];
            let function: extern "C" fn(i32, *const i32, *const u64) = core::mem::transmute(function);
            function(signal, info.as_ptr(), context.as_ptr());
        } else {
            let function: extern "C" fn(i32) = core::mem::transmute(function);
            function(signal);
        }
    }
}
