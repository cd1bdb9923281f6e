//! Systematic search, held against plain enumeration of toy programs.

mod bounded;
mod common;
