//! A copy of the process by the system call alone, as runs and checkpoints are made.

use crate::failed;

/// What the copy says.
const WORD: i32 = 7;

pub(crate) fn ask() -> Result<String, String> {
    // SAFETY: a copy of a process with one thread; it does nothing but end.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    if child == 0 {
        // SAFETY: ends the copy at once.
        unsafe { libc::syscall(libc::SYS_exit_group, WORD) };
    }
    if child < 0 {
        return Err(failed("clone"));
    }
    let mut status = 0;
    // SAFETY: waits for our own child.
    let waited = unsafe { libc::waitpid(child as i32, &raw mut status, 0) };
    if waited != child as i32 {
        return Err(failed("waitpid"));
    }
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == WORD {
        return Ok(String::from("a copy of the process ran and ended"));
    }
    Err(format!("a copy of the process ended with status {status:#x}"))
}
