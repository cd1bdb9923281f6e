//! `raddle bench speed`: Raddle alone. How fast runs are, whether a step costs more with more tasks or in longer runs,
//! and whether memory stays flat. `cargo xtask bench peers` compares with others.

mod body;
mod measure;

use crate::bench::grid::{Grid, number, thousands};
use crate::output::{self, Format};
use crate::problem::Problem;
use crate::{Exit, progress, seed};
use body::{Body, Work};
use measure::{Effort, Figure, Memory};
use raddle_policy::Strategy;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Operations of each of two tasks, so that runs have about 10^2, 10^3, 10^4 and 10^5 events.
const LENGTHS: [usize; 4] = [50, 500, 5_000, 50_000];
/// Tasks whose steps are compared.
const CROWDS: [usize; 2] = [4, 100];

/// Runs per second and time per event, alone; growth with tasks and with the length of runs; memory
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Strategies to measure, separated by commas; all by default
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = seed::sampler)]
    strategies: Vec<String>,
    /// Time for each of the five slices of which a figure is the median
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    slice_ms: u64,
    /// Runs of the campaign whose memory is watched
    #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(4..))]
    memory_runs: u64,
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct Results {
    schema: &'static str,
    bodies: Vec<Figure>,
    crowds: Vec<Figure>,
    lengths: Vec<Figure>,
    memory: Vec<Memory>,
    seconds: f64,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    if cfg!(debug_assertions) {
        eprintln!(
            "raddle: this build is not optimized: take figures with cargo run --release -- bench speed"
        );
    }
    let begun = Instant::now();
    let strategies = strategies(args);
    let effort = Effort { slice: Duration::from_millis(args.slice_ms), slices: 5 };
    let crowds = CROWDS.map(|tasks| Body { work: Work::Atomic, tasks, operations: 25 });
    let lengths = LENGTHS.map(|operations| Body { work: Work::Atomic, tasks: 2, operations });
    let all = body::all();
    let count = (all.len() + crowds.len() + lengths.len()) * strategies.len() + 1;
    let bar = progress::bar(count as u64, "bench speed");
    let figures = |bodies: &[Body]| -> Result<Vec<Figure>, Problem> {
        let mut figures = Vec::new();
        for &body in bodies {
            for (name, strategy) in &strategies {
                bar.set_message(format!("{body}, {name}"));
                figures.push(measure::figure(body, name, *strategy, effort)?);
                bar.inc(1);
            }
        }
        Ok(figures)
    };
    let mut results = Results {
        schema: "raddle.bench.speed.v1",
        bodies: figures(&all)?,
        crowds: figures(&crowds)?,
        lengths: figures(&lengths)?,
        memory: Vec::new(),
        seconds: 0.0,
    };
    bar.set_message("memory");
    results.memory =
        measure::memory(Body { work: Work::Atomic, tasks: 4, operations: 25 }, args.memory_runs)?;
    bar.finish_and_clear();
    results.seconds = begun.elapsed().as_secs_f64();
    match args.format {
        Format::Human => output::print(&text(&results, &strategies)),
        Format::Json => output::print_line(&output::json(&results)),
    }
    Ok(Exit::NothingFound)
}

fn strategies(args: &Args) -> Vec<(String, Strategy)> {
    let known = |name: &String| raddle_policy::parse(name).expect("raddle bug: clap has read it");
    if args.strategies.is_empty() {
        raddle_policy::strategies()
            .iter()
            .filter(|known| known.strategy.samples())
            .map(|known| (known.name.to_owned(), known.strategy))
            .collect()
    } else {
        args.strategies.iter().map(|name| (name.clone(), known(name))).collect()
    }
}

fn text(results: &Results, strategies: &[(String, Strategy)]) -> String {
    let names: Vec<&str> = strategies.iter().map(|(name, _)| name.as_str()).collect();
    let head = |first: &str| -> Vec<String> {
        [first.to_owned(), String::from("events")]
            .into_iter()
            .chain(names.iter().map(|name| (*name).to_owned()))
            .collect()
    };
    // Figures come in groups: a body under each strategy.
    let table = |title: &str, first: &str, figures: &[Figure], of: fn(&Figure) -> f64| {
        let mut grid = Grid::new(head(first));
        for group in figures.chunks(names.len()) {
            let mut cells = vec![group[0].body.clone(), number(group[0].events_per_run)];
            cells.extend(group.iter().map(|figure| number(of(figure))));
            grid.row(cells);
        }
        format!("{title}\n\n{}", grid.text())
    };
    let mut crowds =
        table("ns per event, few tasks and many", "body", &results.crowds, |figure| figure.ns_per_event);
    if let [few, many] = &results.crowds.chunks(names.len()).collect::<Vec<_>>()[..] {
        let ratios = few.iter().zip(*many).map(|(few, many)| many.ns_per_event / few.ns_per_event);
        let ratios: Vec<String> =
            names.iter().zip(ratios).map(|(name, ratio)| format!("{name} {ratio:.1}×")).collect();
        crowds += &format!("\n  growth from {} tasks to {}: {}\n", CROWDS[0], CROWDS[1], ratios.join(", "));
    }
    [
        table("runs per second", "body", &results.bodies, |figure| figure.runs_per_second),
        table("ns per event", "body", &results.bodies, |figure| figure.ns_per_event),
        crowds,
        table("ns per event, short runs and long", "body", &results.lengths, |figure| figure.ns_per_event),
        memory(&results.memory),
        format!("{:.1} s\n", results.seconds),
    ]
    .join("\n")
}

fn memory(rows: &[Memory]) -> String {
    let mut grid = Grid::new(["runs", "distinct partial orders", "fingerprints", "process"]);
    for row in rows {
        let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
        grid.row([
            thousands(row.runs as i64),
            format!("{}{}", if row.exact { "" } else { "about " }, thousands(row.distinct as i64)),
            megabytes(row.fingerprint_bytes as f64),
            megabytes(row.resident_bytes as f64),
        ]);
    }
    format!(
        "memory of one campaign (atomic 4x25, random), nearly every run a new partial order\n\n{}",
        grid.text()
    )
}
