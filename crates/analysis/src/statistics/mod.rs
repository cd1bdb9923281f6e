//! Statistics over many runs: how many partial orders were seen and how evenly, how far a measured
//! frequency may lie from its probability, and whether one mean is really larger than another.
//!
//! Everything here is a function of numbers alone: no clock, no randomness, no map order.

mod beta;
pub mod binomial;
pub mod distinct;
pub mod mean;

pub use distinct::{Distinct, Estimate};
pub use mean::Summary;
