//! `raddle bench`: the tables and figures of the papers, re-run, and our own speed.

mod grid;
mod hapset;
mod native;
mod process;
mod rapos;
mod rstest;
mod search;
mod speed;

use crate::Exit;
use crate::problem::Problem;
use clap::Subcommand;

/// Reproduce the tables and figures of the papers, or measure speed.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand, Debug)]
enum Bench {
    Hapset(hapset::Args),
    Rapos(rapos::Args),
    Search(search::Args),
    Speed(speed::Args),
    Native(native::Args),
    Rstest(rstest::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    match &args.bench {
        Bench::Hapset(args) => hapset::run(args),
        Bench::Rapos(args) => rapos::run(args),
        Bench::Search(args) => search::run(args),
        Bench::Speed(args) => speed::run(args),
        Bench::Native(args) => native::run(args),
        Bench::Rstest(args) => rstest::run(args),
    }
}
