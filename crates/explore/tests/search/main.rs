//! Systematic search, held against plain enumeration of toy programs.

mod bounded;
mod classes;
mod common;
mod counts;
mod hapset;
mod journals;
mod sections;
mod special;
mod workers;
