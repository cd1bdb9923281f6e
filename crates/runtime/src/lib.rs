//! The skin of the native front end: every name that a program under test is linked to. Each function says where
//! it was called from and hands over to `raddle-native`, or to libc if nobody controls this process.
//!
//! The names are given in the profile `runtime` only: in any other build this is an ordinary library that takes
//! no name away from anybody, so that it can be checked like the rest.
#![no_std]

extern crate alloc;
#[cfg(not(panic = "abort"))]
extern crate std;

#[macro_use]
mod hook;
#[macro_use]
mod point;

pub mod annotations;
pub mod atomics;
pub mod c11;
pub mod cancel;
pub mod clocks;
pub mod common;
pub mod ends;
mod exception;
pub mod file_locks;
pub mod files;
pub mod mappings;
pub mod memory;
pub mod names;
pub mod polls;
pub mod processes;
pub mod pthread;
pub mod settings;
pub mod signals;
pub mod start;
pub mod stdio;
pub mod strings;
pub mod sync;
pub mod syscalls;
pub mod text;
pub mod traits;
pub mod tsan;
pub mod wide;

/// Tells a program that is linked to us from others, without starting it.
#[cfg_attr(panic = "abort", unsafe(export_name = "raddle_runtime_version"))]
pub static VERSION: u32 = 1;

#[cfg(panic = "abort")]
mod lonely {
    //! What std has for everybody, and a library without it must have itself.

    use core::panic::PanicInfo;
    use raddle_native::heap::Heap;
    use raddle_native::sys;

    #[global_allocator]
    static HEAP: Heap = Heap::new();

    struct Speaker;

    impl core::fmt::Write for Speaker {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            sys::write_all(2, text.as_bytes());
            Ok(())
        }
    }

    #[panic_handler]
    fn panicked(info: &PanicInfo<'_>) -> ! {
        use core::fmt::Write;
        let _ = writeln!(Speaker, "raddle: a bug in raddle's runtime: {info}");
        sys::exit(97)
    }

    /// Named by what core was compiled with; nothing here unwinds.
    #[unsafe(no_mangle)]
    extern "C" fn rust_eh_personality() {}
}
