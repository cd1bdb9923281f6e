//! `raddle strategies`: what there is to choose from.

use crate::output::{self, Format};
use crate::problem::Problem;
use crate::{Exit, output::print};
use serde::Serialize;
use std::fmt::Write as _;

/// List the strategies: what each does, where it comes from, and its parameters.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct Line {
    schema: &'static str,
    strategies: Vec<Strategy>,
}

#[derive(Serialize)]
struct Strategy {
    name: &'static str,
    summary: &'static str,
    paper: &'static str,
    parameters: Vec<Parameter>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    meaning: &'static str,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    match args.format {
        Format::Human => print(&text()),
        Format::Json => output::print_line(&json()),
    }
    Ok(Exit::NothingFound)
}

fn text() -> String {
    let mut out = String::new();
    let _ = writeln!(out, "Strategies, for --strategy, RADDLE_STRATEGY and Check::strategy:\n");
    for strategy in raddle_policy::strategies() {
        let _ = writeln!(out, "  {:<10} {}", strategy.name, strategy.summary);
        let _ = writeln!(out, "  {:<10} from: {}", "", strategy.paper);
        for (name, meaning) in strategy.parameters {
            let _ = writeln!(out, "  {:<10} {}:{name}=N  {meaning}", "", strategy.name);
        }
    }
    out
}

fn json() -> String {
    let strategies = raddle_policy::strategies().iter().map(|strategy| Strategy {
        name: strategy.name,
        summary: strategy.summary,
        paper: strategy.paper,
        parameters: strategy.parameters.iter().map(|&(name, meaning)| Parameter { name, meaning }).collect(),
    });
    let line = Line { schema: "raddle.strategies.v1", strategies: strategies.collect() };
    output::json(&line)
}
