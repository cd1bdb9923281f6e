//! Version 2 of the report of a run: version 1, and what a search wants to know of the run. And of the failure file.
//!
//! Frozen, as version 1 is.

pub(crate) mod failure;
pub(crate) mod log;
pub(crate) mod report;
