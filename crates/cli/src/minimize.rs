//! `raddle minimize`: the same failure with the fewest preemptions.

use crate::native::Backend;
use crate::output::{self, Format};
use crate::problem::Problem;
use crate::runner::Runner;
use crate::{Exit, interrupt, progress, show};
use raddle::tool;
use raddle_report::preemptions;
use raddle_wire::{FailureFile, failure};
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
    let size = |file: &FailureFile| (preemptions(&file.trace), file.trace.events.len());
    // A run may be too long to be recorded in the time that there was.
    let before = Some(&recorded).filter(|file| !file.trace.events.is_empty()).map(size);
    let (after, steps_after) = size(&smaller);
    match args.format {
        Format::Human => {
            output::print(&show::told_at(&smaller, &path, "minimize"));
            let after = counted(after);
            output::print(&match before {
                Some((before, steps)) => {
                    let before = counted(before);
                    format!(
                        "\nminimized: {before} before, {after} now; {steps} steps before, {steps_after} now\n"
                    )
                }
                None => {
                    format!("\nminimized: {after} now; {steps_after} steps now; it was not recorded before\n")
                }
            });
        }
        Format::Json => output::print_line(
            &serde_json::json!({
                "schema": "raddle.minimize.v1",
                "kind": smaller.failure.kind.name(),
                "message": smaller.failure.message,
                "file": path.display().to_string(),
                "preemptions": after,
                "preemptions_before": before.map(|(preemptions, _)| preemptions),
                "steps": steps_after,
                "steps_before": before.map(|(_, steps)| steps),
            })
            .to_string(),
        ),
    }
    Ok(Exit::FailureFound)
}

fn counted(preemptions: usize) -> String {
    format!("{preemptions} preemption{}", if preemptions == 1 { "" } else { "s" })
}
