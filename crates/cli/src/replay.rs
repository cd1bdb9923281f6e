//! `raddle replay`: runs a recorded failure again, exactly, as often as wanted.

use crate::native::Backend;
use crate::output::{self, Format};
use crate::problem::Problem;
use crate::runner::Runner;
use crate::{Exit, show};
use raddle::tool;
use raddle_wire::FailureFile;
use std::path::PathBuf;
use std::time::Instant;

/// Run a recorded failure again: the same interleaving, step by step.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The failure file (*.raddle)
    file: PathBuf,
    /// How often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    times: u64,
    /// What the threads of a native program are. The run is the same with all of them
    #[arg(long, value_enum, default_value_t)]
    backend: Backend,
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    let recorded = tool::read(&args.file)?;
    let mut runner = Runner::of(&recorded, args.backend)?;
    let begun = Instant::now();
    let mut tally = Tally::default();
    for _ in 0..args.times {
        let again = runner.replay(&recorded, &args.file)?;
        tally.count(&recorded, again);
    }
    match args.format {
        Format::Human => output::print(&tally.text(args, &recorded)),
        Format::Json => output::print_line(&tally.json(args, &recorded, begun.elapsed().as_secs_f64())),
    }
    Ok(if tally.failed > 0 { Exit::FailureFound } else { Exit::NothingFound })
}

/// What came of the runs.
#[derive(Default)]
struct Tally {
    /// The first that failed.
    first: Option<FailureFile>,
    failed: u64,
    /// Failed with the recorded kind, in the recorded run.
    same: u64,
    steps: u64,
}

impl Tally {
    fn count(&mut self, recorded: &FailureFile, again: Option<FailureFile>) {
        let Some(again) = again else { return };
        self.failed += 1;
        self.steps += again.trace.events.len() as u64;
        self.same += u64::from(is_same(recorded, &again));
        self.first.get_or_insert(again);
    }

    fn text(&self, args: &Args, recorded: &FailureFile) -> String {
        let kind = recorded.failure.kind.name();
        let Some(first) = &self.first else {
            return format!(
                "The recorded {kind} does not happen any more: the run follows its schedule to the end and does not fail.\n"
            );
        };
        let mut out = show::told_at(first, &args.file, "replay");
        out.push('\n');
        out += &match args.times {
            1 if self.same == 1 => format!("replayed: the same {kind}, in the same run step by step\n"),
            times if self.same == times => {
                format!("replayed {times} times: the same {kind} each time, in the same run step by step\n")
            }
            times => format!(
                "replayed {times} times: {} failed, {} of them as recorded ({kind}); the first failed with {}\n",
                self.failed,
                self.same,
                first.failure.kind.name(),
            ),
        };
        out
    }

    fn json(&self, args: &Args, recorded: &FailureFile, seconds: f64) -> String {
        let failures: Vec<_> = self
            .first
            .iter()
            .map(|first| {
                serde_json::json!({
                    "kind": first.failure.kind.name(),
                    "run": 0,
                    "message": first.failure.message,
                    "file": args.file.display().to_string(),
                    "sites": first.failure.sites.iter().filter_map(|site| first.places.get(site))
                        .map(raddle_model::Place::link).collect::<Vec<_>>(),
                })
            })
            .collect();
        serde_json::json!({
            "schema": "raddle.replay.v1",
            "strategy": "replay",
            "runs": args.times,
            "steps": self.steps,
            "failing_runs": self.failed,
            "expected": recorded.failure.kind.name(),
            "identical": self.same == args.times,
            "failures": failures,
            "seconds": seconds,
        })
        .to_string()
    }
}

/// Whether it is the same run with the same end. Numbers of sites belong to a process, so events are compared by
/// what the schedule's checks and the fingerprint say of them.
fn is_same(recorded: &FailureFile, again: &FailureFile) -> bool {
    let schedule = |file: &FailureFile| (file.trace.schedule.clone(), file.trace.events.len());
    recorded.failure.kind == again.failure.kind && schedule(recorded) == schedule(again)
}
