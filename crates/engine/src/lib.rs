//! The engine: runs one interleaving. It is told what each task is about to do, asks the policy
//! who goes on, keeps the objects' state and feeds the analyses. It owns no stacks, no threads and
//! no processes and does no I/O: a front end carries out what it says.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod again;
mod aside;
mod asked;
mod begin;
mod blind;
mod check;
mod close;
mod condvar;
mod current;
mod deadlock;
mod decisions;
mod director;
mod quick;
mod restrict;
mod rote;
mod search;
mod spin;
mod stay;
mod time;

pub use blind::Halt;
pub use director::{Engine, Next};
pub use search::Known;
