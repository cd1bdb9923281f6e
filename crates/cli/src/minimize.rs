//! `raddle minimize`: the same failure with the fewest preemptions.

use crate::native::Backend;
use crate::output::{self, Format};
use crate::problem::Problem;
use crate::runner::Runner;
use crate::{Exit, interrupt, progress, show};
use raddle::tool;
use raddle_report::preemptions;
use raddle_wire::failure;
use std::path::{Path, PathBuf};

/// Shrink a recorded failure to the fewest preemptions that still fail in the same way.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The failure file (*.raddle)
    file: PathBuf,
    /// Where the minimized failure goes; beside the original by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Of the bar: in percent.
const STEPS: u64 = 100;

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    let recorded = tool::read(&args.file)?;
    let bar = progress::bar(STEPS, "shrinking");
    let mut goes_on = |done: f64| {
        bar.set_position((done * STEPS as f64) as u64);
        !interrupt::is_asked()
    };
    let smaller = Runner::of(&recorded, Backend::Auto)?.minimize(&recorded, &args.file, &mut goes_on);
    bar.finish_and_clear();
    let smaller = smaller?;
    let beside = args.file.parent().unwrap_or(Path::new(""));
    let path = tool::minimized(args.out.as_deref().unwrap_or(beside), &args.file);
    output::write(&path, failure::encode(&smaller))?;
    let [before, after] = [&recorded, &smaller].map(|file| preemptions(&file.trace));
    let [steps_before, steps_after] = [&recorded, &smaller].map(|file| file.trace.events.len());
    match args.format {
        Format::Human => {
            output::print(&show::told_at(&smaller, &path, "minimize"));
            output::print(&format!(
                "\nminimized: {} before, {} now; {steps_before} steps before, {steps_after} now\n",
                counted(before),
                counted(after),
            ));
        }
        Format::Json => output::print_line(
            &serde_json::json!({
                "schema": "raddle.minimize.v1",
                "kind": smaller.failure.kind.name(),
                "message": smaller.failure.message,
                "file": path.display().to_string(),
                "preemptions": after,
                "preemptions_before": before,
                "steps": steps_after,
                "steps_before": steps_before,
            })
            .to_string(),
        ),
    }
    Ok(Exit::FailureFound)
}

fn counted(preemptions: usize) -> String {
    format!("{preemptions} preemption{}", if preemptions == 1 { "" } else { "s" })
}
