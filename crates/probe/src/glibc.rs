//! The parts of glibc's own threads that a thread without a kernel thread needs.

use core::ffi::{CStr, c_void};
use core::mem::transmute;

/// What is looked up by name, beyond glibc's interface.
const NEEDED: [&CStr; 9] = [
    c"_dl_allocate_tls",
    c"_dl_deallocate_tls",
    c"_dl_get_tls_static_info",
    c"_thread_db_sizeof_pthread",
    c"_rtld_global",
    c"__ctype_init",
    c"__call_tls_dtors",
    c"__pthread_register_cancel",
    c"__sigsetjmp",
];

pub(crate) fn ask() -> Result<String, String> {
    // SAFETY: gives a static string.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy();
    let found = NEEDED.map(symbol);
    let missing: Vec<_> = NEEDED
        .iter()
        .zip(&found)
        .filter(|(_, at)| at.is_null())
        .map(|(name, _)| name.to_string_lossy())
        .collect();
    if !missing.is_empty() {
        return Err(format!("glibc {version} lacks {}", missing.join(", ")));
    }
    let (mut size, mut align) = (0_usize, 0_usize);
    // SAFETY: the functions have had these signatures since glibc 2.1; the second fills its arguments.
    let (allocate, information) = unsafe {
        (
            transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> *mut c_void>(found[0]),
            transmute::<*mut c_void, unsafe extern "C" fn(*mut usize, *mut usize)>(found[2]),
        )
    };
    // SAFETY: as above.
    unsafe { information(&raw mut size, &raw mut align) };
    if size == 0 || !align.is_power_of_two() {
        return Err(format!(
            "glibc {version} gives thread-local storage of {size} bytes, aligned to {align}"
        ));
    }
    // SAFETY: the block is for this; null makes glibc allocate all of it.
    let block = unsafe { allocate(core::ptr::null_mut()) };
    if block.is_null() {
        return Err(format!("glibc {version} gives no thread-local storage"));
    }
    Ok(format!("glibc {version}; thread-local storage of {size} bytes was made"))
}

fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: a lookup by name changes nothing.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}
