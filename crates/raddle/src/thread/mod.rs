//! Threads, as [`std::thread`].

pub(crate) mod local;
mod spawn;

pub use spawn::{JoinHandle, spawn};

use crate::rt;

/// Whether the current task is unwinding, as [`std::thread::panicking`].
#[inline]
pub fn panicking() -> bool {
    // The common case is that nobody is; std's answer covers all tasks of the thread.
    std::thread::panicking() && rt::current().is_none_or(|rt| rt.panicking())
}
