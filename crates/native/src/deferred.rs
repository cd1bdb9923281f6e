//! Signals that the program handles itself. They come at any instruction, in the middle of the runtime too; so they
//! are noted when they come and handled at the next operation, on whichever thread that is.

use crate::run::{active, with};
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};
use raddle_model::TaskId;

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

/// Signals for one thread.
#[derive(Clone, Default, Debug)]
pub struct Sent {
    all: Vec<(TaskId, i32)>,
}

impl Sent {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// A thread of the program sends a signal to another: it is handled when that one runs next.
pub fn send(task: TaskId, signal: i32) {
    with(|run| run.sent.all.push((task, signal)));
}

/// Whether a signal has come since the last operation.
#[inline(always)]
pub fn is_pending() -> bool {
    PENDING.load(Ordering::Relaxed) != 0
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
    let pending = PENDING.swap(0, Ordering::Relaxed);
    (1..=64).filter(|signal| pending >> (signal - 1) & 1 == 1).for_each(call);
}

/// Handles what was sent to the running thread.
pub fn handle_sent() {
    while active() {
        let mine = with(|run| {
            let me = run.running;
            let at = run.sent.all.iter().position(|(task, _)| *task == me)?;
            Some(run.sent.all.remove(at).1)
        });
        let Some(signal) = mine else { break };
        call(signal);
    }
}

fn call(signal: i32) {
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
