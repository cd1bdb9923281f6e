//! The other backend: each thread of the program has a kernel thread of its own, on the very stack and with the very
//! thread pointer that its fiber would have, and exactly one of them runs at any time. A switch hands the turn over
//! through futexes. Who is picked, and what the program sees, is the same as with fibers alone; it only takes longer.
//!
//! For machines whose processor or kernel does not let programs set the thread pointer themselves (`wrfsbase`).
//!
//! What the kernel knows of the one thread that runs all fibers goes from hand to hand with the turn: who waits for its
//! turn leaves all signals waiting, and who gets it takes over the mask. So a signal from outside interrupts whoever
//! runs, and nobody else.

use crate::{signals, sys};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Whether the fibers of this process have kernel threads of their own.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The signals that the one who runs leaves waiting.
static MASK: AtomicU64 = AtomicU64::new(0);

/// Whether fibers have kernel threads of their own.
pub fn are_taken() -> bool {
    TAKEN.load(Ordering::Relaxed)
}

/// Whether fibers will have kernel threads of their own. Before there are any.
pub fn take(taken: bool) {
    TAKEN.store(taken, Ordering::Relaxed);
}

/// Whether fibers do without kernel threads here: whether the kernel lets programs set the thread pointer themselves.
pub fn fibers_suffice() -> bool {
    const FEATURES: u64 = 26; // AT_HWCAP2
    const FSGSBASE: u64 = 1 << 1;
    unsafe extern "C" {
        fn getauxval(what: u64) -> u64;
    }
    // SAFETY: looks up a number.
    unsafe { getauxval(FEATURES) & FSGSBASE != 0 }
}

const WAITS: u32 = 0;
const RUNS: u32 = 1;
const ENDS: u32 = 2;

/// What a fiber's kernel thread waits for. It must not move.
#[derive(Default, Debug)]
pub struct Turns {
    turn: AtomicU32,
    // The kernel thread's number as long as it lives; 0 for that of main, which nobody here has made.
    tid: AtomicU32,
}

/// What a new kernel thread needs to know to begin.
#[repr(C)]
struct Beginning {
    turns: *const Turns,
    entry: usize,
    fiber: usize,
}

impl Turns {
    /// Makes the kernel thread, which will go to `entry` with the fiber in its second register when its turn comes for the
    /// first time. False if the system refuses.
    ///
    /// # Safety
    /// The stack and the thread pointer must be nobody else's until [`Turns::end`], and the entry what a switch leads to.
    pub(crate) unsafe fn begin(&self, sp: usize, fs: usize, entry: usize, fiber: usize) -> bool {
        let beginning = sp as *mut Beginning;
        // What it inherits: nothing reaches it before its first turn.
        let mask = sys::swap_mask(u64::MAX);
        // SAFETY: there is room above a new fiber's stack pointer, and nobody else uses it; the rest is passed on.
        let begun = unsafe {
            beginning.write(Beginning { turns: self, entry, fiber });
            sys::new_thread(sp, fs, &raw const self.tid, first as *const () as usize, beginning as usize)
        };
        sys::swap_mask(mask);
        begun
    }

    /// The turn goes from this one to another. Comes back when it is this one's turn again.
    pub(crate) fn hand_over(&self, to: &Turns) {
        MASK.store(sys::swap_mask(u64::MAX), Ordering::Relaxed);
        to.give(RUNS);
        self.wait();
    }

    fn give(&self, turn: u32) {
        self.turn.store(turn, Ordering::Release);
        sys::tell_change(&self.turn);
    }

    fn wait(&self) {
        loop {
            match self.turn.swap(WAITS, Ordering::Acquire) {
                RUNS => break,
                ENDS => loop {
                    // SAFETY: ends this kernel thread alone; nothing of its stack is used afterwards.
                    unsafe { sys::call3(sys::nr::EXIT, 0, 0, 0) };
                },
                _ => sys::await_change(&self.turn, WAITS),
            }
        }
        sys::swap_mask(MASK.load(Ordering::Relaxed));
    }

    /// The fiber is over: ends its kernel thread, if it has one, and waits until its stack is nobody's.
    pub(crate) fn end(&self) {
        if self.tid.load(Ordering::Acquire) == 0 {
            return;
        }
        self.give(ENDS);
        loop {
            match self.tid.load(Ordering::Acquire) {
                0 => break,
                tid => sys::await_change(&self.tid, tid),
            }
        }
    }
}

/// Where a kernel thread begins.
#[unsafe(naked)]
unsafe extern "C" fn first() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "mov r12, [rdi + 8]",
        "mov r13, [rdi + 16]",
        "mov rdi, [rdi]",
        "call {wait}",
        "mov rsi, r13",
        "jmp r12",
        ".cfi_endproc",
        wait = sym first_turn,
    )
}

unsafe extern "C" fn first_turn(turns: &Turns) {
    signals::use_alternate_stack();
    turns.wait();
}
