//! `raddle bench native`: what controlling an unmodified program costs, beside the same program without hooks, with
//! hooks that only return, and with gcc's own ThreadSanitizer.
//!
//! Built with gcc at `-O1`, `--points sync`, all detectors and the fingerprint on. The programs take their own time, and
//! of everything the best of some counts, since whatever else the machine does is no part of it. Runs a second are taken
//! by the clock on the wall: on a machine that has other things to do they are too few.

mod checkpoints;
mod memory;
mod reset;
mod workshop;

use crate::bench::grid::{Grid, number, thousands};
use crate::output::{self, Format};
use crate::problem::Problem;
use crate::{Exit, progress};
use serde::Serialize;
use std::path::PathBuf;
use workshop::{Build, Workshop};

/// Into how many parts the runs of the small program are divided, and how many such parts are run. The best part counts: what else a
/// machine does often lasts for seconds, and a long try has all of it.
const RATE_PARTS: u64 = 4;
const RATE_TRIES: u32 = 16;

/// Copies of a process that are made to see how long the kernel takes for one.
const COPIES: u64 = 200;

/// What controlling an unmodified program costs, beside gcc's own ThreadSanitizer
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Plain accesses in each round
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    accesses: u64,
    /// Atomic operations of each of two threads in each round
    #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    atomics: u64,
    /// Runs of the small program
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(10..))]
    runs: u64,
    /// Runs of the campaign whose memory is watched
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(10..))]
    memory_runs: u64,
    /// The same under reset
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(10..))]
    reset_memory_runs: u64,
    /// Megabytes of the program that fills its heap before it makes threads
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    megabytes: u64,
    /// A folder with subjects (`bug`, `ok`), each of which is run under fork and under reset
    #[arg(long, value_name = "DIR")]
    subjects: Option<PathBuf>,
    /// Sections of a lock before the first choice, two events each, of the program that is searched
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    sections: u64,
    /// Most runs of each search
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    searched: u64,
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// One figure.
#[derive(Serialize)]
struct Figure {
    what: &'static str,
    value: f64,
    unit: &'static str,
    /// What it is compared with; absent if it stands for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<f64>,
    reference_is: &'static str,
    /// The most that this machine allows, whoever asks; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<f64>,
    /// The goal as a number: at least or at most.
    goal: f64,
    goal_is: &'static str,
    met: bool,
}

#[derive(Serialize)]
struct Results {
    schema: &'static str,
    figures: Vec<Figure>,
    memory: Vec<memory::Sample>,
    memory_reset: Vec<memory::Sample>,
    /// Runs a second of each, the worst ratio first.
    subjects: Vec<reset::Row>,
    /// Those that were not measured because of their many events.
    subjects_left_out: Vec<reset::LeftOut>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    if cfg!(debug_assertions) {
        eprintln!("raddle: take figures with cargo run --release -- bench native");
    }
    let bar = progress::bar(9, "bench native");
    let step = |what: &'static str| {
        bar.set_message(what);
        bar.inc(1);
    };
    step("building");
    let workshop = Workshop::new()?;
    step("plain accesses");
    let pace = workshop.printed(Build::Plain, "pace", 0)?;
    let alone = |build: Build| workshop.printed(build, "accesses", args.accesses).map(|ticks| ticks / pace);
    let (plain, empty) = (alone(Build::Plain)?, alone(Build::Empty)?);
    let sanitizer = alone(Build::Sanitizer)?;
    let under_control = |what: &str, count: u64| workshop.told(what, count).map(|ticks| ticks / pace);
    let controlled = under_control("accesses", args.accesses)?;
    step("hand-over between kernel threads");
    let handoff = workshop.printed(Build::Plain, "handoff", 2_000)?;
    step("switches");
    let operation = under_control("atomics", args.atomics)?;
    let unswitched = under_control("atomics-of-one", 2 * args.atomics)?;
    step("runs");
    let runs = |runs: u64, isolation: &str| {
        let command = || workshop.controlled("small", 0, (runs / RATE_PARTS).max(1), isolation);
        workshop.best_of(RATE_TRIES, "runs_per_second", f64::max, command)
    };
    let copies = 1e9 / workshop.printed(Build::Plain, "forks", COPIES)?;
    let (forked, repeated) = (runs(args.runs, "fork")?, runs(20 * args.runs, "in-process")?);
    let sanitized = 1.0 / workshop.alone(Build::Sanitizer, "small", 0)?;
    let small = reset::of_program(&workshop, "small", 0, [args.runs, 10 * args.runs])?;
    let heap_runs = [(args.runs / 400).max(10), args.runs / 10];
    let heap = reset::of_program(&workshop, "heap", args.megabytes, heap_runs)?;
    step("subjects");
    let subjects = args.subjects.as_deref().map(|folder| reset::of_subjects(&workshop, folder));
    let reset::Subjects { rows: subjects, left_out: subjects_left_out } =
        subjects.transpose()?.unwrap_or_default();
    step("checkpoints");
    let checkpoints = checkpoints::figures(&workshop, args.sections, args.searched)?;
    step("memory");
    let memory = memory::watch(&workshop, args.memory_runs, "fork")?;
    step("memory under reset");
    let memory_reset = memory::watch(&workshop, args.reset_memory_runs, "reset")?;
    bar.finish_and_clear();
    // Both hooks of an access, without what the loop itself costs.
    let hooks = |build: f64| (build - plain).max(0.0) / 2.0;
    let mut figures = vec![
        at_most("hook without a switch", hooks(controlled), (hooks(empty), "a hook that only returns"), 3.0),
        // Every second operation of two equal tasks under `random` switches; what one without costs is known.
        at_least(
            "hook and switch",
            2.0 * operation - unswitched,
            (handoff, "futex hand-over on one processor"),
            30.0,
        ),
        at_most("an access in single-threaded code", controlled, (sanitizer, "gcc's ThreadSanitizer"), 1.0),
        Figure { most: Some(copies), ..rate("runs a second, two threads, fork", forked, sanitized, 5_000.0) },
        rate("runs a second, two threads, in-process", repeated, sanitized, 300_000.0),
        Figure {
            reference: Some(small.fork),
            reference_is: "fork",
            ..rate("runs a second, two threads, reset", small.reset, 0.0, 100_000.0)
        },
        times("runs a second with a large heap, reset", heap, 10.0),
    ];
    figures.extend(
        subjects.first().map(|worst| times("runs a second of the worst subject, reset", worst.pair, 20.0)),
    );
    figures.extend(checkpoints);
    let schema = "raddle.bench.native.v1";
    let results = Results { schema, figures, memory, memory_reset, subjects, subjects_left_out };
    match args.format {
        Format::Human => output::print(&text(&results)),
        Format::Json => {
            output::print_line(&output::json(&results));
        }
    }
    Ok(Exit::NothingFound)
}

