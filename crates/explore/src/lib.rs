//! Strategies between runs: what to run next, given what came back.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod campaign;
pub mod explorer;
pub mod sample;
pub mod shrink;
pub mod target;

pub use campaign::{Found, Limits, Progress, Summary};
pub use explorer::{Batch, Exhausted, Explorer};
pub use sample::Sample;
pub use shrink::{Minimized, ShrinkError, minimize};
