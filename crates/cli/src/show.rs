//! `raddle show`: tells a failure from its file alone. Neither the program nor its sources need to be there; source
//! lines are shown if they are found from here upwards.

use crate::output::{self, Format};
use crate::problem::Problem;
use crate::{Exit, calling};
use raddle::tool;
use raddle_report::{json, text};
use raddle_wire::FailureFile;
use std::path::{Path, PathBuf};

/// Show a recorded failure: what went wrong, what every task did, who waits for whom.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The failure file (*.raddle)
    file: PathBuf,
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Columns to use; the terminal's by default
    #[arg(long, value_name = "N")]
    width: Option<usize>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    let file = tool::read(&args.file)?;
    match args.format {
        Format::Human => {
            let lines = tool::lines(&calling::command(), &args.file, &file);
            let lines: Vec<String> = lines.into_iter().filter(|line| !line.contains(" show ")).collect();
            output::print(&told(&file, args.width, &lines));
        }
        Format::Json => output::print_line(&json::failure(&tool::story(&file))),
    }
    Ok(Exit::FailureFound)
}

/// The report of a failure file, with lines to copy.
pub(crate) fn told(file: &FailureFile, width: Option<usize>, lines: &[String]) -> String {
    text::failure(&tool::story(file), output::style(width), &tool::source, lines)
}

/// The report with all lines that work for a file at this path.
pub(crate) fn told_at(file: &FailureFile, path: &Path, without: &str) -> String {
    let lines = tool::lines(&calling::command(), path, file);
    let without = format!(" {without} ");
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.contains(&without)).collect();
    told(file, None, &lines)
}
