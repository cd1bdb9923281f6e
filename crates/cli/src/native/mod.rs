//! Native programs: started once as a fork server, and run under plan after plan.

mod backend;
pub(crate) mod callers;
mod checkpoints;
mod exits;
pub(crate) mod found;
pub(crate) mod hapsets;
mod isolation;
mod log;
mod sampling;
mod searching;
mod server;
mod silent;
mod target;
mod trail;

pub(crate) use backend::Backend;
pub(crate) use checkpoints::Checkpoints;
pub(crate) use isolation::Isolation;
pub(crate) use server::{Addresses, Beginning, Program};
pub(crate) use target::NativeTarget;
