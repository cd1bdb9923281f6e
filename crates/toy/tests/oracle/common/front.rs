//! Whose primitives the programs of `real.rs` use here: std's, on real threads.

pub(crate) use std::{sync, thread};

/// Whether threads are real, so that they should be disturbed, and have to wait for each other to start.
pub(crate) const REAL: bool = true;

/// Nobody decides what is chosen.
pub(crate) fn choose(_: u32) -> Option<u64> {
    None
}
