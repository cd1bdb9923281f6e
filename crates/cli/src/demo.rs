//! `raddle demo`: finds a bug in one of our own subjects, in this process.

use crate::output::{self, Format};
use crate::problem::Problem;
use crate::runner::{BODY_PREFIX, subject};
use crate::{Exit, seed, show};
use raddle::{Check, Report, tool};
use raddle_report::json;
use raddle_subjects::{Expect, bug};
use std::fmt::Write as _;
use std::path::PathBuf;

/// A flag that is looked at before the lock is taken: small, common, and hard to see.
const DEFAULT: &str = "lost_wakeup";

/// Find the bug in a small program of our own, and print how it comes about.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Which program; see --list
    #[arg(default_value = DEFAULT)]
    name: String,
    /// List the programs and the kind of failure that each has
    #[arg(long)]
    list: bool,
    /// How to choose interleavings; see `raddle strategies`
    #[arg(long, default_value = "random", value_parser = seed::strategy)]
    strategy: String,
    /// The same seed gives the same runs; `random` draws one
    #[arg(long, default_value = "0", value_parser = seed::parse)]
    seed: u64,
    /// Most runs
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Where the failure file goes
    #[arg(long, value_name = "DIR", default_value = "raddle-out")]
    out: PathBuf,
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    if args.list {
        list(args.format);
        return Ok(Exit::NothingFound);
    }
    let Some(body) = subject(&args.name) else {
        let names: Vec<&str> = bug::PROGRAMS.iter().map(|program| program.name).collect();
        return Err(Problem::new(
            format!("there is no demo called {:?}", args.name),
            format!("there are {}", names.join(", ")),
        ));
    };
    let check = Check::new().name(&format!("{BODY_PREFIX}{}", args.name));
    let check = check.strategy(&args.strategy).seed(args.seed).runs(args.runs).out(&args.out);
    let report = check.explore(body)?;
    match args.format {
        Format::Human => output::print(&text(&report)?),
        Format::Json => output::print_line(&json::summary(report.summary())),
    }
    Ok(if report.failed() { Exit::FailureFound } else { Exit::NothingFound })
}

fn text(report: &Report) -> Result<String, Problem> {
    let mut out = String::new();
    for found in report.failures() {
        out += &match found.file() {
            Some(path) => show::told_at(&tool::read(path)?, path, ""),
            None => found.text(),
        };
        out.push('\n');
    }
    if !report.failed() {
        out.push_str("nothing was found; more runs, another seed or another strategy may help\n");
    }
    out += &report.summary().text();
    Ok(out)
}

fn list(format: Format) {
    let kind = |expect| match expect {
        Expect::Kind(kind) => kind,
        Expect::Ok => "none",
    };
    match format {
        Format::Human => {
            let mut out = String::from("Programs with a bug, and what it comes to:\n\n");
            for program in bug::PROGRAMS {
                let _ = writeln!(out, "  {:<22} {}", program.name, kind(program.expect));
            }
            output::print(&out);
        }
        Format::Json => {
            let programs: Vec<_> = bug::PROGRAMS
                .iter()
                .map(|program| serde_json::json!({ "name": program.name, "kind": kind(program.expect) }))
                .collect();
            let line = serde_json::json!({ "schema": "raddle.demos.v1", "programs": programs });
            output::print_line(&line.to_string());
        }
    }
}
