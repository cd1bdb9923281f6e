//! Version 4 of the report of a run: version 3, and how many accesses there were.
//!
//! Frozen, as version 1 is.

pub(crate) mod report;
