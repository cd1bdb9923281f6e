//! How a function of the skin is written.

/// A function of the program's that hands its arguments on, and as the last one the address that it returns to.
/// The register is that of the first argument which the function does not have.
macro_rules! hook {
    ($($name:ident $register:ident => $inner:path;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`, with the place that it was called from.")]
        ///
        /// # Safety
        /// As for the function of this name that the program expects.
        #[unsafe(naked)]
        #[cfg_attr(panic = "abort", unsafe(no_mangle))]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                concat!("mov ", stringify!($register), ", [rsp]"),
                "jmp {inner}",
                inner = sym $inner,
            )
        }
    )*};
}

/// A function of libc's that we interpose, found at its first use.
macro_rules! real {
    ($name:ident ( $($type:ty),* ) $(-> $result:ty)?) => {{
        use core::sync::atomic::{AtomicUsize, Ordering};
        static ADDRESS: AtomicUsize = AtomicUsize::new(0);
        let mut address = ADDRESS.load(Ordering::Relaxed);
        if address == 0 {
            const NAME: &core::ffi::CStr =
                match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!(),
                };
            address = raddle_native::libc::next(NAME);
            assert!(address != 0, concat!("libc has no ", stringify!($name)));
            ADDRESS.store(address, Ordering::Relaxed);
        }
        $crate::hook::function::<unsafe extern "C" fn($($type),*) $(-> $result)?>(address)
    }};
}

/// A function that was found by name.
pub(crate) fn function<F: Copy>(address: usize) -> F {
    assert!(size_of::<F>() == size_of::<usize>(), "raddle bug: this is no function");
    // SAFETY: functions are addresses. That libc's function of this name has this type is up to who calls it.
    unsafe { core::mem::transmute_copy(&address) }
}
