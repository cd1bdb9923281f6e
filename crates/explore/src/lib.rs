//! Strategies between runs: what to run next, given what came back.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod target;
