//! Version 2 of the report of a run: version 1, and what a search wants to know of the run.
//!
//! Frozen, as version 1 is.

pub(crate) mod log;
pub(crate) mod report;
