//! Runs that are repeated in one process beside runs with processes of their own: the same program, in turns.

use super::workshop::Workshop;
use crate::bench::process::{finished, read};
use crate::problem::Problem;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How often each is measured, in turns with the other: the best counts.
const TRIES: u32 = 3;
const SUBJECT_TRIES: u32 = 2;

/// Runs of a subject under each.
const SUBJECT_RUNS: [u64; 2] = [1_000, 40_000];

/// Subjects with so many events in a run, or more, are left out: what undoing costs is not what they take.
pub(super) const EVENTS_MAX: f64 = 1_000.0;

/// Runs that show how many events a subject has. One alone may end early.
const LOOKED_AT: u64 = 20;

/// Runs a second under `fork` and under `reset`.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Pair {
    pub(super) fork: f64,
    pub(super) reset: f64,
}

impl Pair {
    pub(super) fn ratio(self) -> f64 {
        self.reset / self.fork
    }
}

/// Both, for so many runs each.
pub(super) fn pair(
    runs: [u64; 2],
    tries: u32,
    command: impl Fn(u64, &str) -> Result<Command, Problem>,
) -> Result<(Pair, serde_json::Value), Problem> {
    let mut pair = Pair { fork: 0.0, reset: 0.0 };
    let mut last = serde_json::Value::Null;
    for _ in 0..tries {
        for (isolation, runs, best) in
            [("fork", runs[0], &mut pair.fork), ("reset", runs[1], &mut pair.reset)]
        {
            // Some find what they are there for.
            last = read(&finished(&mut command(runs, isolation)?, &[0, 1])?)?;
            *best = best.max(last["runs_per_second"].as_f64().unwrap_or(f64::NAN));
        }
    }
    Ok((pair, last))
}

/// Of one of the measured programs.
pub(super) fn of_program(
    workshop: &Workshop,
    what: &str,
    count: u64,
    runs: [u64; 2],
) -> Result<Pair, Problem> {
    pair(runs, TRIES, |runs, isolation| workshop.controlled(what, count, runs, isolation))
        .map(|(pair, _)| pair)
}

/// A subject.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    events_per_run: f64,
    #[serde(flatten)]
    pub(super) pair: Pair,
    /// Runs that got a process of their own nevertheless.
    alone: serde_json::Value,
}

/// A subject that has too many events in a run.
#[derive(Serialize)]
pub(super) struct LeftOut {
    pub(super) name: String,
    pub(super) events_per_run: f64,
}

/// What was measured, the worst first, and what was not.
#[derive(Serialize, Default)]
pub(super) struct Subjects {
    pub(super) rows: Vec<Row>,
    pub(super) left_out: Vec<LeftOut>,
}

/// All subjects below a folder.
pub(super) fn of_subjects(workshop: &Workshop, folder: &Path) -> Result<Subjects, Problem> {
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for subject in Subject::all(folder)? {
        let program = workshop.build(&subject.source, &subject.flags)?;
        let command = |runs, isolation: &str| {
            let mut command = workshop.campaign(runs, isolation)?;
            command.args(["--stop-after", "0", "--hang-ms", "3000"]).args(&subject.options);
            command.arg(&program).args(&subject.arguments);
            Ok(command)
        };
        let few = read(&finished(&mut command(LOOKED_AT, "fork")?, &[0, 1])?)?;
        let name = subject.name;
        if events_per_run(&few) >= EVENTS_MAX {
            left_out.push(LeftOut { name, events_per_run: events_per_run(&few) });
            continue;
        }
        let (pair, json) = pair(SUBJECT_RUNS, SUBJECT_TRIES, command)?;
        let alone = json["isolation"]["alone"].clone();
        rows.push(Row { name, events_per_run: events_per_run(&json), pair, alone });
    }
    rows.sort_by(|a, b| a.pair.ratio().total_cmp(&b.pair.ratio()));
    Ok(Subjects { rows, left_out })
}

fn events_per_run(json: &serde_json::Value) -> f64 {
    let number = |name: &str| json[name].as_f64().unwrap_or(f64::NAN);
    (number("steps") + number("accesses")) / number("runs")
}

/// A program with an expectation file, of which the lines matter that say how it is built and run.
struct Subject {
    name: String,
    source: PathBuf,
    flags: Vec<String>,
    arguments: Vec<String>,
    options: Vec<String>,
}

impl Subject {
    fn all(folder: &Path) -> Result<Vec<Subject>, Problem> {
        let wrong = |error: std::io::Error| {
            Problem::new(
                format!("{}: {error}", folder.display()),
                "it takes a folder with `bug` and `ok` in it",
            )
        };
        let mut found = Vec::new();
        let mut expectations = Vec::new();
        for entry in std::fs::read_dir(folder.join("bug")).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            if path.extension().is_some_and(|extension| extension == "expect") {
                expectations.push(path);
            }
        }
        expectations.sort();
        for path in expectations {
            let text = std::fs::read_to_string(&path).map_err(wrong)?;
            let words = |key: &str| -> Vec<String> {
                let rests = text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
                rests.flat_map(str::split_whitespace).map(ToOwned::to_owned).collect()
            };
            if !words("later").is_empty() {
                continue;
            }
            for verdict in ["bug", "ok"] {
                let stem = folder.join(verdict).join(path.file_stem().unwrap_or_default());
                let sources = ["c", "cc"].map(|extension| stem.with_extension(extension));
                found.extend(sources.into_iter().find(|source| source.exists()).map(|source| Subject {
                    name: format!("{verdict}/{}", stem.file_name().unwrap_or_default().display()),
                    source,
                    flags: words("flags"),
                    arguments: words("args"),
                    options: words("options"),
                }));
            }
        }
        Ok(found)
    }
}
