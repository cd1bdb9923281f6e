//! What came of many runs, for people. [`crate::json`] says the same to tools.

use crate::story::Place;
use crate::words::{self, count, thousands};
use std::fmt::Write as _;

/// Said if the time was over in the middle of a run.
pub const CUT_OFF: &str = "cut off in the middle of a run, which had not ended when the time was over";

/// Whether everything was run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Exhausted {
    /// There may be more; samplers never know.
    #[default]
    No,
    /// Every partial order was run.
    Yes,
    /// Every one under a condition, which it names (`within 2 preemptions`,
    /// `modulo spin iterations`).
    Within(String),
}

/// One distinct failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// `deadlock`, `race`, …
    pub kind: String,
    /// The first run that had it.
    pub run: u64,
    /// For people.
    pub message: String,
    /// The failure file, if one was written.
    pub file: Option<String>,
    /// The sites involved.
    pub sites: Vec<Place>,
}

/// What no run has shown and another may.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// One line for people.
    pub message: String,
    /// What it rests on, one line each.
    pub details: Vec<String>,
    /// The sites involved.
    pub sites: Vec<Place>,
}

/// HaPSet coverage: pairs of statements that were seen one right after the other, on one object, in two tasks.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Hapset {
    /// Number of pairs in the end.
    pub pairs: u64,
    /// (runs so far, pairs then), for each run that brought something new.
    pub growth: Vec<(u64, u64)>,
    /// The file that has them, if there is one.
    pub file: Option<String>,
}

/// What has kept runs apart.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Isolation {
    /// `fork`, `reset`, …
    pub name: String,
    /// Runs that got a process of their own though they were not to: for which system call, and how many.
    pub alone: Vec<(String, u64)>,
    /// Why all runs had one, if they had.
    pub why: Option<String>,
    /// How often what a run had made was found to be worth keeping: runs after it began at their first choice.
    pub moved: u64,
}

/// What was not executed again.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Checkpoints {
    /// Runs that went on from a checkpoint.
    pub hits: u64,
    /// Events before these.
    pub events: u64,
}

/// What came of many runs.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Summary {
    /// What was run.
    pub program: String,
    /// Name of the strategy.
    pub strategy: String,
    /// Seed of the campaign.
    pub seed: u64,
    /// Number of runs.
    pub runs: u64,
    /// Number of events in all of them.
    pub steps: u64,
    /// Number of plain accesses to memory, of a native program; a long one counts for every eight bytes.
    pub accesses: Option<u64>,
    /// Number of distinct partial orders.
    pub distinct: u64,
    /// Whether that number is exact rather than estimated.
    pub distinct_exact: bool,
    /// Probability that the next run has a partial order that was not seen yet (Good–Turing).
    pub unseen_probability: f64,
    /// HaPSet coverage, if it was asked for.
    pub hapset: Option<Hapset>,
    /// What the threads of a native program were: `fibers`, `threads`.
    pub backend: Option<String>,
    /// What has kept runs apart, where there is a choice.
    pub isolation: Option<Isolation>,
    /// What was not executed again, where there are checkpoints.
    pub checkpoints: Option<Checkpoints>,
    /// One number for all that the runs were, in their order: equal campaigns have equal ones.
    pub runs_digest: Option<u128>,
    /// Whether everything was run.
    pub exhausted: Exhausted,
    /// Runs that a search has left: probably more than the first, about the second, probably fewer than the
    /// third.
    pub runs_left: Option<[u64; 3]>,
    /// The time that went into a search itself, not into its runs.
    pub search_seconds: f64,
    /// How many runs failed.
    pub failing_runs: u64,
    /// The distinct failures.
    pub failures: Vec<Found>,
    /// What is suspected beyond that.
    pub warnings: Vec<Warning>,
    /// What was not done as it was asked for, one sentence each.
    pub notes: Vec<String>,
    /// Time taken.
    pub seconds: f64,
    /// Whether an atomic weaker than sequentially consistent was executed.
    pub weak_orders: bool,
}

impl Summary {
    /// Runs in a second; 0 if no time passed.
    pub fn runs_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.runs as f64 / self.seconds } else { 0.0 }
    }

    /// A few lines, each ended.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let rate = self.runs_per_second();
        let rate = if rate >= 1.0 { format!(" ({} runs/s)", thousands(rate as u64)) } else { String::new() };
        let _ = writeln!(
            out,
            "{} in {}{rate}, {}; {}, seed {}",
            count(self.runs, "run"),
            time(self.seconds),
            count(self.steps, "step"),
            self.strategy,
            self.seed,
        );
        let about = if self.distinct_exact { "" } else { "about " };
        let _ = write!(out, "{about}{}", count(self.distinct, "distinct partial order"));
        let _ = match &self.exhausted {
            Exhausted::Yes => writeln!(out, ": all there are"),
            Exhausted::Within(bound) => writeln!(out, ": all there are, {bound}"),
            Exhausted::No => writeln!(
                out,
                ", the next run is a new one with probability {}",
                probability(self.unseen_probability)
            ),
        };
        if let Some([low, about, high]) = self.runs_left {
            let part = 100.0 * self.runs as f64 / (self.runs + about).max(1) as f64;
            let _ = writeln!(
                out,
                "about {part:.0}% of the search is done: some {} left ({} to {}), as far as is known",
                count(about, "run"),
                thousands(low),
                thousands(high)
            );
        }
        if let Some(Hapset { pairs, growth, file }) = &self.hapset {
            let _ = write!(out, "HaPSet coverage: {}", count(*pairs, "pair"));
            let _ = match growth.last() {
                Some((run, _)) => write!(out, ", the last new one after {}", count(*run, "run")),
                None => Ok(()),
            };
            let _ = match file {
                Some(file) => writeln!(out, "; now in {file}"),
                None => writeln!(out),
            };
        }
        if !self.failures.is_empty() || self.failing_runs > 0 {
            let _ = writeln!(
                out,
                "{} ({} failed)",
                count(self.failures.len() as u64, "distinct failure"),
                count(self.failing_runs, "run"),
            );
        }
        if self.weak_orders {
            let _ = writeln!(out, "{}", words::WEAK_NOTE);
        }
        if let Some(isolation) = &self.isolation {
            if let Some(why) = &isolation.why {
                let _ = writeln!(out, "note: each run had a process of its own: {why}");
            }
            if !isolation.alone.is_empty() {
                let runs = isolation.alone.iter().map(|(_, runs)| runs).sum();
                let calls: Vec<_> =
                    isolation.alone.iter().map(|(call, runs)| format!("{call} {runs}")).collect();
                let _ = writeln!(
                    out,
                    "{} had a process of {} own, because of what cannot be undone: {}",
                    count(runs, "run"),
                    if runs == 1 { "its" } else { "their" },
                    calls.join(", ")
                );
            }
        }
        if let Some(Checkpoints { hits: hits @ 1.., events }) = self.checkpoints {
            let _ = writeln!(
                out,
                "{} went on from checkpoints: {} did not have to happen again",
                count(hits, "run"),
                count(events, "step")
            );
        }
        for note in &self.notes {
            let _ = writeln!(out, "note: {note}");
        }
        for warning in &self.warnings {
            let _ = writeln!(out, "warning: {}", warning.message);
            warning.details.iter().for_each(|detail| {
                let _ = writeln!(out, "  {detail}");
            });
        }
        out
    }
}

/// Three digits that mean something.
fn probability(value: f64) -> String {
    if value == 0.0 || value >= 0.001 { format!("{value:.3}") } else { format!("{value:.0e}") }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s => format!("{} min {:.0} s", (s / 60.0) as u64, s % 60.0),
    }
}
