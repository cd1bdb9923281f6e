//! A failure with everything that telling it needs.

use raddle_model::{Failure, ObjectId, SiteId, Trace};
use std::collections::BTreeMap;

/// Where a site is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Place {
    /// Source file; empty if unknown.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Function; empty if unknown.
    pub function: String,
}

impl Place {
    /// `src/lib.rs:12:5`, or nothing if the place is unknown.
    pub fn link(&self) -> String {
        match self {
            Place { file, .. } if file.is_empty() => String::new(),
            Place { file, line, column: 0, .. } => format!("{file}:{line}"),
            Place { file, line, column, .. } => format!("{file}:{line}:{column}"),
        }
    }
}

/// What an object is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectInfo {
    /// Its id in the trace.
    pub id: ObjectId,
    /// `mutex`, `atomic`, …
    pub noun: String,
    /// Where it was first used.
    pub site: SiteId,
}

/// A failure, what led to it, and the names of everything in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Story {
    /// What went wrong.
    pub failure: Failure,
    /// What happened.
    pub trace: Trace,
    /// Path of each task from main, by dense id; its name after a space, if it has one.
    pub tasks: Vec<String>,
    /// The objects, in the order of their ids.
    pub objects: Vec<ObjectInfo>,
    /// Where the sites are.
    pub places: BTreeMap<SiteId, Place>,
    /// Name of the strategy that found it.
    pub strategy: String,
    /// Seed of the campaign.
    pub seed: u64,
    /// Number of the run within the campaign.
    pub run: u64,
}
