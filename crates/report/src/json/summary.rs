//! The summary of many runs (DESIGN §11).

use super::{MEMORY_MODEL, Site, line};
use crate::summary::{self, Exhausted, Found, Summary};
use serde::Serialize;
use std::collections::BTreeMap;

/// Changes with the meaning of a field; new fields do not change it.
const SCHEMA: &str = "raddle.summary.v1";

#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    program: &'a str,
    strategy: &'a str,
    seed: u64,
    runs: u64,
    steps: u64,
    /// Plain accesses to memory, each eight bytes of a long one.
    accesses: Option<u64>,
    distinct_partial_orders: u64,
    distinct_partial_orders_exact: bool,
    unseen_probability: f64,
    hapset: Option<Hapset<'a>>,
    backend: Option<&'a str>,
    isolation: Option<Isolation<'a>>,
    /// Runs that went on from a checkpoint, and events that they did not execute again.
    checkpoint_hits: Option<u64>,
    checkpoint_events: Option<u64>,
    runs_digest: Option<String>,
    exhausted: bool,
    exhausted_within: Option<&'a str>,
    runs_left: Option<[u64; 3]>,
    search_seconds: f64,
    failing_runs: u64,
    failures: Vec<Failure<'a>>,
    warnings: Vec<Warning<'a>>,
    notes: &'a [String],
    seconds: f64,
    runs_per_second: f64,
    memory_model: &'static str,
    weak_orders_executed: bool,
}

/// `alone`: runs that got a process of their own though they were not to, by system call. `moved`: how often the runs
/// after one began where that had come to its first choice; that hangs on what it takes.
#[derive(Serialize)]
struct Isolation<'a> {
    name: &'a str,
    alone: BTreeMap<&'a str, u64>,
    why: Option<&'a str>,
    moved: u64,
}

/// `growth`: (runs so far, pairs then), for each run that brought something new.
#[derive(Serialize)]
struct Hapset<'a> {
    pairs: u64,
    last_new_after_runs: Option<u64>,
    growth: &'a [(u64, u64)],
    file: Option<&'a str>,
}

#[derive(Serialize)]
struct Failure<'a> {
    kind: &'a str,
    run: u64,
    message: &'a str,
    file: Option<&'a str>,
    sites: Vec<Site<'a>>,
}

#[derive(Serialize)]
struct Warning<'a> {
    message: &'a str,
    details: &'a [String],
    sites: Vec<Site<'a>>,
}

impl<'a> From<&'a summary::Warning> for Warning<'a> {
    fn from(warning: &'a summary::Warning) -> Warning<'a> {
        Warning {
            message: &warning.message,
            details: &warning.details,
            sites: warning.sites.iter().map(Site::from).collect(),
        }
    }
}

impl<'a> From<&'a Found> for Failure<'a> {
    fn from(found: &'a Found) -> Failure<'a> {
        Failure {
            kind: &found.kind,
            run: found.run,
            message: &found.message,
            file: found.file.as_deref(),
            sites: found.sites.iter().map(Site::from).collect(),
        }
    }
}

/// One object on one line, without the end of the line. `exhausted` is true only if everything
/// was run; `exhausted_within` names the bound within which it was.
pub fn summary(summary: &Summary) -> String {
    line(&Line {
        schema: SCHEMA,
        program: &summary.program,
        strategy: &summary.strategy,
        seed: summary.seed,
        runs: summary.runs,
        steps: summary.steps,
        accesses: summary.accesses,
        distinct_partial_orders: summary.distinct,
        distinct_partial_orders_exact: summary.distinct_exact,
        unseen_probability: summary.unseen_probability,
        hapset: summary.hapset.as_ref().map(|hapset| Hapset {
            pairs: hapset.pairs,
            last_new_after_runs: hapset.growth.last().map(|(run, _)| *run),
            growth: &hapset.growth,
            file: hapset.file.as_deref(),
        }),
        backend: summary.backend.as_deref(),
        isolation: summary.isolation.as_ref().map(|isolation| Isolation {
            name: &isolation.name,
            alone: isolation.alone.iter().map(|(call, runs)| (call.as_str(), *runs)).collect(),
            why: isolation.why.as_deref(),
            moved: isolation.moved,
        }),
        checkpoint_hits: summary.checkpoints.map(|checkpoints| checkpoints.hits),
        checkpoint_events: summary.checkpoints.map(|checkpoints| checkpoints.events),
        runs_digest: summary.runs_digest.map(|digest| format!("{digest:032x}")),
        exhausted: summary.exhausted == Exhausted::Yes,
        exhausted_within: match &summary.exhausted {
            Exhausted::Within(bound) => Some(bound),
            _ => None,
        },
        runs_left: summary.runs_left,
        search_seconds: summary.search_seconds,
        failing_runs: summary.failing_runs,
        failures: summary.failures.iter().map(Failure::from).collect(),
        warnings: summary.warnings.iter().map(Warning::from).collect(),
        notes: &summary.notes,
        seconds: summary.seconds,
        runs_per_second: summary.runs_per_second(),
        memory_model: MEMORY_MODEL,
        weak_orders_executed: summary.weak_orders,
    })
}
