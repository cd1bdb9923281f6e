//! Version 6 of the report of a run: version 5, and where objects are that have a name.
//!
//! Frozen, as version 1 is.

pub(crate) mod report;
