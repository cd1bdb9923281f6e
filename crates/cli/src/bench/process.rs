//! Processes that a bench starts: commands that are run to their end, raddle's own among them.

use crate::problem::Problem;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Raddle itself.
pub(in crate::bench) fn me() -> Result<PathBuf, Problem> {
    std::env::current_exe().map_err(|error| Problem::new(format!("raddle does not find itself: {error}"), ""))
}

/// Runs a command to its end; any other code than those expected is a problem.
pub(in crate::bench) fn finished(command: &mut Command, codes: &[i32]) -> Result<Output, Problem> {
    let name = Path::new(command.get_program()).display().to_string();
    let output = command.stdin(Stdio::null()).output().map_err(|error| {
        Problem::new(format!("{name} could not be started: {error}"), format!("is {name} installed?"))
    })?;
    if output.status.code().is_some_and(|code| codes.contains(&code)) {
        return Ok(output);
    }
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let said: String = said.chars().take(2_000).collect();
    Err(Problem::new(format!("{name} {:?}: {}", command.get_args(), output.status), said.trim_end()))
}

/// The object on the last line.
pub(in crate::bench) fn read<T: DeserializeOwned>(output: &Output) -> Result<T, Problem> {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).map_err(|error| Problem::new(format!("raddle said {line:?}: {error}"), ""))
}
