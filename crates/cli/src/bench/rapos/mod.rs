//! `raddle bench rapos`: fig. 1, table 1, fig. 6 and fig. 7 of Sen, "Effective Random Testing of Concurrent
//! Programs", ASE 2007, on subjects of the same structure. A row that misses a claim says so; `docs/rapos.md` says why.

mod experiment;
mod fig1;
mod fig7;
mod orders;
mod table1;

use crate::output::{self, Format};
use crate::problem::Problem;
use crate::{Exit, progress, seed};
use experiment::{Bench, Points, Starts};
use fig7::Order;
use indicatif::ProgressBar;
use raddle_policy::Strategy;
use raddle_report::plot;
use raddle_subjects::{Subject, TABLE1};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// Fig. 1, table 1, fig. 6 and fig. 7 of the RAPOS paper
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Repetitions of each experiment
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u64).range(2..))]
    experiments: u64,
    /// Subjects of table 1, separated by commas; all by default
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    subjects: Vec<String>,
    /// Strategies to compare, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "random,rapos,walks",
          value_parser = seed::sampler)]
    strategies: Vec<String>,
    /// Where to switch: before synchronization as in the paper, before racing accesses too, or both in turn
    #[arg(long, value_enum, default_value_t = Which::Both)]
    points: Which<Points>,
    /// Whether starting a thread is a point, as in the paper, or not, as in raddle, or both in turn
    #[arg(long, value_enum, default_value_t = Which::Both)]
    starts: Which<Starts>,
    /// The same seed gives the same numbers; `random` draws one
    #[arg(long, default_value = "0", value_parser = seed::parse)]
    seed: u64,
    /// Where the figures go
    #[arg(long, value_name = "DIR", default_value = "raddle-out/bench")]
    out: PathBuf,
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// One of two, or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Which<T> {
    One(T),
    Both,
}

impl<T: clap::ValueEnum + Copy> clap::ValueEnum for Which<T> {
    fn value_variants<'a>() -> &'a [Self] {
        let ones = T::value_variants().iter().map(|one| Which::One(*one));
        // Leaked once for each flag: clap wants a slice that lives for ever.
        Box::leak(ones.chain([Which::Both]).collect())
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        match self {
            Which::One(one) => one.to_possible_value(),
            Which::Both => Some(clap::builder::PossibleValue::new("both")),
        }
    }
}

impl<T: clap::ValueEnum + Copy> Which<T> {
    fn list(self) -> Vec<T> {
        match self {
            Which::One(one) => vec![one],
            Which::Both => T::value_variants().to_vec(),
        }
    }
}

/// Everything that was measured.
#[derive(Serialize)]
struct Results {
    schema: &'static str,
    seed: u64,
    experiments: u64,
    fig1: Vec<fig1::Row>,
    table1: Vec<table1::Row>,
    fig7: Vec<fig7::Row>,
    fig7_runs_max: u64,
    files: Vec<String>,
    seconds: f64,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    let begun = Instant::now();
    let subjects = subjects(&args.subjects)?;
    let strategies: Vec<(String, Strategy)> = args
        .strategies
        .iter()
        .map(|name| (name.clone(), raddle_policy::parse(name).expect("raddle bug: clap has read it")))
        .collect();
    let conditions = (args.points.list().len() * args.starts.list().len()) as u64;
    let cells: u64 = subjects.iter().map(|subject| if subject.backwards.is_some() { 3 } else { 1 }).sum();
    let bar =
        progress::bar(4 + cells * conditions * strategies.len() as u64 * args.experiments, "bench rapos");
    let mut results = Results {
        schema: "raddle.bench.rapos.v2",
        seed: args.seed,
        experiments: args.experiments,
        fig1: fig1::measure(args.seed, &bar)?,
        table1: Vec::new(),
        fig7: Vec::new(),
        fig7_runs_max: fig7::RUNS_MAX,
        files: Vec::new(),
        seconds: 0.0,
    };
    let plan = table1::Plan { strategies: &strategies, experiments: args.experiments, seed: args.seed };
    for subject in &subjects {
        measure(subject, args, &plan, &mut results, &bar)?;
    }
    bar.finish_and_clear();
    draw(args, &mut results)?;
    results.seconds = begun.elapsed().as_secs_f64();
    match args.format {
        Format::Human => output::print(&text(args, &results)),
        Format::Json => output::print_line(&output::json(&results)),
    }
    Ok(Exit::NothingFound)
}

fn subjects(names: &[String]) -> Result<Vec<&'static Subject>, Problem> {
    let known = || TABLE1.iter().map(|subject| subject.name).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        let found = TABLE1.iter().find(|subject| subject.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            Problem::new(format!("table 1 has no subject {name:?}"), format!("it has {}", known()))
        })
    };
    if names.is_empty() { Ok(TABLE1.iter().collect()) } else { names.iter().map(find).collect() }
}

/// One subject under all conditions.
fn measure(
    subject: &'static Subject,
    args: &Args,
    plan: &table1::Plan<'_>,
    results: &mut Results,
    bar: &ProgressBar,
) -> Result<(), Problem> {
    let mut bench = Bench::new(subject.body);
    let mut backwards = subject.backwards.map(Bench::new);
    for starts in args.starts.list() {
        for points in args.points.list() {
            let conditions = bench.conditions(points, starts)?;
            results.table1.push(table1::row(subject, &mut bench, &conditions, plan, bar)?);
            if let Some(backwards) = &mut backwards {
                results.fig7.push(fig7::row((subject, Order::Listed), &mut bench, &conditions, plan, bar)?);
                let conditions = backwards.conditions(points, starts)?;
                let row = fig7::row((subject, Order::Backwards), backwards, &conditions, plan, bar)?;
                results.fig7.push(row);
            }
        }
    }
    Ok(())
}

/// The figures, one of each for every pair of conditions.
fn draw(args: &Args, results: &mut Results) -> Result<(), Problem> {
    for starts in args.starts.list() {
        for points in args.points.list() {
            let name = |figure: &str| {
                args.out.join(format!("{figure}-{}-starts-{}.svg", points.name(), starts.name()))
            };
            let here = |row: (&str, &str)| row == (points.name(), starts.name());
            let rows: Vec<_> = results.table1.iter().filter(|row| here((row.points, row.starts))).collect();
            let lists: Vec<_> = results.fig7.iter().filter(|row| here((row.points, row.starts))).collect();
            let told = experiment::told(points, starts);
            let mut files = Vec::new();
            if !rows.is_empty() {
                files.push((name("fig6"), plot::distribution(&table1::chart(&rows, &told))));
            }
            if !lists.is_empty() {
                files.push((name("fig7"), plot::bars(&fig7::chart(&lists, &told, args.experiments))));
            }
            for (path, svg) in files {
                output::write(&path, svg)?;
                results.files.push(path.display().to_string());
            }
        }
    }
    Ok(())
}

fn text(args: &Args, results: &Results) -> String {
    let mut parts = vec![fig1::text(&results.fig1)];
    for starts in args.starts.list() {
        for points in args.points.list() {
            parts.push(table1::text(&results.table1, points, starts, args.experiments));
        }
    }
    parts.push(fig7::text(&results.fig7, args.experiments));
    parts.push(format!("figures:\n  {}\n", results.files.join("\n  ")));
    parts.push(String::from("docs/rapos.md says which of the tables is the paper's, and why rows differ\n"));
    parts.push(format!("seed {}, {:.1} s\n", results.seed, results.seconds));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}
