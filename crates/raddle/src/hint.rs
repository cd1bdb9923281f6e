//! Hints, as [`std::hint`].

pub use std::hint::{assert_unchecked, black_box, cold_path, select_unpredictable, unreachable_unchecked};

/// Says that the caller spins, as [`std::hint::spin_loop`]. Inside a run it offers the processor, as
/// [`yield_now`](crate::thread::yield_now) does.
#[inline]
#[track_caller]
pub fn spin_loop() {
    if crate::rt::current().is_some() {
        crate::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}
