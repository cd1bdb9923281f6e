//! Two kernel threads of which one waits while the other runs, as a run without fibers goes.

use crate::failed;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

const SIZE: usize = 1 << 16;
const OURS: u32 = 0;
const THEIRS: u32 = 1;

/// Whose turn it is.
static TURN: AtomicU32 = AtomicU32::new(OURS);

fn hand_over(to: u32) {
    TURN.store(to, Ordering::SeqCst);
    // SAFETY: the word is a static.
    unsafe { libc::syscall(libc::SYS_futex, TURN.as_ptr(), libc::FUTEX_WAKE, 1) };
}

/// Waits for a turn; false if it does not come.
fn wait_for(turn: u32) -> bool {
    let limit = libc::timespec { tv_sec: 5, tv_nsec: 0 };
    while TURN.load(Ordering::SeqCst) != turn {
        // SAFETY: the word is a static, and the limit lives until the call returns.
        let result = unsafe {
            libc::syscall(
                libc::SYS_futex,
                TURN.as_ptr(),
                libc::FUTEX_WAIT,
                1 - turn,
                core::ptr::from_ref(&limit),
            )
        };
        if result != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ETIMEDOUT) {
            return false;
        }
    }
    true
}

/// It has the thread pointer of whoever asks, who waits.
extern "C" fn other(_: *mut c_void) -> i32 {
    if wait_for(THEIRS) {
        hand_over(OURS);
    }
    0
}

pub(crate) fn ask() -> Result<String, String> {
    let mut stack = vec![0_u128; SIZE / 16];
    let shared =
        libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::CLONE_SYSVSEM;
    // SAFETY: a thread on memory of its own, which touches nothing but a static and ends while that memory is there.
    let begun = unsafe {
        let top = stack.as_mut_ptr().add(stack.len());
        libc::clone(other, top.cast(), shared | libc::CLONE_THREAD, core::ptr::null_mut())
    };
    // The thread may be about to end still.
    std::mem::forget(stack);
    if begun < 0 {
        return Err(failed("clone"));
    }
    hand_over(THEIRS);
    if wait_for(OURS) {
        return Ok(String::from("a kernel thread had its turn and gave it back"));
    }
    Err(String::from("a kernel thread was made, and never had its turn"))
}
