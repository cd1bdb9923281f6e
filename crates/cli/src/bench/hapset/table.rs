//! The rows: what each search took here and in the paper, and what follows.

use super::measure::{Bench, End, Search};
use crate::bench::grid::Grid;
use crate::problem::Problem;
use indicatif::ProgressBar;
use raddle_explore::hapset::Under;
use raddle_subjects::hapset::{Row, Runs};
use serde::Serialize;
use std::fmt::Write as _;

/// How to measure.
pub(crate) struct Plan {
    pub(crate) ties: u64,
    pub(crate) runs: u64,
    pub(crate) under_pcb: Option<u32>,
}

/// One search of one row.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cell {
    search: String,
    /// Runs in the paper.
    paper: Option<u64>,
    /// Whether the bug was found there.
    paper_found: bool,
    /// Of all ways to break ties.
    median: End,
    best: End,
    worst: End,
    /// How many of them found the bug.
    found: u64,
}

/// A row.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Measured {
    table: u32,
    subject: &'static str,
    bug: &'static str,
    threads: usize,
    hapset: Cell,
    others: Vec<Cell>,
    /// Whether DPOR and PCB2 need at least the paper's runs: only then the row counts.
    counts: bool,
    /// Whether HaPSet finds the bug in no more runs than the paper reports.
    reached: bool,
}

/// Number of searches of a row, however often each is repeated.
pub(crate) fn cells(row: &Row) -> u64 {
    1 + others(row).len() as u64
}

fn others(row: &Row) -> Vec<(Search, Runs)> {
    let dpor = row.dpor.map(|runs| (Search::Dpor, runs));
    dpor.into_iter().chain(row.pcb.iter().map(|&(bound, runs)| (Search::Pcb(bound), runs))).collect()
}

/// Measures a row.
pub(crate) fn measure(row: &Row, plan: &Plan, bar: &ProgressBar) -> Result<Measured, Problem> {
    let mut bench = Bench::new(row);
    let mut cell = |search: Search, runs: u64, paper: Option<Runs>| -> Result<Cell, Problem> {
        let mut ends = Vec::new();
        for seed in 0..plan.ties {
            ends.push(bench.search(search, seed, runs)?);
            bar.inc(1);
        }
        // What was not found counts as more than anything that was.
        ends.sort_unstable();
        Ok(Cell {
            search: search.name(),
            paper: paper.map(Runs::number),
            paper_found: matches!(paper, Some(Runs::Found(_))),
            median: ends[ends.len() / 2],
            best: ends[0],
            worst: ends[ends.len() - 1],
            found: ends.iter().filter(|end| matches!(end, End::Found(_))).count() as u64,
        })
    };
    let under = plan.under_pcb.map_or(Under::Dpor, |bound| Under::Pcb { bound });
    let hapset = cell(Search::Hapset(under), plan.runs, Some(Runs::Found(row.hapset)))?;
    let others = others(row)
        .into_iter()
        .map(|(search, runs)| cell(search, runs.number(), Some(runs)))
        .collect::<Result<Vec<_>, _>>()?;
    let hard = |cell: &&Cell| matches!(&*cell.search, "DPOR" | "PCB2");
    let counts = others.iter().filter(hard).all(Cell::is_no_less);
    let reached = matches!(hapset.median, End::Found(runs) if runs <= row.hapset);
    let Row { table, name, bug, threads, .. } = *row;
    Ok(Measured { table, subject: name, bug, threads, hapset, others, counts, reached })
}

impl Cell {
    /// Whether it took at least as many runs as in the paper.
    fn is_no_less(&self) -> bool {
        match (self.median, self.paper) {
            (End::Found(runs), Some(paper)) => self.paper_found && runs >= paper,
            _ => true,
        }
    }

    fn paper(&self) -> String {
        let more = if self.paper_found { "" } else { ">" };
        self.paper.map_or(String::from("-"), |runs| format!("{more}{runs}"))
    }
}

fn told(end: End) -> String {
    match end {
        End::Found(runs) => format!("{runs}"),
        End::Missed(runs) => format!("none in all {runs}"),
        End::TimedOut(runs) => format!(">{runs}"),
    }
}

const NAMES: [(&str, &str); 5] = [
    ("table 1", "a thread manager with a deadlock"),
    ("table 2", "aget, pbzip2, pfscan"),
    ("table 3", "PCB with various bounds on aget"),
    ("table 4", "HaPSet on aget with more and more threads"),
    ("table 5", "bugs extracted from Mozilla and MySQL"),
];

/// The tables for people.
pub(crate) fn text(rows: &[Measured], ties: u64) -> String {
    let mut out = String::new();
    for (number, (table, title)) in (1..).zip(NAMES) {
        let rows: Vec<&Measured> = rows.iter().filter(|row| row.table == number).collect();
        let Some(first) = rows.first() else { continue };
        let _ =
            writeln!(out, "{table}: {title}; runs to the bug, median of {ties} ways to break ties (paper)");
        let searches = first.others.iter().map(|cell| cell.search.clone());
        let head =
            ["subject", "bug", "threads"].map(String::from).into_iter().chain([first.hapset.search.clone()]);
        let mut grid =
            Grid::new(head.chain([String::from("best-worst")]).chain(searches).chain([String::new()]));
        for row in rows {
            let both = |cell: &Cell| format!("{} ({})", told(cell.median), cell.paper());
            let start =
                [row.subject.to_owned(), row.bug.to_owned(), row.threads.to_string(), both(&row.hapset)];
            let span = format!("{}-{}", told(row.hapset.best), told(row.hapset.worst));
            let others = row.others.iter().map(both);
            let verdict = match (row.reached, row.counts) {
                (true, true) => "reached",
                (true, false) => "reached, but DPOR or PCB2 is quicker than in the paper",
                (false, _) => "MISSED",
            };
            grid.row(start.into_iter().chain([span]).chain(others).chain([verdict.to_owned()]));
        }
        out.push_str(&grid.text());
        out.push('\n');
    }
    let reached = rows.iter().filter(|row| row.reached && row.counts).count();
    let _ = writeln!(
        out,
        "{reached} of {} rows reached: HaPSet takes no more runs than in the paper, DPOR and PCB2 no fewer",
        rows.len()
    );
    out
}
