//! `raddle bench search`: what systematic search costs beside the runs that it asks for, and whether its memory grows
//! with the depth of the search only. `cargo xtask bench peers` compares with others.

use crate::bench::grid::{Grid, number, thousands};
use crate::bench::process;
use crate::output::{self, Format};
use crate::problem::Problem;
use crate::{Exit, progress};
use raddle::sync::atomic::{AtomicU64, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
use raddle::tool::LibraryTarget;
use raddle_explore::explorer::explorer;
use raddle_explore::{Exhausted, Limits, campaign};
use raddle_model::plan::Steps;
use raddle_model::{Plan, Tail};
use serde::{Deserialize, Serialize};
use std::process::Command;
use std::time::{Duration, Instant};

/// No body takes that long without an operation, whatever else the machine does.
const HANG: Duration = Duration::from_secs(60);

/// The share of the time that the search itself may take.
const SHARE_GOAL: f64 = 0.25;

/// The part of the time that a search takes beside its runs; memory of a long one
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The search to measure
    #[arg(long, value_name = "NAME", default_value = "odpor", value_parser = searching)]
    strategy: String,
    /// Time for each body
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    slice_ms: u64,
    /// Runs of the search whose memory is watched; 0 to leave that out
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    memory_runs: u64,
    /// Watch the memory of this body alone, and nothing else: each has a process of its own
    #[arg(long, value_name = "BODY", hide = true)]
    memory_of: Option<String>,
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn searching(name: &str) -> Result<String, String> {
    match raddle_policy::parse(name) {
        Ok(strategy) if !strategy.samples() => Ok(name.to_owned()),
        Ok(_) => Err(String::from("it samples: `raddle bench speed` measures that")),
        Err(error) => Err(error.to_string()),
    }
}

/// One body.
#[derive(Debug, Serialize)]
struct Row {
    body: &'static str,
    runs: u64,
    exhausted: bool,
    events_per_run: f64,
    runs_per_second: f64,
    /// The part of the carrier's time that went into the search.
    search_share: f64,
}

/// Of a process that has done nothing else.
#[derive(Debug, Serialize, Deserialize)]
struct Memory {
    body: String,
    runs: u64,
    peak_bytes: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct Results<'a> {
    schema: &'static str,
    strategy: &'a str,
    bodies: Vec<Row>,
    memory: Vec<Memory>,
}

type Body = fn();

/// The bodies of the comparison with peers, and those with published numbers of partial orders.
const BODIES: [(&str, Body); 14] = [
    ("mutex 2x25", || mutex(2, 25)),
    ("mutex 2x250", || mutex(2, 250)),
    ("mutex 4x5", || mutex(4, 5)),
    ("mutex 4x25", || mutex(4, 25)),
    ("mutex 4x250", || mutex(4, 250)),
    ("atomic 2x25", || atomic(2, 25)),
    ("atomic 2x250", || atomic(2, 250)),
    ("atomic 4x5", || atomic(4, 5)),
    ("atomic 4x25", || atomic(4, 25)),
    ("atomic 4x250", || atomic(4, 250)),
    ("readers 18", || readers(18)),
    ("lastzero 15", || lastzero(15)),
    ("indexer 16", || indexer(16)),
    ("increments 9", || atomic(9, 1)),
];

/// Bodies with far more partial orders than are run. The second is the worst there is for `odpor`: nearly every run finds
/// another sequence that must be taken from the beginning.
const ENDLESS: [(&str, Body); 2] = [("atomic 4x25", || atomic(4, 25)), ("readers 24", || readers(24))];

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    if cfg!(debug_assertions) {
        eprintln!(
            "raddle: this build is not optimized: take figures with cargo run --release -- bench search"
        );
    }
    if let Some(name) = &args.memory_of {
        let body = ENDLESS.iter().find(|(known, _)| known == name);
        let (_, body) = body.ok_or_else(|| {
            Problem::new(
                format!("there is no body `{name}`"),
                "`--memory-of` takes one of those that the bench prints",
            )
        })?;
        output::print_line(&output::json(&peak(name, *body, &args.strategy, args.memory_runs)?));
        return Ok(Exit::NothingFound);
    }
    let bar = progress::bar(BODIES.len() as u64 + 1, "bench search");
    let mut bodies = Vec::new();
    for (name, body) in BODIES {
        bar.set_message(name);
        bodies.push(row(name, body, &args.strategy, Duration::from_millis(args.slice_ms))?);
        bar.inc(1);
    }
    bar.set_message("memory");
    let mut memory = Vec::new();
    for (name, _) in ENDLESS.into_iter().filter(|_| args.memory_runs > 0) {
        memory.push(peak_alone(name, args)?);
    }
    bar.finish_and_clear();
    let results = Results { schema: "raddle.bench.search.v1", strategy: &args.strategy, bodies, memory };
    match args.format {
        Format::Human => output::print(&text(&results)),
        Format::Json => output::print_line(&output::json(&results)),
    }
    Ok(Exit::NothingFound)
}

fn row(name: &'static str, body: Body, strategy: &str, time: Duration) -> Result<Row, Problem> {
    // The first search warms up and is not counted.
    search(body, strategy, u64::MAX, time / 8)?;
    let (summary, seconds) = search(body, strategy, u64::MAX, time)?;
    let runs = summary.progress.runs;
    Ok(Row {
        body: name,
        runs,
        exhausted: summary.exhausted == Exhausted::Yes,
        events_per_run: summary.progress.steps as f64 / runs as f64,
        runs_per_second: runs as f64 / seconds,
        search_share: summary.search_time.as_secs_f64() / seconds,
    })
}

