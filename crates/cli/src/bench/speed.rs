//! Placeholder.
use crate::Exit;
use crate::problem::Problem;
/// Speed
#[derive(clap::Args, Debug)]
pub(crate) struct Args {}
pub(crate) fn run(_: &Args) -> Result<Exit, Problem> {
    Ok(Exit::NothingFound)
}
