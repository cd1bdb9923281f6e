//! The two sides of a process that repeats runs: the program's, with all its stacks, and the one that undoes.

use core::arch::{asm, global_asm};

global_asm!(
    // rdi: where to put the old stack pointer; rsi: the new one; rdx: the new thread pointer.
    ".globl raddle_change_sides",
    ".hidden raddle_change_sides",
    "raddle_change_sides:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr [rsp]",
    "fnstcw [rsp+4]",
    "mov [rdi], rsp",
    "mov rsp, rsi",
    "wrfsbase rdx",
    "ldmxcsr [rsp]",
    "fldcw [rsp+4]",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
);

unsafe extern "C" {
    fn raddle_change_sides(old: *mut u64, new: u64, fs: u64);
}

/// Puts below the top of a stack what the first change takes off it, and gives back where: it begins at `entry`, as if
/// that had been called.
pub(super) fn begin(top: usize, entry: usize) -> u64 {
    let frame = ((top & !63) - 72) as *mut u64;
    let mut control = 0u64;
    // SAFETY: the frame lies at the top of a stack that nobody uses.
    unsafe {
        asm!("stmxcsr [{0}]", "fnstcw [{0}+4]", in(reg) &raw mut control, options(nostack));
        frame.write(control);
        for slot in 1..7 {
            frame.add(slot).write(0);
        }
        frame.add(7).write(entry as u64);
    }
    frame as u64
}

/// Goes on with the stack `to`, and puts into `from` where this one is to go on.
///
/// # Safety
/// `to` must be a stack that was prepared or left, and `fs` its thread pointer.
pub(super) unsafe fn change(from: *mut u64, to: u64, fs: u64) {
    // SAFETY: the caller says so.
    unsafe { raddle_change_sides(from, to, fs) }
}
