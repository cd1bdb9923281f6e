//! Syscall User Dispatch: system calls as signals, for those that go past the C library.

use crate::failed;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

const PR_SET_SYSCALL_USER_DISPATCH: i32 = 59;
const ON: usize = 1;
const OFF: usize = 0;
const BLOCK: u8 = 1;
const ALLOW: u8 = 0;

/// The kernel reads it at each system call.
static SELECTOR: AtomicU8 = AtomicU8::new(ALLOW);
static CAUGHT: AtomicU32 = AtomicU32::new(0);

extern "C" fn catch(_: i32) {
    // The way back from here is a system call too.
    SELECTOR.store(ALLOW, Ordering::SeqCst);
    CAUGHT.fetch_add(1, Ordering::SeqCst);
}

pub(crate) fn ask() -> Result<String, String> {
    // SAFETY: the handler touches two atomics only; the kernel is given the address of one of them, a static.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = catch as *const () as usize;
        if libc::sigaction(libc::SIGSYS, &raw const action, core::ptr::null_mut()) != 0 {
            return Err(failed("sigaction"));
        }
        if libc::prctl(PR_SET_SYSCALL_USER_DISPATCH, ON, 0_usize, 0_usize, SELECTOR.as_ptr()) != 0 {
            return Err(failed("prctl(PR_SET_SYSCALL_USER_DISPATCH)"));
        }
        SELECTOR.store(BLOCK, Ordering::SeqCst);
        libc::syscall(libc::SYS_getppid);
        SELECTOR.store(ALLOW, Ordering::SeqCst);
        libc::prctl(PR_SET_SYSCALL_USER_DISPATCH, OFF, 0_usize, 0_usize, 0_usize);
    }
    match CAUGHT.load(Ordering::SeqCst) {
        1 => Ok(String::from("a system call was caught")),
        count => Err(format!("one system call was made, and {count} were caught")),
    }
}
