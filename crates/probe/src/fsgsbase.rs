//! Reading and writing the thread pointer without a system call.

use core::arch::asm;

/// The kernel lets programs use the instructions (`HWCAP2_FSGSBASE`).
const ALLOWED: u64 = 1 << 1;

pub(crate) fn ask() -> Result<String, String> {
    // SAFETY: asks the loader for a number.
    let features = unsafe { libc::getauxval(libc::AT_HWCAP2) };
    if features & ALLOWED == 0 {
        return Err(String::from(
            "the kernel does not allow rdfsbase and wrfsbase (needs 5.9, and no nofsgsbase)",
        ));
    }
    let (before, own, after): (u64, u64, u64);
    // SAFETY: the kernel allows the instructions; the thread pointer is set to what it is. glibc keeps a copy of
    // it at offset 16 of what it points to.
    unsafe {
        asm!(
            "rdfsbase {before}",
            "mov {own}, fs:[0x10]",
            "wrfsbase {before}",
            "rdfsbase {after}",
            before = out(reg) before,
            own = out(reg) own,
            after = out(reg) after,
            options(nostack, preserves_flags)
        );
    }
    if before != own || after != before {
        return Err(format!("the thread pointer is {own:#x}, but read as {before:#x} and {after:#x}"));
    }
    Ok(String::from("rdfsbase and wrfsbase work"))
}
