//! `cargo xtask bench peers`: the comparison with shuttle and loom, optimised, as one table.
//!
//! The comparison is a workspace of its own (`bench/`), so that nobody who builds Raddle builds the peers.

use crate::Stop;
use crate::cargo::cargo;
use crate::steps::execute;

/// Runs the comparison; the arguments are its own (`--quick`, `--format json`).
pub(crate) fn run(arguments: &[&str]) -> Result<(), Stop> {
    let mut command = cargo("bench", &["run", "--quiet", "--release", "--"]);
    command.args(arguments);
    execute(command)
}
