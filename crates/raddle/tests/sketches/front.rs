//! Whose primitives the programs of `real.rs` use here: the library's.

pub(crate) use raddle::{sync, thread};

/// Whether threads are real: then they would be disturbed, and wait for each other to start.
pub(crate) const REAL: bool = false;

/// What is chosen is a decision of the run.
pub(crate) fn choose(arity: u32) -> Option<u64> {
    Some(raddle::choose(arity as usize) as u64)
}
