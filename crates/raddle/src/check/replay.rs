//! Running a recorded failure again, shrinking it, and running the regressions first.

use super::config::Config;
use super::error::Error;
use super::outcome::{self, Report};
use crate::rt::carrier::LibraryTarget;
use raddle_explore::campaign::Found;
use raddle_explore::shrink;
use raddle_explore::target::Target;
use raddle_model::{Divergence, Plan, SiteId, Tail, Verdict};
use raddle_wire::{FailureFile, SiteKey, failure, schedule};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Runs that shrinking may take.
const MINIMIZE_RUNS_MAX: u64 = 10_000;

/// Replays a failure file or a schedule string.
pub(crate) fn replay(config: &Config, target: &mut LibraryTarget, recorded: &str) -> Result<Report, Error> {
    let begun = Instant::now();
    let plan = plan(target, recorded)?;
    let found = run(target, &plan)?;
    let steps = found.run.digest.steps;
    let failed = matches!(found.run.digest.verdict, Verdict::Failed(_));
    let found = if failed { Some(outcome::tell(config, target, found)?) } else { None };
    Ok(outcome::of_one(config, found, steps, begun.elapsed().as_secs_f64()))
}

/// The plan of a failure file or a schedule string, with this process's numbers for its sites.
fn plan(target: &mut LibraryTarget, recorded: &str) -> Result<Plan, Error> {
    let unreadable = |error: &dyn std::fmt::Display| Error::Unreadable(format!("{recorded}: {error}"));
    if schedule::looks_like(recorded) {
        // Most schedules name no site; looking for the program's sites takes a run.
        let blind = schedule::decode(recorded, |_| SiteId(1)).map_err(|error| unreadable(&error))?;
        if blind.points.accesses.is_empty() {
            return Ok(blind);
        }
        let sites = sites(target)?;
        let site = |key| sites.get(&key).copied().unwrap_or(SiteId::UNKNOWN);
        return schedule::decode(recorded, site).map_err(|error| unreadable(&error));
    }
    let file = read(Path::new(recorded))?;
    plan_of(target, &file)
}

/// Reads a failure file.
pub(crate) fn read(path: &Path) -> Result<FailureFile, Error> {
    let bytes = std::fs::read(path).map_err(|error| {
        let hint = "a failure file of raddle's or a schedule string (r1.…) was expected";
        Error::Unreadable(format!("{}: {error}; {hint}", path.display()))
    })?;
    failure::decode(&bytes).map_err(|error| Error::Unreadable(format!("{}: {error}", path.display())))
}

fn plan_of(target: &mut LibraryTarget, file: &FailureFile) -> Result<Plan, Error> {
    if file.plan.points.accesses.is_empty() {
        return Ok(file.plan.clone());
    }
    let sites = sites(target)?;
    Ok(file.plan_here(|place| {
        let key = SiteKey::of(&place.file, place.line, place.column);
        sites.get(&key).copied().unwrap_or(SiteId::UNKNOWN)
    }))
}

/// The sites of the program, as far as one run shows them. A number is given by this process, so
/// what was written down by another has to be found again by file, line and column.
fn sites(target: &mut LibraryTarget) -> Result<BTreeMap<SiteKey, SiteId>, Error> {
    let mut sites = BTreeMap::new();
    for seed in 0..8 {
        let run = target.run(&Plan::new(seed, Tail::Random))?;
        for event in &run.trace.events {
            sites.insert(outcome::key(target, event.op.site), event.op.site);
        }
    }
    Ok(sites)
}

/// Runs a plan once, recorded. Leaving the schedule is an error that says where.
fn run(target: &mut LibraryTarget, plan: &Plan) -> Result<Found, Error> {
    let run = target.run(plan)?;
    let failure = match &run.digest.verdict {
        Verdict::Failed(failure) => failure.clone(),
        Verdict::Diverged(divergence) => return Err(Error::Diverged(explain(divergence))),
        Verdict::Finished | Verdict::Cut => raddle_model::Failure {
            kind: raddle_model::FailureKind::Nondeterminism,
            message: String::from("the recorded run finishes now"),
            tasks: Vec::new(),
            sites: Vec::new(),
        },
    };
    let plan = plan.replaying(run.trace.schedule.clone());
    Ok(Found { failure, original: None, plan, run, first_run: 0 })
}

fn explain(divergence: &Divergence) -> String {
    format!(
        "the run left the recorded schedule at step {}, after {} decisions: expected {}, found {}. Was the \
         schedule made by another program or another version of it? Or does the body depend on something that \
         raddle does not control (time, addresses, the order of a hash map)?",
        divergence.step, divergence.decision, divergence.expected, divergence.found
    )
}

/// Shrinks a failure file to the fewest preemptions and writes the result beside the others.
pub(crate) fn minimize(config: &Config, target: &mut LibraryTarget, path: &Path) -> Result<Report, Error> {
    let begun = Instant::now();
    let plan = plan_of(target, &read(path)?)?;
    let before = run(target, &plan)?;
    if !matches!(before.run.digest.verdict, Verdict::Failed(_)) {
        return Err(Error::Diverged(String::from(
            "the recorded run does not fail any more: nothing to minimize",
        )));
    }
    let smaller = shrink::minimize(target, &before.plan, MINIMIZE_RUNS_MAX)
        .map_err(|error| Error::Diverged(error.to_string()))?;
    let after = run(target, &smaller.plan)?;
    let count = |number: u32| format!("{number} preemption{}", if number == 1 { "" } else { "s" });
    eprintln!("minimized to {} in {} runs", count(smaller.preemptions), smaller.runs);
    let steps = after.run.digest.steps;
    let found = outcome::tell(config, target, after)?;
    Ok(outcome::of_one(config, Some(found), steps, begun.elapsed().as_secs_f64()))
}

/// Runs the failure files in `raddle-regressions` that belong to this body. The first that still
/// fails is the report.
pub(crate) fn regressions(config: &Config, target: &mut LibraryTarget) -> Result<Option<Report>, Error> {
    let Ok(directory) = std::fs::read_dir("raddle-regressions") else { return Ok(None) };
    let mut files: Vec<_> = directory.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "raddle")) {
        let file = read(path)?;
        // A body without a name is known by its line, which moves; its test stays.
        let mine = matches!(&file.target, raddle_wire::Target::Library { test, body, .. }
            if *body == config.body || (!test.is_empty() && *test == config.test));
        if !mine {
            continue;
        }
        let plan = plan_of(target, &file)?;
        // A schedule that can no longer be followed shows that the program has changed, not that it fails.
        match replay_of(config, target, &plan) {
            Ok(Some(report)) => return Ok(Some(report)),
            Ok(None) => {}
            Err(Error::Diverged(why)) => eprintln!("raddle: {} is out of date: {why}", path.display()),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn replay_of(config: &Config, target: &mut LibraryTarget, plan: &Plan) -> Result<Option<Report>, Error> {
    let begun = Instant::now();
    let found = run(target, plan)?;
    if !matches!(found.run.digest.verdict, Verdict::Failed(_)) {
        return Ok(None);
    }
    let steps = found.run.digest.steps;
    let found = outcome::tell(config, target, found)?;
    Ok(Some(outcome::of_one(config, Some(found), steps, begun.elapsed().as_secs_f64())))
}
