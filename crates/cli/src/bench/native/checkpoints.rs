//! What checkpoints save: a search whose runs have a long beginning in common, with them and without.

use super::workshop::Workshop;
use super::{Figure, at_least};
use crate::problem::Problem;

/// How much less a run must take.
const GOAL: f64 = 10.0;

/// What it is called, strategy, isolation.
const ROWS: [(&str, &str, &str); 4] = [
    ("a run of odpor with a long beginning, reset", "odpor", "reset"),
    ("a run of dfs with a long beginning, reset", "dfs", "reset"),
    ("a run of odpor with a long beginning, fork", "odpor", "fork"),
    ("a run of dfs with a long beginning, fork", "dfs", "fork"),
];

/// Nanoseconds for a run, beside the same from the beginning. Main alone does so many sections of a lock, two events each,
/// before there is anything to choose.
pub(super) fn figures(workshop: &Workshop, sections: u64, runs: u64) -> Result<Vec<Figure>, Problem> {
    let row = |(what, strategy, isolation)| {
        let search = |checkpoints: &str| {
            let command = || {
                let mut command = workshop.campaign(runs, isolation)?;
                command.args(["--strategy", strategy, "--checkpoints", checkpoints]);
                command.arg(workshop.program()).args(["prefix", &sections.to_string()]);
                Ok(command)
            };
            workshop.best("runs_per_second", f64::max, command).map(|rate| 1e9 / rate)
        };
        Ok(at_least(what, search("auto")?, (search("off")?, "each from the beginning"), GOAL))
    };
    ROWS.into_iter().map(row).collect()
}
