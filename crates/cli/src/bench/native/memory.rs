//! Whether memory and descriptors stay flat: what a campaign and the program under it hold, early and late.

use super::workshop::Workshop;
use crate::bench::process::read;
use crate::problem::Problem;
use serde::Serialize;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// What is held at some point of a campaign.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Sample {
    /// About so many runs had been done.
    pub(super) runs: u64,
    /// Memory that all processes together held.
    pub(super) bytes: u64,
    /// Descriptors that they had open.
    pub(super) descriptors: u64,
}

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Looks at a campaign of the small program from outside: the most at a time within each quarter.
pub(super) fn watch(workshop: &Workshop, runs: u64, isolation: &str) -> Result<Vec<Sample>, Problem> {
    let mut command = workshop.controlled("small", 0, runs, isolation)?;
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child =
        command.spawn().map_err(|error| Problem::new(format!("raddle could not be started: {error}"), ""))?;
    let mut seen = Vec::new();
    while let Ok(None) = child.try_wait() {
        seen.push(tree(child.id()));
        std::thread::sleep(PAUSE);
    }
    let output =
        child.wait_with_output().map_err(|error| Problem::new(format!("raddle did not end: {error}"), ""))?;
    let done = read::<serde_json::Value>(&output)?["runs"].as_u64().unwrap_or(0);
    let quarter = seen.len().div_ceil(4).max(1);
    let most = |(index, part): (usize, &[[u64; 2]])| Sample {
        runs: done * ((index + 1) * quarter).min(seen.len()) as u64 / seen.len() as u64,
        bytes: part.iter().map(|held| held[0]).max().unwrap_or(0),
        descriptors: part.iter().map(|held| held[1]).max().unwrap_or(0),
    };
    Ok(seen.chunks(quarter).enumerate().map(most).collect())
}

/// Resident memory and open descriptors of a process and everything it has started.
fn tree(process: u32) -> [u64; 2] {
    let folder = Path::new("/proc").join(process.to_string());
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let status = text("status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: u64 = line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0);
    let children = text(&format!("task/{process}/children"));
    let children = children.split_ascii_whitespace().filter_map(|child| child.parse().ok());
    let descriptors = std::fs::read_dir(folder.join("fd")).map_or(0, |entries| entries.count() as u64);
    children.map(tree).fold([kilobytes * 1024, descriptors], |[a, b], [c, d]| [a + c, b + d])
}
