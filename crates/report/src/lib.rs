//! What people and other tools read. A failure becomes a [`Story`]; what came of many runs becomes
//! a [`Summary`]; each is written as text for people or as json for tools. Nothing here does I/O:
//! callers hand in the source files and write what comes back.
#![forbid(unsafe_code)]

#[cfg(feature = "json")]
pub mod json;
mod moves;
mod names;
#[cfg(feature = "plot")]
pub mod plot;
mod state;
mod story;
mod summary;
pub mod suppressions;
pub mod text;
mod whole;
mod words;

pub use moves::{Move, preemptions};
pub use state::{Held, State};
pub use story::{ObjectInfo, Place, Story};
pub use summary::{CUT_OFF, Checkpoints, Exhausted, Found, Hapset, Isolation, Summary, Warning};
