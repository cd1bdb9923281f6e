//! How the figures are taken: a campaign as a user runs it, with fingerprints, for a slice of time; the median of
//! several slices.

use super::body::Body;
use crate::problem::Problem;
use raddle::tool::LibraryTarget;
use raddle_explore::{Limits, Sample, campaign};
use raddle_model::{Plan, Tail};
use raddle_policy::Strategy;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// No body takes that long without an operation, whatever else the machine does.
const HANG: Duration = Duration::from_secs(60);
/// The clock is read after so many runs.
const CLOCK_RUNS: u64 = 8;

/// How much time is spent on a figure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) slice: Duration,
    pub(super) slices: usize,
}

/// One body under one strategy.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure {
    pub(super) body: String,
    pub(super) strategy: String,
    pub(super) events_per_run: f64,
    pub(super) runs_per_second: f64,
    pub(super) ns_per_event: f64,
}

pub(super) fn figure(body: Body, name: &str, strategy: Strategy, effort: Effort) -> Result<Figure, Problem> {
    let mut target = LibraryTarget::new(Arc::new(move || body.run()), HANG);
    // The first slice warms up and is not counted; the campaign's learning is part of the others, as for a user.
    campaign_for(&mut target, strategy, effort.slice / 4)?;
    let mut slices = Vec::new();
    for _ in 0..effort.slices {
        slices.push(campaign_for(&mut target, strategy, effort.slice)?);
    }
    let median = |of: &dyn Fn(&Slice) -> f64| {
        let mut values: Vec<f64> = slices.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Ok(Figure {
        body: body.to_string(),
        strategy: name.to_owned(),
        events_per_run: median(&|slice| slice.events / slice.runs),
        runs_per_second: median(&|slice| slice.runs / slice.seconds),
        ns_per_event: median(&|slice| slice.seconds * 1e9 / slice.events),
    })
}

struct Slice {
    runs: f64,
    events: f64,
    seconds: f64,
}

fn campaign_for(target: &mut LibraryTarget, strategy: Strategy, time: Duration) -> Result<Slice, Problem> {
    let mut explorer = Sample::new(strategy, Plan { steps_max: 10_000_000, ..Plan::new(0, Tail::Random) });
    let limits = Limits { runs: u64::MAX, stop_after: 1, races: true };
    let (begun, mut runs) = (Instant::now(), 0u64);
    let mut time_is_up = || {
        runs += 1;
        // A run may take less than reading the clock does, or more than the whole slice.
        (runs <= 2 || runs.is_multiple_of(CLOCK_RUNS)) && begun.elapsed() >= time
    };
    let summary = campaign::run(target, &mut explorer, &limits, &mut time_is_up, &mut |_| ())
        .map_err(|error| Problem::new(error.message, "this is a bug of raddle's: please report it"))?;
    Ok(Slice {
        runs: summary.progress.runs as f64,
        events: summary.progress.steps as f64,
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Memory at some point of a long campaign.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Memory {
    pub(super) runs: u64,
    pub(super) distinct: u64,
    pub(super) exact: bool,
    /// Of the set of fingerprints.
    pub(super) fingerprint_bytes: usize,
    /// Of the whole process; 0 if this system does not say.
    pub(super) resident_bytes: u64,
}

/// Memory at the quarters of a campaign whose runs are nearly all distinct.
pub(super) fn memory(body: Body, runs: u64) -> Result<Vec<Memory>, Problem> {
    let mut target = LibraryTarget::new(Arc::new(move || body.run()), HANG);
    let mut explorer = Sample::new(Strategy::Random, Plan::new(0, Tail::Random));
    let mut seen = raddle_analysis::statistics::Distinct::new();
    let mut rows = Vec::new();
    for quarter in 1..=4u64 {
        // One campaign in four parts: the explorer goes on where it was.
        let part = runs * quarter / 4 - runs * (quarter - 1) / 4;
        let limits = Limits { runs: part, stop_after: 1, races: true };
        let summary = campaign::run(&mut target, &mut explorer, &limits, &mut || false, &mut |_| ())
            .map_err(|error| Problem::new(error.message, "this is a bug of raddle's: please report it"))?;
        seen.merge(&summary.fingerprints);
        drop(summary);
        let distinct = seen.distinct();
        rows.push(Memory {
            runs: seen.runs(),
            distinct: distinct.value,
            exact: distinct.exact,
            fingerprint_bytes: seen.memory_bytes(),
            resident_bytes: resident_bytes(),
        });
    }
    Ok(rows)
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
