//! `raddle hapset`: looks into files of learned HaPSets, and merges them.

use crate::Exit;
use crate::output::{self, Format};
use crate::problem::Problem;
use raddle::tool;
use raddle_wire::{HapsetFile, TOOL_VERSION};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Show or merge learned HaPSets: which statement was seen right after which, on one object, in two tasks.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Show what a file holds
    Show {
        /// The file (*.hapset)
        file: PathBuf,
        /// For people or for tools
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Merge files into one: its sets are the unions of theirs
    Merge {
        /// Files to merge (*.hapset)
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The file to write; it may be one of those that are merged
        #[arg(long, short, value_name = "FILE")]
        out: PathBuf,
    },
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    match &args.command {
        Command::Show { file, format } => show(&read(file)?, *format),
        Command::Merge { files, out } => {
            let mut merged = HapsetFile::default();
            for file in files {
                merged.merge(read(file)?);
            }
            merged.tool = TOOL_VERSION.to_owned();
            tool::write_hapsets(out, &merged)?;
            output::print_line(&format!("{} pairs in {}", merged.sets.len(), out.display()));
        }
    }
    Ok(Exit::NothingFound)
}

fn read(file: &Path) -> Result<HapsetFile, Problem> {
    tool::read_hapsets(file).map_err(|error| {
        Problem::new(
            error.to_string(),
            "such files are written by `raddle run --hapset FILE` and `raddle hapset merge`",
        )
    })
}

fn show(file: &HapsetFile, format: Format) {
    match format {
        Format::Human => {
            let HapsetFile { programs, runs, sets, .. } = file;
            output::print(&format!(
                "{} pairs from {runs} runs of {}\n{sets}",
                sets.len(),
                programs.join(", ")
            ));
        }
        Format::Json => output::print_line(&json(file)),
    }
}

#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    programs: &'a [String],
    runs: u64,
    pairs: Vec<Pair>,
}

/// `older`: whether the task of `of` was made before that of `before`.
#[derive(Serialize)]
struct Pair {
    of: String,
    older: bool,
    before: String,
}

fn json(file: &HapsetFile) -> String {
    let pairs = file.sets.iter().map(|pair| Pair {
        of: pair.of.to_string(),
        older: pair.older,
        before: pair.before.to_string(),
    });
    let line = Line {
        schema: "raddle.hapset.v1",
        programs: &file.programs,
        runs: file.runs,
        pairs: pairs.collect(),
    };
    output::json(&line)
}
