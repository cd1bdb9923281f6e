//! Fig. 1: how often each strategy reaches the error that one interleaving of five shows, beside its exact
//! probability, which an enumeration of all draws proves (`crates/policy/tests/policies/fig1.rs`).

use super::experiment::Bench;
use crate::bench::grid::{Grid, thousands};
use crate::problem::Problem;
use indicatif::ProgressBar;
use raddle_analysis::statistics::binomial;
use serde::Serialize;

/// As in the issue: enough to tell 1/4 from 0.24.
pub(crate) const RUNS: u64 = 100_000;
/// Level of the bound within which the frequency must lie.
const LEVEL: f64 = 0.999;

/// Strategy, and its exact probability.
const EXACT: [(&str, u64, u64); 4] = [("random", 1, 16), ("rapos", 1, 4), ("pos", 1, 5), ("walks", 249, 512)];

/// One strategy.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    strategy: &'static str,
    exact: String,
    probability: f64,
    runs: u64,
    failing_runs: u64,
    frequency: f64,
    /// Fewest and most failing runs of the exact two-sided binomial bound.
    bound: (u64, u64),
    level: f64,
    within: bool,
}

pub(crate) fn measure(seed: u64, bar: &ProgressBar) -> Result<Vec<Row>, Problem> {
    let mut bench = Bench::new(raddle_subjects::fig1);
    let mut rows = Vec::new();
    for (strategy, top, bottom) in EXACT {
        bar.set_message(format!("fig. 1, {strategy}"));
        let known = raddle_policy::parse(strategy).expect("raddle bug: a strategy of the registry");
        let failing_runs = bench.failures(known, seed, RUNS)?;
        let bound = binomial::acceptance(RUNS, top, bottom, LEVEL).expect("raddle bug: an empty bound");
        rows.push(Row {
            strategy,
            exact: format!("{top}/{bottom}"),
            probability: top as f64 / bottom as f64,
            runs: RUNS,
            failing_runs,
            frequency: failing_runs as f64 / RUNS as f64,
            bound,
            level: LEVEL,
            within: (bound.0..=bound.1).contains(&failing_runs),
        });
        bar.inc(1);
    }
    Ok(rows)
}

pub(crate) fn text(rows: &[Row]) -> String {
    let mut grid =
        Grid::new(["strategy", "exact", "", "failing runs", "of", "frequency", "99.9% bound", "within"]);
    for row in rows {
        grid.row([
            row.strategy.to_owned(),
            row.exact.clone(),
            format!("{:.4}", row.probability),
            thousands(row.failing_runs as i64),
            thousands(row.runs as i64),
            format!("{:.4}", row.frequency),
            format!("{} to {}", thousands(row.bound.0 as i64), thousands(row.bound.1 as i64)),
            String::from(if row.within { "yes" } else { "NO" }),
        ]);
    }
    format!(
        "fig. 1: probability of the error (the paper: random 0.03125, a slip for 1/16; rapos 0.25)\n\n{}",
        grid.text()
    )
}
