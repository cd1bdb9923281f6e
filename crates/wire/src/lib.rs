//! The formats that are read back: the schedule string that people copy, the plan that crosses a
//! process boundary, the failure file, learned HaPSets, and the journal of a search. The only crate that serializes them.
//!
//! Each format has a version from its first file. What a version looks like is frozen in a module
//! of its own ([`v1`]) whose types mirror the model's: the model stays free of serde, and a change
//! of the model cannot silently change a format. Golden files of every version are read by a test.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod envelope;
mod error;
pub mod failure;
pub mod hapset;
pub mod journal;
mod pack;
pub mod plan;
pub mod report;
pub mod schedule;
pub mod sites;
mod v1;
mod v2;
mod v3;
mod v4;
mod v5;
mod v6;
mod version;

pub use error::{What, WireError};
pub use failure::{FailureFile, Found, ObjectInfo, Place, Target};
pub use hapset::HapsetFile;
pub use journal::JournalHeader;
pub use pack::Unpack;
pub use report::RunReport;
pub use sites::SiteKey;
pub use version::{
    FailureVersion, HapsetVersion, JournalVersion, PlanVersion, ReportVersion, ScheduleVersion,
};

/// What made a file: the version of this tool.
pub const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");
