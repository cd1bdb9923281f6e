//! `raddle bench hapset`: the HaPSets of figures 1 and 2 and tables 1 to 5 of Wang, Said and Gupta, "Coverage Guided
//! Systematic Concurrency Testing", ICSE 2011, on subjects of the same structure. A row that misses a claim says so.
//!
//! All searches take runs until the first that fails; a search is given up after as many runs as it took in the
//! paper, or as it had there when its ten minutes were over. Each is repeated with ties broken in many ways: who
//! goes on when a task has to wait, and which of several wishes at a point comes first. The median counts.

mod figures;
mod measure;
mod table;

use crate::output::{self, Format};
use crate::problem::Problem;
use crate::{Exit, progress};
use raddle_subjects::hapset::{ROWS, Row};
use serde::Serialize;
use std::time::Instant;

/// Figures 1 and 2 and tables 1 to 5 of the HaPSet paper
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Ways to break ties; the first is always the order in which tasks were made
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u64).range(1..))]
    ties: u64,
    /// Tables, separated by commas; all by default
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=5))]
    tables: Vec<u32>,
    /// Subjects, by part of their names, separated by commas; all by default
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    subjects: Vec<String>,
    /// Runs after which the guided search is given up
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Preemptions of the guided search; none guides DPOR instead, as the paper's tables do
    #[arg(long, value_name = "K")]
    under_pcb: Option<u32>,
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Everything that was measured.
#[derive(Serialize)]
struct Results {
    schema: &'static str,
    ties: u64,
    figures: Vec<figures::Figure>,
    rows: Vec<table::Measured>,
    seconds: f64,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    let begun = Instant::now();
    let rows = rows(args)?;
    let cells: u64 = rows.iter().map(|row| table::cells(row)).sum();
    let bar = progress::bar(cells * args.ties, "bench hapset");
    let plan = table::Plan { ties: args.ties, runs: args.runs, under_pcb: args.under_pcb };
    let measured = rows.iter().map(|row| table::measure(row, &plan, &bar)).collect::<Result<Vec<_>, _>>()?;
    bar.finish_and_clear();
    let seconds = begun.elapsed().as_secs_f64();
    let results = Results {
        schema: "raddle.bench.hapset.v1",
        ties: args.ties,
        figures: figures::measure()?,
        rows: measured,
        seconds,
    };
    match args.format {
        Format::Human => output::print(&text(&results)),
        Format::Json => output::print_line(&output::json(&results)),
    }
    Ok(Exit::NothingFound)
}

fn text(results: &Results) -> String {
    let Results { ties, figures, rows, seconds, .. } = results;
    format!("{}\n{}\n{seconds:.1} s\n", figures::text(figures), table::text(rows, *ties))
}

fn rows(args: &Args) -> Result<Vec<&'static Row>, Problem> {
    let has = |text: &str, part: &String| text.to_lowercase().contains(&part.to_lowercase());
    let wanted = |row: &&Row| {
        (args.tables.is_empty() || args.tables.contains(&row.table))
            && (args.subjects.is_empty() || args.subjects.iter().any(|part| has(row.name, part)))
    };
    let rows: Vec<_> = ROWS.iter().filter(wanted).collect();
    if rows.is_empty() {
        let names: Vec<_> = ROWS.iter().map(|row| format!("{} (table {})", row.name, row.table)).collect();
        return Err(Problem::new(
            "no row has such a name and table",
            format!("there are {}", names.join(", ")),
        ));
    }
    Ok(rows)
}
