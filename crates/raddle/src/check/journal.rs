//! The journal of a check's search: which program it belongs to, and going on with it.

use super::config::Config;
use super::error::Error;
use crate::rt::carrier::LibraryTarget;
use raddle_explore::{Explorer, journal};
use raddle_wire::JournalHeader;
use std::path::Path;
use std::sync::OnceLock;

/// Lets the explorer keep the journal. Number of runs that were done before.
pub(super) fn keep(
    config: &Config,
    file: &Path,
    explorer: &mut dyn Explorer,
    target: &mut LibraryTarget,
) -> Result<u64, Error> {
    let header = JournalHeader {
        program: config.body.clone(),
        identity: identity()?,
        strategy: config.strategy.clone(),
        plan: config.plan(),
    };
    explorer.keep(file, header, target).map_err(|error| Error::Setting(error.0))
}

/// A number of this program file: a journal names sites by their place in it. The file is read once.
fn identity() -> Result<u64, Error> {
    static KNOWN: OnceLock<u64> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(*known);
    }
    let path = std::env::current_exe();
    let bytes = path.and_then(std::fs::read);
    let bytes = bytes.map_err(|error| {
        Error::Setting(format!("a journal belongs to one program file, and this one cannot be read: {error}"))
    })?;
    Ok(*KNOWN.get_or_init(|| journal::identity([&bytes[..]])))
}
