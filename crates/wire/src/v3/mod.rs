//! Version 3 of the report of a run: version 2, whose beginning may be left out.
//!
//! Frozen, as version 1 is.

pub(crate) mod report;
