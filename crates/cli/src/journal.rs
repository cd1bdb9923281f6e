//! The journal of a search through a native program: which program it belongs to, and going on with it.

use crate::native::{NativeTarget, Program};
use crate::problem::Problem;
use raddle_explore::{Explorer, journal};
use raddle_model::Plan;
use raddle_wire::JournalHeader;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Lets the explorer keep the journal. Number of runs that were done before.
pub(crate) fn keep(
    file: &Path,
    strategy: &str,
    plan: Plan,
    explorer: &mut dyn Explorer,
    target: &mut NativeTarget,
) -> Result<u64, Problem> {
    let program = target.program();
    let header = JournalHeader {
        program: program.path.display().to_string(),
        identity: identity(program)?,
        strategy: strategy.to_owned(),
        plan,
    };
    explorer.keep(file, header, target).map_err(|error| {
        // The sentence says what to do after its first full stop.
        let (what, help) = error.0.split_once(". ").unwrap_or((&error.0, ""));
        Problem::new(what, help)
    })
}

/// A number of the program file and of all that the program is given.
fn identity(program: &Program) -> Result<u64, Problem> {
    let bytes = std::fs::read(&program.path).map_err(|error| {
        let what = format!("{} cannot be read: {error}", program.path.display());
        Problem::new(what, "a journal belongs to one program file")
    })?;
    let arguments = program.arguments.iter().map(|argument| argument.as_bytes());
    Ok(journal::identity([&bytes[..], &program.stdin].into_iter().chain(arguments)))
}
