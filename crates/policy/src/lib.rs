//! Strategies within a run, one file each. A policy sees what every task is about to do and picks
//! one. [`Planned`] is the policy of a plan: its prefix first, then its tail.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod common;
mod contest;
pub mod coverage;
mod footprint;
pub mod noise;
pub mod pct;
pub mod planned;
pub mod pos;
mod profile;
pub mod random;
pub mod rapos;
pub mod stay;
pub mod steps;
pub mod strategies;
pub mod walks;
pub mod weights;
pub mod wishes;

pub use planned::Planned;
pub use strategies::{Strategy, UnknownStrategy, parse, strategies};
