//! Programs under test.

pub mod collections;
pub mod heap;
pub mod monitor;
pub mod shim;
pub mod tasks;
