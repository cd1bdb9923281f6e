//! Raddle's library front end: the types of std, under a scheduler that tries the interleavings.
//!
//! Use [`sync`], [`thread`], [`cell`], [`time`] and [`future`] where you would use std's; outside of a
//! run they are std's behind a branch. Inside [`check`] or a [`macro@test`] every operation on them is a
//! point at which the scheduler may switch, and the body is run again and again under other schedules.
//! A run that fails is a value: a file and a string that repeat it exactly.
//!
//! What is not a raddle type is not seen: see `docs/limits.md`.

pub mod cell;
mod check;
pub mod future;
pub mod hint;
pub mod rand;
mod rt;
pub mod sync;
pub mod thread;
pub mod time;

pub use check::{Check, Error, Found, Report, Warning, check, replay};
pub use raddle_macros::test;
pub use rand::choose;

/// What `#[raddle::test]` expands to, and what this project's own tests need beyond the interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::check::fail_on_error;
    use crate::rt::carrier::LibraryTarget;
    use raddle_explore::target::Target;

    /// A body as something that plans can be run on.
    pub fn target(body: impl Fn() + Send + Sync + 'static) -> impl Target {
        LibraryTarget::new(std::sync::Arc::new(body), std::time::Duration::from_secs(5))
    }
}

/// What the `raddle` command needs beyond the interface. May change at any time.
#[doc(hidden)]
pub mod tool {
    pub use crate::check::files::{lines, minimized, quoted, source};
    pub use crate::check::hapsets::{
        keep as keep_hapsets, read as read_hapsets, saved as saved_hapsets, told as told_hapsets,
        write as write_hapsets,
    };
    pub use crate::check::recorded::{Smaller, again, read, smaller, story};
    pub use crate::rt::callers::statement;
    pub use crate::rt::carrier::{Body, LibraryTarget};
}

/// The README's code is compiled too.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
