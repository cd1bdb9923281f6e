//! How a function of the skin is written at which a thread can be cancelled: libc unwinds the thread from here, so no
//! frame of ours may be left. If nobody controls the process libc's own function does all.

use core::sync::atomic::{AtomicUsize, Ordering};
use raddle_native::cancel::CANCELLED;

/// The address of libc's function of this name, kept in `place`.
pub(crate) fn find(place: &AtomicUsize, name: &core::ffi::CStr) -> usize {
    let address = raddle_native::libc::next(name);
    assert!(address != 0, "libc has no {name:?}");
    place.store(address, Ordering::Relaxed);
    address
}

/// As `hook!`. `in` is the register of the first argument that the function does not have; a function with six
/// arguments has none, and gets the address as its seventh, on the stack.
macro_rules! point {
    ($($name:ident $register:ident => $inner:path;)*) => {$(
        point! { @one $name, concat!("mov ", stringify!($register), ", [rsp]"), "sub rsp, 8", $inner }
    )*};
    (six: $($name:ident => $inner:path;)*) => {$(
        point! { @one $name, "", "push [rsp]", $inner }
    )*};
    (@one $name:ident, $tell:expr, $align:expr, $inner:path) => {
        #[doc = concat!("`", stringify!($name), "`, a cancellation point.")]
        ///
        /// # Safety
        /// As for the function of this name that the program expects.
        #[unsafe(naked)]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub unsafe extern "C" fn $name() {
            static REAL: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);
            extern "C" fn find() -> usize {
                const NAME: &core::ffi::CStr =
                    match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!(),
                    };
                $crate::point::find(&REAL, NAME)
            }
            core::arch::naked_asm!(
                // Said for whoever looks for callers, or unwinds.
                ".cfi_startproc",
                "cmp byte ptr [rip + {active}], 0",
                "je 3f",
                $tell,
                $align,
                ".cfi_def_cfa_offset 16",
                "call {inner}",
                "add rsp, 8",
                ".cfi_def_cfa_offset 8",
                "cmp byte ptr [rip + {cancelled}], 0",
                "jne {leave}",
                "ret",
                "3:",
                "mov rax, [rip + {real}]",
                "test rax, rax",
                "jnz 4f",
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "sub rsp, 8",
                ".cfi_def_cfa_offset 64",
                "call {find}",
                "add rsp, 8",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                ".cfi_def_cfa_offset 8",
                "4:",
                "jmp rax",
                ".cfi_endproc",
                active = sym raddle_native::run::ACTIVE,
                inner = sym $inner,
                cancelled = sym raddle_native::cancel::CANCELLED,
                leave = sym $crate::point::leave,
                real = sym REAL,
                find = sym find,
            )
        }
    };
}

/// The thread ends where the program has called us.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn leave() {
    core::arch::naked_asm!(
        "mov byte ptr [rip + {cancelled}], 0",
        "mov rdi, -1",
        "jmp {exit}",
        cancelled = sym CANCELLED,
        exit = sym crate::pthread::pthread_exit,
    )
}