/// As [`peak`], in a process of its own: what others have had before would count as well.
fn peak_alone(name: &str, args: &Args) -> Result<Memory, Problem> {
    let mut command = Command::new(process::me()?);
    command.args(["bench", "search", "--strategy", &args.strategy, "--memory-of", name]);
    command.args(["--memory-runs", &args.memory_runs.to_string()]);
    process::read(&process::finished(&mut command, &[0])?)
}

fn peak(name: &str, body: Body, strategy: &str, runs: u64) -> Result<Memory, Problem> {
    let (summary, seconds) = search(body, strategy, runs, Duration::MAX)?;
    Ok(Memory { body: name.to_owned(), runs: summary.progress.runs, peak_bytes: peak_bytes(), seconds })
}

fn search(
    body: Body,
    strategy: &str,
    runs: u64,
    time: Duration,
) -> Result<(campaign::Summary, f64), Problem> {
    let mut target = LibraryTarget::new(std::sync::Arc::new(body), HANG);
    let strategy = raddle_policy::parse(strategy).expect("raddle bug: clap has read it");
    // As checks of the library do.
    let steps = Steps { sections: true, ..Steps::default() };
    let mut explorer = explorer(strategy, Plan::new(0, Tail::Steps(steps)));
    let limits = Limits { runs, stop_after: 1, races: true };
    let begun = Instant::now();
    let mut asked = 0u64;
    let mut time_is_up = || {
        asked += 1;
        asked.is_multiple_of(64) && begun.elapsed() >= time
    };
    let summary = campaign::run(&mut target, &mut *explorer, &limits, &mut time_is_up, &mut |_| ())
        .map_err(|error| Problem::new(error.message, "this is a bug of raddle's: please report it"))?;
    Ok((summary, begun.elapsed().as_secs_f64()))
}

/// The most memory that the process ever had; 0 if this system does not say.
fn peak_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn text(results: &Results<'_>) -> String {
    let mut grid = Grid::new(["body", "runs", "all", "events", "runs/s", "search"]);
    for row in &results.bodies {
        grid.row([
            row.body.to_owned(),
            thousands(row.runs as i64),
            String::from(if row.exhausted { "yes" } else { "" }),
            number(row.events_per_run),
            number(row.runs_per_second),
            format!("{:.0}%", row.search_share * 100.0),
        ]);
    }
    let worst = results.bodies.iter().max_by(|a, b| a.search_share.total_cmp(&b.search_share));
    let met = results.bodies.iter().filter(|row| row.search_share < SHARE_GOAL).count();
    let mut out = format!("{}: the time that the search itself takes\n\n{}", results.strategy, grid.text());
    if let Some(worst) = worst {
        out += &format!(
            "\n  worst: {:.0}% on {}; under {:.0}% on {met} of {} bodies\n",
            worst.search_share * 100.0,
            worst.body,
            SHARE_GOAL * 100.0,
            results.bodies.len()
        );
    }
    if !results.memory.is_empty() {
        out += "\nmost memory that a process had in these runs\n\n";
        let mut grid = Grid::new(["body", "runs", "seconds", "peak"]);
        for row in &results.memory {
            let peak = format!("{:.1} MB", row.peak_bytes as f64 / 1e6);
            grid.row([row.body.clone(), thousands(row.runs as i64), number(row.seconds), peak]);
        }
        out += &grid.text();
    }
    out
}

fn join_all(handles: Vec<thread::JoinHandle<()>>) {
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

fn mutex(tasks: usize, operations: usize) {
    let counter = std::sync::Arc::new(Mutex::new(0usize));
    let task = |_| {
        let counter = counter.clone();
        thread::spawn(move || (0..operations).for_each(|_| *counter.lock().unwrap() += 1))
    };
    join_all((0..tasks).map(task).collect());
}

fn atomic(tasks: usize, operations: usize) {
    let counter = std::sync::Arc::new(AtomicU64::new(0));
    let task = |_| {
        let counter = counter.clone();
        thread::spawn(move || {
            for _ in 0..operations {
                counter.fetch_add(1, SeqCst);
            }
        })
    };
    join_all((0..tasks).map(task).collect());
}

fn readers(count: usize) {
    let x = Arc::new(AtomicU64::new(0));
    let task = |number: usize| {
        let x = x.clone();
        thread::spawn(move || {
            if number == 0 {
                return x.store(1, SeqCst);
            }
            x.load(SeqCst);
        })
    };
    join_all((0..=count).map(task).collect());
}

/// Atomics that main has used before anybody else.
fn atomics(count: usize) -> Arc<Vec<AtomicU64>> {
    let atomics: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
    atomics.iter().for_each(|atomic| atomic.store(0, SeqCst));
    Arc::new(atomics)
}

fn lastzero(n: usize) {
    let a = atomics(n + 1);
    let task = |i: usize| {
        let a = a.clone();
        thread::spawn(move || {
            if i > 0 {
                let before = a[i - 1].load(SeqCst);
                return a[i].store(before + 1, SeqCst);
            }
            let mut last = n;
            while a[last].load(SeqCst) != 0 {
                last -= 1;
            }
        })
    };
    join_all((0..=n).map(task).collect());
}

fn indexer(tasks: u64) {
    let table = atomics(128);
    let task = |task: u64| {
        let table = table.clone();
        thread::spawn(move || {
            for message in 1..=4 {
                let word = message * 11 + task;
                let mut place = (word * 7 % 128) as usize;
                while table[place].compare_exchange(0, word, SeqCst, SeqCst).is_err() {
                    place = (place + 1) % 128;
                }
            }
        })
    };
    join_all((0..tasks).map(task).collect());
}
