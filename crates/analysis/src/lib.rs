//! Analyses: folds over the events of a run, and statistics over runs.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod clocks;
mod crowd;
pub mod fingerprint;
pub mod hapset;
pub mod held;
pub mod lock_order;
pub mod locksets;
pub mod races;
pub mod statistics;

pub use clocks::Clocks;
pub use fingerprint::Fingerprint;
pub use lock_order::LockOrder;
pub use locksets::LockSets;
pub use races::Races;
