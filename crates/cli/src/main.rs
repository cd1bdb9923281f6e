//! The `raddle` command. Each subcommand is a file of its own; this one reads the command line and turns what
//! came of it into an exit code.

mod bench;
mod cache;
mod calling;
mod cc;
mod demo;
mod doctor;
mod hapset;
mod interrupt;
mod journal;
mod minimize;
mod native;
mod output;
mod problem;
mod progress;
mod replay;
mod run;
mod runner;
mod seed;
mod show;
mod strategies;
mod suppressed;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// A controlled concurrency tester: finds the interleaving that breaks a program, and replays it.
#[derive(Parser, Debug)]
#[command(name = "raddle", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 nothing was found, 1 a failure was found, 2 wrong usage or an error of the \
                          tool, 3 nothing was controlled.";

#[derive(Subcommand, Debug)]
enum Command {
    Run(run::Args),
    Demo(demo::Args),
    Cc(cc::CcArgs),
    #[command(name = "c++", about = "The same with the C++ compiler (RADDLE_CXX, else c++)")]
    Cpp(cc::CcArgs),
    Strategies(strategies::Args),
    Replay(replay::Args),
    Minimize(minimize::Args),
    Show(show::Args),
    Hapset(hapset::Args),
    Bench(bench::Args),
    Doctor(doctor::Args),
}

/// How a command ended that did what it was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exit {
    NothingFound = 0,
    FailureFound = 1,
}

/// Wrong usage, or an error of the tool.
const EXIT_PROBLEM: u8 = 2;
/// No run had anything to control.
const EXIT_NOT_CONTROLLED: u8 = 3;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some((language, words)) = cc::called(&words) {
        return cc::run(language, words);
    }
    let result = match Cli::parse_from(words).command {
        Command::Run(args) => run::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Cc(_) | Command::Cpp(_) => unreachable!("the wrappers' words are taken before"),
        Command::Strategies(args) => strategies::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Minimize(args) => minimize::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Hapset(args) => hapset::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Doctor(args) => doctor::run(&args),
    };
    match result {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(problem.exit_code())
        }
    }
}
