//! Strategies within a run, one file each. A policy sees what every task is about to do and picks
//! one. [`Planned`] is the policy of a plan: its prefix first, then its tail.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod coverage;
mod footprint;
pub mod pct;
pub mod planned;
pub mod pos;
pub mod random;
pub mod rapos;
pub mod stay;
pub mod strategies;

pub use planned::Planned;
pub use strategies::{Strategy, UnknownStrategy, parse, strategies};