/// So many runs a second, beside processes of the same program under gcc's ThreadSanitizer.
fn rate(what: &'static str, value: f64, reference: f64, goal: f64) -> Figure {
    Figure {
        what,
        value,
        unit: "",
        reference: Some(reference),
        reference_is: "processes under gcc's ThreadSanitizer",
        most: None,
        goal,
        goal_is: "at least",
        met: value >= goal,
    }
}

/// So many runs a second under reset, beside those under fork.
fn times(what: &'static str, pair: reset::Pair, goal: f64) -> Figure {
    Figure {
        what,
        value: pair.reset,
        unit: "",
        reference: Some(pair.fork),
        reference_is: "fork",
        most: None,
        goal,
        goal_is: "times as many, at least",
        met: pair.ratio() >= goal,
    }
}

/// What something takes, and what it is measured against.
type Beside = (f64, &'static str);

fn at_most(what: &'static str, value: f64, beside: Beside, goal: f64) -> Figure {
    cost(what, value, beside, goal, "times it, at most", value <= goal * beside.0)
}

fn at_least(what: &'static str, value: f64, beside: Beside, goal: f64) -> Figure {
    cost(what, value, beside, goal, "times cheaper, at least", beside.0 >= goal * value)
}

fn cost(
    what: &'static str,
    value: f64,
    (reference, reference_is): Beside,
    goal: f64,
    goal_is: &'static str,
    met: bool,
) -> Figure {
    let reference = Some(reference);
    Figure { what, value, unit: "ns", reference, reference_is, most: None, goal, goal_is, met }
}

fn text(results: &Results) -> String {
    let mut grid = Grid::new(["what", "here", "beside", "ratio", "goal", "met"]);
    for figure in &results.figures {
        let unit = |value: f64| format!("{} {}", number(value), figure.unit).trim_end().to_owned();
        let ratio = figure.reference.map_or_else(String::new, |reference| {
            let cheaper = figure.goal_is.contains("cheaper");
            let ratio = if cheaper { reference / figure.value } else { figure.value / reference };
            format!("{ratio:.2}×")
        });
        let reference = figure.reference.map(|it| format!("{}: {}", figure.reference_is, unit(it)));
        let most = figure.most.map(|most| format!("copies that do nothing: {}", unit(most)));
        let beside = reference.into_iter().chain(most);
        grid.row([
            figure.what.to_owned(),
            unit(figure.value),
            beside.collect::<Vec<_>>().join("; "),
            ratio,
            format!("{} {}", number(figure.goal), figure.goal_is),
            String::from(if figure.met { "yes" } else { "no" }),
        ]);
    }
    let mut memory = Grid::new(["under", "runs", "memory of the processes", "open descriptors"]);
    for (isolation, samples) in [("fork", &results.memory), ("reset", &results.memory_reset)] {
        for sample in samples {
            memory.row([
                isolation.to_owned(),
                thousands(sample.runs as i64),
                format!("{:.1} MB", sample.bytes as f64 / 1e6),
                sample.descriptors.to_string(),
            ]);
        }
    }
    let mut text = format!("{}\nmemory of one campaign\n\n{}", grid.text(), memory.text());
    if !results.subjects.is_empty() {
        let mut subjects = Grid::new(["subject", "fork", "reset", "ratio"]);
        for row in &results.subjects {
            let ratio = format!("{:.1}×", row.pair.ratio());
            subjects.row([row.name.clone(), number(row.pair.fork), number(row.pair.reset), ratio]);
        }
        text += &format!("\nruns a second of the subjects\n\n{}", subjects.text());
    }
    if !results.subjects_left_out.is_empty() {
        let mut left_out = Grid::new(["subject", "events a run"]);
        for subject in &results.subjects_left_out {
            left_out.row([subject.name.clone(), number(subject.events_per_run)]);
        }
        let least = thousands(reset::EVENTS_MAX as i64);
        text += &format!("\nleft out, with {least} events a run or more\n\n{}", left_out.text());
    }
    text
}
