//! Reading and writing the thread pointer without a system call.

use core::arch::asm;

/// The kernel lets programs use the instructions (`HWCAP2_FSGSBASE`).
const ALLOWED: u64 = 1 << 1;

/// Whether the instructions may be tried at all.
pub(crate) fn is_allowed() -> Result<(), String> {
    // SAFETY: asks the loader for a number.
    let features = unsafe { libc::getauxval(libc::AT_HWCAP2) };
    if features & ALLOWED == 0 {
        return Err(String::from(
            "the kernel does not allow rdfsbase and wrfsbase (needs 5.9, and no nofsgsbase)",
        ));
    }
    Ok(())
}

/// What a thread-local variable is found through: glibc keeps a copy of the thread pointer at offset 16 of what it
/// points to.
#[repr(C, align(64))]
struct Block([u64; 8]);

pub(crate) fn ask() -> Result<String, String> {
    is_allowed()?;
    let mut other = Block([0; 8]);
    let block = &raw mut other;
    let there = block as u64;
    let (before, own, seen, after): (u64, u64, u64, u64);
    // SAFETY: the kernel allows the instructions. Between the two writes of the thread pointer nothing is read through it
    // but the copy that lies in the block; a signal handler in between would not find its variables, and there is none.
    unsafe {
        (*block).0[2] = there;
        asm!(
            "rdfsbase {before}",
            "mov {own}, fs:[0x10]",
            "wrfsbase {there}",
            "mov {seen}, fs:[0x10]",
            "wrfsbase {before}",
            "rdfsbase {after}",
            there = in(reg) there,
            before = out(reg) before,
            own = out(reg) own,
            seen = out(reg) seen,
            after = out(reg) after,
            options(nostack, preserves_flags)
        );
    }
    if before != own || after != before {
        return Err(format!("the thread pointer is {own:#x}, but read as {before:#x} and {after:#x}"));
    }
    if seen != there {
        return Err(format!("the thread pointer was set to {there:#x}, and led to {seen:#x}"));
    }
    Ok(String::from("the thread pointer was moved to another block and back by wrfsbase"))
}
