//! Version 5 of the report of a run: version 4, what a search did not see the order of, and who called in a run of many.
//!
//! Frozen, as version 1 is.

pub(crate) mod report;
