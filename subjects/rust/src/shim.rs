//! The one door through which the subjects reach synchronization.
//!
//! Subjects write `use crate::shim::{sync, thread}` and nothing else. Inside a check Raddle controls them; outside of
//! one the same names are the operating system's, so that one source runs in both worlds.

pub use raddle::{hint, sync, thread};

/// A plain field shared by several tasks without synchronization, like a non-volatile field of a Java object.
///
/// A single access is never torn, but two accesses are not ordered: a race on it is a race of the subject.
pub use raddle::cell::RaceCell as Shared;
