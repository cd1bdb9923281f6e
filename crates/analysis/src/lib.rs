//! Analyses: folds over the events of a run, and statistics over runs.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod fingerprint;
pub mod statistics;

pub use fingerprint::Fingerprint;
