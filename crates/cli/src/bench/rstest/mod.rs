//! `raddle bench rstest`: what Stoller's paper (RV 2002) left as future experiments. How many scheduling calls a run has,
//! how many switches its counterexample, and what it costs, if the scheduler is called at every access, if it is called
//! only at synchronization and at accesses to what is shared, and if only at what is shared and unprotected. Beside the
//! paper's semaphore approach (`random`) stands its loop approach (`noise`), the baseline.
//!
//! Subjects are the paper's Clean and Fund Managers, written in C. The set of shared locations grows from run to run, as
//! runs show what is shared: each experiment begins with none.

use crate::bench::grid::{Grid, number};
use crate::cc::program;
use crate::native::{Addresses, Backend, Beginning, Checkpoints, Isolation, NativeTarget, Program};
use crate::output::{self, Format};
use crate::problem::Problem;
use crate::{Exit, progress};
use raddle_explore::campaign::{self, Limits};
use raddle_explore::sample::Sample;
use raddle_model::{Plan, PointSet};
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// The future experiments of the rstest paper: scheduling calls and switches with and without classification
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Experiments with different seeds for each figure
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u64).range(1..))]
    experiments: u64,
    /// Runs after which an experiment gives up
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A program of the paper: its name there, its file, its text.
const SUBJECTS: [(&str, &str, &str); 2] = [
    ("Clean", "clean.c", include_str!("../../../../../subjects/bug/clean.c")),
    ("Fund Managers", "fundmanagers.c", include_str!("../../../../../subjects/bug/fundmanagers.c")),
];
const HEADER: (&str, &str) = ("pair.h", include_str!("../../../../../subjects/bug/pair.h"));

/// What came of the experiments with one subject and one choice of points.
#[derive(Serialize)]
struct Row {
    subject: &'static str,
    strategy: &'static str,
    points: &'static str,
    experiments: u64,
    /// In how many of them the bug was found.
    found: u64,
    /// Means over those.
    runs_to_bug: f64,
    calls_per_run: f64,
    calls_in_counterexample: f64,
    preemptions_in_counterexample: f64,
    microseconds_per_run: f64,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    let place = |error| Problem::new(format!("no temporary directory: {error}"), "is TMPDIR writable?");
    let scratch = tempfile::tempdir().map_err(place)?;
    output::write(&scratch.path().join(HEADER.0), HEADER.1)?;
    let choices = [
        ("random", "every access", PointSet::everything(), false),
        ("random", "shared", PointSet::default(), true),
        ("random", "shared, unprotected", PointSet::default(), false),
        ("noise", "every access", PointSet::everything(), false),
        ("noise", "shared, unprotected", PointSet::default(), false),
    ];
    let bar = progress::bar((SUBJECTS.len() * choices.len()) as u64 * args.experiments, "bench rstest");
    let mut rows = Vec::new();
    for (subject, file, text) in SUBJECTS {
        let source = scratch.path().join(file);
        output::write(&source, text)?;
        let built = program::fit(&source)?.path;
        for (strategy, points, set, sharing) in &choices {
            bar.set_message(format!("{subject}, {strategy}, {points}"));
            let mut row = Row::new(subject, strategy, points, args.experiments);
            for seed in 0..args.experiments {
                row.add(experiment(&built, strategy, seed, set, *sharing, args.runs)?);
                bar.inc(1);
            }
            rows.push(row.mean());
        }
    }
    bar.finish_and_clear();
    match args.format {
        Format::Human => output::print(&text(&rows)),
        Format::Json => {
            let line = serde_json::json!({ "schema": "raddle.bench.rstest.v1", "rows": rows });
            output::print_line(&line.to_string());
        }
    }
    Ok(Exit::NothingFound)
}

/// What came of one.
struct Experiment {
    runs: u64,
    steps: u64,
    seconds: f64,
    /// Scheduling calls and preemptions of the counterexample.
    found: Option<(usize, usize)>,
}

fn experiment(
    path: &Path,
    strategy: &str,
    seed: u64,
    points: &PointSet,
    sharing: bool,
    runs: u64,
) -> Result<Experiment, Problem> {
    let program = Program {
        path: path.to_owned(),
        arguments: Vec::new(),
        stdin: Vec::new(),
        hang: Duration::from_secs(5),
        beginning: Beginning::Process,
        isolation: Isolation::Fork,
        backend: Backend::Auto.choose()?,
        addresses: Addresses::default(),
        sharing,
        checkpoints: Checkpoints::default(),
    };
    let mut target = NativeTarget::start(program, None)?;
    let strategy = raddle_policy::parse(strategy).map_err(|error| Problem::new(error.message, ""))?;
    let mut explorer =
        Sample::new(strategy, Plan { points: points.clone(), ..Plan::new(seed, strategy.tail()) });
    let limits = Limits { runs, stop_after: 1, races: false };
    let begun = Instant::now();
    let summary = campaign::run(&mut target, &mut explorer, &limits, &mut || false, &mut |_| ())?;
    let found = summary.failures.first().map(|found| {
        let trace = &found.run.trace;
        (trace.events.len(), raddle_report::preemptions(trace))
    });
    let progress = summary.progress;
    Ok(Experiment {
        runs: progress.runs,
        steps: progress.steps,
        seconds: begun.elapsed().as_secs_f64(),
        found,
    })
}

impl Row {
    fn new(subject: &'static str, strategy: &'static str, points: &'static str, experiments: u64) -> Row {
        Row {
            subject,
            strategy,
            points,
            experiments,
            found: 0,
            runs_to_bug: 0.0,
            calls_per_run: 0.0,
            calls_in_counterexample: 0.0,
            preemptions_in_counterexample: 0.0,
            microseconds_per_run: 0.0,
        }
    }

    fn add(&mut self, experiment: Experiment) {
        let Some((calls, preemptions)) = experiment.found else { return };
        self.found += 1;
        self.runs_to_bug += experiment.runs as f64;
        self.calls_per_run += experiment.steps as f64 / experiment.runs as f64;
        self.calls_in_counterexample += calls as f64;
        self.preemptions_in_counterexample += preemptions as f64;
        self.microseconds_per_run += experiment.seconds * 1e6 / experiment.runs as f64;
    }

    fn mean(mut self) -> Row {
        let count = self.found.max(1) as f64;
        for sum in [
            &mut self.runs_to_bug,
            &mut self.calls_per_run,
            &mut self.calls_in_counterexample,
            &mut self.preemptions_in_counterexample,
            &mut self.microseconds_per_run,
        ] {
            *sum /= count;
        }
        self
    }
}

fn text(rows: &[Row]) -> String {
    let head = [
        "subject, strategy, points",
        "found",
        "runs to bug",
        "calls a run",
        "calls, counterexample",
        "preemptions",
        "µs a run",
    ];
    let mut grid = Grid::new(head);
    for row in rows {
        grid.row([
            format!("{}, {}, {}", row.subject, row.strategy, row.points),
            format!("{}/{}", row.found, row.experiments),
            number(row.runs_to_bug),
            number(row.calls_per_run),
            number(row.calls_in_counterexample),
            number(row.preemptions_in_counterexample),
            number(row.microseconds_per_run),
        ]);
    }
    format!(
        "means over the experiments that found the bug, one process for each run; the time of a run includes\n\
         starting the program once for each experiment and repeating the failing run for its report\n\n{}",
        grid.text()
    )
}
