//! A failure with everything that telling it needs.

use crate::names::Names;
use raddle_model::{Failure, SiteId, Trace};
pub use raddle_model::{ObjectInfo, Place};
use std::collections::BTreeMap;

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

impl Story {
    /// What went wrong, with tasks and objects named as in the rest of a report.
    pub fn message(&self) -> String {
        Names::new(self).message()
    }
}
