//! Table 1: distinct partial orders by subject and strategy, over many experiments.

use super::experiment::{Bench, Conditions, Points, Starts, seed_of, told};
use crate::bench::grid::{Grid, number};
use crate::problem::Problem;
use indicatif::ProgressBar;
use raddle_analysis::statistics::Distinct;
use raddle_analysis::statistics::mean::{Summary, greater};
use raddle_policy::Strategy;
use raddle_report::plot;
use raddle_subjects::Subject;
use serde::Serialize;

/// Level of intervals and tests.
pub(crate) const LEVEL: f64 = 0.99;
/// Share of distinct runs above which a subject tells nothing: nearly every run is a new partial order.
const SATURATED: f64 = 0.95;

/// What one strategy gives on one subject.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cell {
    pub(crate) strategy: String,
    pub(crate) mean: f64,
    /// Of the 99% interval.
    low: f64,
    high: f64,
    /// Distinct partial orders of each experiment.
    values: Vec<f64>,
    /// The partial orders of the first experiment.
    #[serde(skip)]
    pub(crate) first: Distinct,
}

/// One subject under one pair of conditions.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) subject: &'static str,
    pub(crate) points: &'static str,
    pub(crate) starts: &'static str,
    threads: usize,
    runs: u64,
    paper_random: u32,
    paper_rapos: u32,
    pub(crate) strategies: Vec<Cell>,
    /// Racing accesses that were points.
    racing_sites: usize,
    /// Whether rapos has more than random.
    rapos_above_random: Option<Claim>,
    /// Whether walks is shown to have fewer than rapos.
    walks_below_rapos: Option<Claim>,
}

/// A comparison of two strategies.
#[derive(Clone, Copy, Debug, Serialize)]
struct Claim {
    /// At 99%.
    holds: bool,
    /// The runs of both are nearly all distinct: the comparison tells nothing.
    saturated: bool,
}

/// What is compared with what, for how long.
pub(crate) struct Plan<'a> {
    pub(crate) strategies: &'a [(String, Strategy)],
    pub(crate) experiments: u64,
    pub(crate) seed: u64,
}

/// Measures one row.
pub(crate) fn row(
    subject: &Subject,
    bench: &mut Bench,
    conditions: &Conditions,
    plan: &Plan<'_>,
    bar: &ProgressBar,
) -> Result<Row, Problem> {
    let mut cells = Vec::new();
    for (name, strategy) in plan.strategies {
        bar.set_message(format!("table 1, {}, {name}", subject.name));
        let mut values = Vec::new();
        let mut first = None;
        for experiment in 0..plan.experiments {
            let seed = seed_of(plan.seed, subject, experiment);
            let seen = bench.sample(*strategy, conditions, seed, subject.runs)?;
            values.push(seen.distinct().value as f64);
            first.get_or_insert(seen);
            bar.inc(1);
        }
        let summary = Summary::of(&values);
        let (low, high) = summary.interval(LEVEL);
        let first = first.unwrap_or_default();
        cells.push(Cell { strategy: name.clone(), mean: summary.mean, low, high, values, first });
    }
    let full = SATURATED * subject.runs as f64;
    // How the first does beside the second, if both were measured.
    let claim = |first: &str, second: &str, holds: fn(&[f64], &[f64]) -> bool| {
        let find = |name: &str| cells.iter().find(|cell| cell.strategy == name);
        let (first, second) = (find(first)?, find(second)?);
        let saturated = first.mean > full && second.mean > full;
        Some(Claim { holds: holds(&first.values, &second.values), saturated })
    };
    let rapos_above_random = claim("rapos", "random", |rapos, random| greater(rapos, random, LEVEL));
    let walks_below_rapos = claim("walks", "rapos", |walks, rapos| greater(rapos, walks, LEVEL));
    Ok(Row {
        subject: subject.name,
        points: conditions.points.name(),
        starts: conditions.starts.name(),
        threads: subject.threads,
        runs: subject.runs,
        paper_random: subject.paper_random,
        paper_rapos: subject.paper_rapos,
        racing_sites: conditions.racing_sites(),
        rapos_above_random,
        walks_below_rapos,
        strategies: cells,
    })
}

/// The rows of one pair of conditions as a table.
pub(crate) fn text(rows: &[Row], points: Points, starts: Starts, experiments: u64) -> String {
    let rows: Vec<&Row> =
        rows.iter().filter(|row| row.points == points.name() && row.starts == starts.name()).collect();
    let Some(first) = rows.first() else { return String::new() };
    let mut head: Vec<String> = ["subject", "runs", "paper: random", "rapos"].map(String::from).to_vec();
    head.extend(first.strategies.iter().map(|cell| cell.strategy.clone()));
    head.extend(["rapos > random", "walks < rapos"].map(String::from));
    let mut grid = Grid::new(head);
    for row in &rows {
        let mut cells = vec![
            row.subject.to_owned(),
            row.runs.to_string(),
            row.paper_random.to_string(),
            row.paper_rapos.to_string(),
        ];
        cells.extend(row.strategies.iter().map(|cell| format!("{} ± {}", number(cell.mean), reach(cell))));
        cells.push(said(row.rapos_above_random, ["yes", "NO"]));
        cells.push(said(row.walks_below_rapos, ["YES", "not shown"]));
        grid.row(cells);
    }
    let conditions = told(points, starts);
    format!(
        "table 1, {conditions}\nmean distinct partial orders of {experiments} experiments, 99% interval; \
         comparisons by Welch's test at 99%\n\n{}",
        grid.text()
    )
}

fn reach(cell: &Cell) -> String {
    let reach = (cell.high - cell.low) / 2.0;
    if reach.is_finite() { format!("{reach:.1}") } else { String::from("?") }
}

/// What a comparison came to; capitals are what nobody hopes for.
fn said(claim: Option<Claim>, [holds, not]: [&str; 2]) -> String {
    String::from(match claim {
        None => "not measured",
        Some(Claim { saturated: true, .. }) => "saturated",
        Some(Claim { holds: true, .. }) => holds,
        Some(Claim { holds: false, .. }) => not,
    })
}

/// Fig. 6: how evenly the partial orders of the first experiment were sampled.
pub(crate) fn chart(rows: &[&Row], conditions: &str) -> plot::Distribution {
    let strategies =
        rows.first().map(|row| row.strategies.iter().map(|cell| cell.strategy.clone()).collect());
    plot::Distribution {
        title: format!("Distribution of the sampled partial orders: {conditions}"),
        strategies: strategies.unwrap_or_default(),
        subjects: rows
            .iter()
            .map(|row| plot::Subject {
                name: row.subject.to_owned(),
                samples: row.strategies.iter().map(|cell| Some(plot::Sample::from(&cell.first))).collect(),
            })
            .collect(),
    }
}
