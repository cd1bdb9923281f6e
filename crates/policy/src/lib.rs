//! Strategies within a run, one file each. A policy sees what every task is about to do and picks
//! one. [`Planned`] is the policy of a plan: its prefix first, then its tail.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod planned;
pub mod random;
pub mod stay;

pub use planned::Planned;
