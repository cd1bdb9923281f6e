//! Strategies between runs: what to run next, given what came back.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod campaign;
pub mod dfs;
pub mod dpor;
pub mod explorer;
mod forest;
pub mod hapset;
mod hypothesis;
pub mod journal;
pub mod odpor;
pub mod outlook;
pub mod path;
pub mod pcb;
mod restarts;
pub mod sample;
pub mod shrink;
pub mod systematic;
pub mod target;
pub mod told;
mod tree;

pub use campaign::{Found, Limits, Progress, Summary};
pub use dfs::Dfs;
pub use dpor::{Dpor, Guide};
pub use explorer::{Batch, Exhausted, Explorer};
pub use journal::{Journal, JournalError};
pub use odpor::Odpor;
pub use outlook::Outlook;
pub use pcb::Pcb;
pub use sample::Sample;
pub use shrink::{Effort, Minimized, ShrinkError, minimize};
pub use systematic::{Next, Request, Search, Systematic};
