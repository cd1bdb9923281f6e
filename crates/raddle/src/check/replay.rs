//! What the environment asks for instead of a check, as reports: a recorded failure run again or
//! shrunk. And the regressions, which are run before every check.

use super::config::Config;
use super::error::Error;
use super::files;
use super::outcome::{self, Found, Report};
use super::recorded::{self, read};
use crate::rt::carrier::LibraryTarget;
use raddle_model::Verdict;
use raddle_wire::{FailureFile, Target, failure, schedule};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Replays a failure file or a schedule string.
pub(crate) fn replay(config: &Config, target: &mut LibraryTarget, what: &str) -> Result<Report, Error> {
    let begun = Instant::now();
    if schedule::looks_like(what) {
        let found = recorded::run_string(target, what)?;
        let steps = found.run.digest.steps;
        let failed = matches!(found.run.digest.verdict, Verdict::Failed(_));
        let found = if failed { Some(outcome::tell(config, target, found)?) } else { None };
        return Ok(outcome::of_one(config, found, steps, begun.elapsed().as_secs_f64()));
    }
    let path = Path::new(what);
    let file = recorded::again(target, &read(path)?)?;
    hand_over(config, file.as_ref())?;
    Ok(report(config, file, path, begun))
}

/// Shrinks a failure file to the fewest preemptions and writes the result beside the others.
pub(crate) fn minimize(config: &Config, target: &mut LibraryTarget, path: &Path) -> Result<Report, Error> {
    let begun = Instant::now();
    let smaller = recorded::smaller(target, &read(path)?, &mut |_| true)?;
    if config.result.is_some() {
        hand_over(config, Some(&smaller.file))?;
        return Ok(report(config, Some(smaller.file), path, begun));
    }
    let out = files::minimized(&config.out, path);
    let written = std::fs::create_dir_all(&config.out)
        .and_then(|()| std::fs::write(&out, failure::encode(&smaller.file)));
    written.map_err(|error| Error::Setting(format!("{} could not be written: {error}", out.display())))?;
    let count = |number: u32| format!("{number} preemption{}", if number == 1 { "" } else { "s" });
    eprintln!("raddle: minimized to {} in {} runs", count(smaller.preemptions), smaller.runs);
    Ok(report(config, Some(smaller.file), &out, begun))
}

/// The command that started this process wants the value, not the text.
fn hand_over(config: &Config, file: Option<&FailureFile>) -> Result<(), Error> {
    let Some(result) = &config.result else { return Ok(()) };
    // Nothing in it: the run finishes now.
    let bytes = file.map(failure::encode).unwrap_or_default();
    std::fs::write(result, bytes)
        .map_err(|error| Error::Setting(format!("{} could not be written: {error}", result.display())))
}

fn report(config: &Config, file: Option<FailureFile>, path: &Path, begun: Instant) -> Report {
    let steps = file.as_ref().map_or(0, |file| file.trace.events.len() as u64);
    let found = file.map(|file| Found::of_file(config, &file, path));
    outcome::of_one(config, found, steps, begun.elapsed().as_secs_f64())
}

/// Runs the failure files in `raddle-regressions` that belong to this body. The first that still
/// fails is the report.
pub(crate) fn regressions(config: &Config, target: &mut LibraryTarget) -> Result<Option<Report>, Error> {
    let Ok(directory) = std::fs::read_dir("raddle-regressions") else { return Ok(None) };
    let mut files: Vec<PathBuf> = directory.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "raddle")) {
        let begun = Instant::now();
        let file = read(path)?;
        let mine = matches!(&file.target, Target::Library { test, body, .. }
            if *test == config.test && *body == config.body);
        if !mine {
            continue;
        }
        match recorded::again(target, &file) {
            Ok(Some(file)) => return Ok(Some(report(config, Some(file), path, begun))),
            Ok(None) => {}
            // A schedule that can no longer be followed shows that the program has changed, not that it fails.
            Err(Error::Diverged(why)) => eprintln!("raddle: {} is out of date: {why}", path.display()),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
