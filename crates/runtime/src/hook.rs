//! How a function of the skin is written.

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};

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

/// A function of libc's that we interpose. A server has looked up all of them before it makes copies of itself; a
/// program that nobody controls finds each at its first use.
macro_rules! real {
    ($name:ident ( $($type:ty),* ) $(-> $result:ty)?) => {{
        static ADDRESS: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);
        const NAME: &core::ffi::CStr =
            match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!(),
            };
        #[used]
        #[cfg_attr(target_os = "linux", unsafe(link_section = "raddle_reals"))]
        static REAL: $crate::hook::Real = $crate::hook::Real { name: NAME, address: &ADDRESS };
        let address = match ADDRESS.load(core::sync::atomic::Ordering::Relaxed) {
            0 => REAL.find(),
            address => address,
        };
        assert!(address != 0, concat!("libc has no ", stringify!($name)));
        $crate::hook::function::<unsafe extern "C" fn($($type),*) $(-> $result)?>(address)
    }};
}

/// A function of libc's, and where it is; 0 if nobody has looked yet.
pub(crate) struct Real {
    pub(crate) name: &'static CStr,
    pub(crate) address: &'static AtomicUsize,
}

impl Real {
    #[cold]
    pub(crate) fn find(&self) -> usize {
        let address = raddle_native::libc::next(self.name);
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// Looks up all of them.
pub(crate) fn find_all() {
    unsafe extern "C" {
        // The linker's names for where the section begins and ends.
        static __start_raddle_reals: u8;
        static __stop_raddle_reals: u8;
    }
    let [start, stop] =
        [&raw const __start_raddle_reals, &raw const __stop_raddle_reals].map(|at| at.cast::<Real>());
    // SAFETY: between the two lies what `real!` has put there, and nothing else.
    unsafe {
        let all = core::slice::from_raw_parts(start, stop.offset_from_unsigned(start));
        for real in all {
            real.find();
        }
    }
}

/// A function that was found by name.
pub(crate) fn function<F: Copy>(address: usize) -> F {
    assert!(size_of::<F>() == size_of::<usize>(), "raddle bug: this is no function");
    // SAFETY: functions are addresses. That libc's function of this name has this type is up to who calls it.
    unsafe { core::mem::transmute_copy(&address) }
}
