//! The project's own tasks: `cargo xtask test`, `soak`, `tidy`, `field` and `bench peers`.
//!
//! Exit codes: 0 all well, 1 a step failed or a rule is broken, 2 the command line is wrong or something
//! this machine needs is missing.

mod cargo;
mod field;
mod needs;
mod peers;
mod steps;
mod suite;
mod tidy;

use raddle_tiers::Tier;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  test                 style, format, lints and all tests, in the sizes of tier `ci`
  soak                 all tests optimised, in the sizes of tier `soak`
  tidy                 the style rules alone
  field                C programs out of packages on crates.io, fetched, built with `raddle cc` and run
  bench peers [ARGS]   Raddle beside shuttle and loom: one table (ARGS: --quick, --format json)
";

/// Why a task ended early. What there is to say has been said by whoever made it, or is in it.
pub(crate) enum Stop {
    /// A step or a rule failed.
    Failed(String),
    /// The command line or the machine is not fit for the task.
    Unfit(String),
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(message)) => {
            eprintln!("xtask: {message}");
            ExitCode::from(1)
        }
        Err(Stop::Unfit(message)) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[&str]) -> Result<(), Stop> {
    match words {
        ["test"] => suite::run(Tier::Ci),
        ["soak"] => suite::run(Tier::Soak),
        ["tidy"] => tidy::run(),
        ["field"] => field::run(),
        ["bench", "peers", arguments @ ..] => peers::run(arguments),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        [] => Err(Stop::Unfit(USAGE.into())),
        unknown => Err(Stop::Unfit(format!("xtask: unknown command `{}`\n\n{USAGE}", unknown.join(" ")))),
    }
}
