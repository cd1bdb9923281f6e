//! Version 5 of the report of a run: version 4, and who called in a run of many.
//!
//! Frozen, as version 1 is.

pub(crate) mod report;
