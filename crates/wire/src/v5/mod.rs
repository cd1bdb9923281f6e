//! Version 5 of the report of a run: version 4, and what a search did not see the order of.
//!
//! Frozen, as version 1 is.

pub(crate) mod report;
