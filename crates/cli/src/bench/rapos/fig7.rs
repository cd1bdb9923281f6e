//! Fig. 7: mean runs up to the `ConcurrentModificationException` in the three lists, with the threads started in the
//! order of the paper's listing and in the opposite one. Where starting a thread is a point that order decides how soon
//! `random` gets there, and the paper does not say which order the figure was made with (`docs/rapos.md`).

use super::experiment::{Bench, Conditions, seed_of};
use super::table1::{LEVEL, Plan};
use crate::bench::grid::{Grid, number};
use crate::problem::Problem;
use indicatif::ProgressBar;
use raddle_analysis::statistics::mean::{Summary, greater};
use raddle_report::plot;
use raddle_subjects::Subject;
use serde::Serialize;

/// The failure that is looked for.
const EXCEPTION: &str = "ConcurrentModificationException";
/// Runs after which an experiment is given up.
pub(crate) const RUNS_MAX: u64 = 20_000;
/// What the paper prints for Vector.
const PAPER: [(&str, &str, u32); 2] = [("Vector", "random", 615), ("Vector", "rapos", 129)];

/// One strategy on one subject.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cell {
    strategy: String,
    mean: f64,
    low: f64,
    high: f64,
    /// Experiments that were given up, so that the true mean is larger.
    given_up: usize,
    values: Vec<f64>,
    paper: Option<u32>,
}

/// In which order main starts the threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    /// As in the paper's listing.
    Listed,
    /// The opposite.
    Backwards,
}

impl Order {
    fn name(self) -> &'static str {
        match self {
            Order::Listed => "listed",
            Order::Backwards => "backwards",
        }
    }
}

/// One subject.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    subject: &'static str,
    order: Order,
    pub(crate) points: &'static str,
    pub(crate) starts: &'static str,
    strategies: Vec<Cell>,
    /// Whether random needs more runs than rapos, at 99%.
    rapos_below_random: Option<bool>,
    /// Whether walks is shown to need more runs than rapos, at 99%.
    walks_above_rapos: Option<bool>,
}

pub(crate) fn row(
    (subject, order): (&Subject, Order),
    bench: &mut Bench,
    conditions: &Conditions,
    plan: &Plan<'_>,
    bar: &ProgressBar,
) -> Result<Row, Problem> {
    let mut cells = Vec::new();
    for (name, strategy) in plan.strategies {
        bar.set_message(format!("fig. 7, {} {}, {name}", subject.name, order.name()));
        let (mut values, mut given_up) = (Vec::new(), 0);
        for experiment in 0..plan.experiments {
            let seed = seed_of(plan.seed, subject, experiment);
            let first = bench.first_with(EXCEPTION, *strategy, conditions, seed, RUNS_MAX)?;
            given_up += usize::from(first.is_none());
            values.push(first.unwrap_or(RUNS_MAX) as f64);
            bar.inc(1);
        }
        let summary = Summary::of(&values);
        let (low, high) = summary.interval(LEVEL);
        let paper = PAPER.iter().find(|known| (known.0, known.1) == (subject.name, name.as_str()));
        let paper = paper.map(|known| known.2);
        cells.push(Cell { strategy: name.clone(), mean: summary.mean, low, high, given_up, values, paper });
    }
    let values =
        |name: &str| cells.iter().find(|cell| cell.strategy == name).map(|cell| cell.values.as_slice());
    let (random, rapos, walks) = (values("random"), values("rapos"), values("walks"));
    Ok(Row {
        subject: subject.name,
        order,
        points: conditions.points.name(),
        starts: conditions.starts.name(),
        rapos_below_random: random.zip(rapos).map(|(random, rapos)| greater(random, rapos, LEVEL)),
        walks_above_rapos: walks.zip(rapos).map(|(walks, rapos)| greater(walks, rapos, LEVEL)),
        strategies: cells,
    })
}

pub(crate) fn text(rows: &[Row], experiments: u64) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut head: Vec<String> = ["subject", "order", "points", "starts"].map(String::from).to_vec();
    head.extend(first.strategies.iter().map(|cell| cell.strategy.clone()));
    head.extend(["rapos < random", "walks > rapos"].map(String::from));
    let mut grid = Grid::new(head);
    for row in rows {
        let mut cells = [row.subject, row.order.name(), row.points, row.starts].map(String::from).to_vec();
        cells.extend(row.strategies.iter().map(told));
        let never = row.strategies.iter().all(|cell| cell.given_up == cell.values.len());
        let said = |claim: Option<bool>, [holds, not]: [&str; 2]| {
            String::from(match claim {
                _ if never => "not reached",
                Some(true) => holds,
                Some(false) => not,
                None => "not measured",
            })
        };
        cells.push(said(row.rapos_below_random, ["yes", "NO"]));
        cells.push(said(row.walks_above_rapos, ["YES", "not shown"]));
        grid.row(cells);
    }
    format!(
        "fig. 7: mean runs up to the {EXCEPTION}, {experiments} experiments of at most {} runs, 99% interval\n\
         order: in which main starts the threads (the paper for Vector: random 615, rapos 129)\n\n{}",
        number(RUNS_MAX as f64),
        grid.text()
    )
}

fn told(cell: &Cell) -> String {
    let least = if cell.given_up > 0 { "≥ " } else { "" };
    format!("{least}{} ± {}", number(cell.mean), number((cell.high - cell.low) / 2.0))
}

/// The chart of the rows under one pair of conditions.
pub(crate) fn chart(rows: &[&Row], conditions: &str, experiments: u64) -> plot::Bars {
    let bar = |cell: &Cell| {
        Some(plot::Bar { mean: cell.mean, low: cell.low, high: cell.high, at_least: cell.given_up > 0 })
    };
    let strategies =
        rows.first().map(|row| row.strategies.iter().map(|cell| cell.strategy.clone()).collect());
    // Beside a bar that stands for a limit the others would be too small to see.
    let given_up = rows.iter().any(|row| row.strategies.iter().any(|cell| cell.given_up > 0));
    plot::Bars {
        title: String::from("Runs up to the ConcurrentModificationException"),
        note: format!(
            "Here {conditions}. Mean of {experiments} experiments with its 99% interval; fewer is better. ≥: some experiments were given \
             up after {} runs. Backwards: main starts the threads in the opposite order. Paper, Vector: random 615, rapos 129.",
            number(RUNS_MAX as f64)
        ),
        measure: String::from("runs"),
        strategies: strategies.unwrap_or_default(),
        groups: rows
            .iter()
            .map(|row| plot::Group {
                name: match row.order {
                    Order::Listed => row.subject.to_owned(),
                    Order::Backwards => format!("{}, backwards", row.subject),
                },
                bars: row.strategies.iter().map(bar).collect(),
            })
            .collect(),
        spacing: if given_up { plot::Spacing::Logarithmic } else { plot::Spacing::Linear },
    }
}
