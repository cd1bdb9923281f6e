//! HaPSets of a check: what the report says of them, and the file in which they outlive the process.

use super::error::Error;
use crate::rt::callers::statement;
use raddle_analysis::hapset::Growth;
use raddle_explore::hapset::Known;
use raddle_model::{Statement, StatementId};
use raddle_wire::{HapsetFile, TOOL_VERSION, hapset};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Reads a HaPSet file.
///
/// # Errors
/// If there is none, or if it cannot be understood: which, and why.
pub fn read(path: &Path) -> Result<HapsetFile, Error> {
    match saved(path)? {
        Some(file) => Ok(file),
        None => Err(Error::Unreadable(format!("{}: there is no such file", path.display()))),
    }
}

/// What a file holds; `None` if there is no file yet.
///
/// # Errors
/// If it cannot be understood: why.
pub fn saved(path: &Path) -> Result<Option<HapsetFile>, Error> {
    let unreadable =
        |error: &dyn std::fmt::Display| Error::Unreadable(format!("{}: {error}", path.display()));
    match std::fs::read(path) {
        Ok(bytes) => hapset::decode(&bytes).map(Some).map_err(|error| unreadable(&error)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(&error)),
    }
}

/// Adds what runs of a program have taught to a file, which is made if it is missing. `name` is what a statement is
/// called.
///
/// # Errors
/// If the file cannot be read or written: where, and why.
pub fn keep(
    path: &Path,
    program: &str,
    learned: &Growth,
    name: impl Fn(StatementId) -> Statement,
) -> Result<(), Error> {
    // Tests of one process run beside each other, and none may undo what another wrote.
    static WRITING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut file = saved(path)?.unwrap_or_default();
    file.merge(HapsetFile {
        tool: String::new(),
        programs: vec![program.to_owned()],
        runs: learned.runs(),
        sets: learned.sets().iter().map(|pair| pair.map(&name)).collect(),
    });
    file.tool = TOOL_VERSION.to_owned();
    write(path, &file)
}

/// Writes a HaPSet file, so that whoever reads it meanwhile sees the old one or the new one.
///
/// # Errors
/// If that is not possible: where, and why.
pub fn write(path: &Path, file: &HapsetFile) -> Result<(), Error> {
    let new = path.with_extension(format!("hapset-{}", std::process::id()));
    let written = match path.parent() {
        Some(directory) => std::fs::create_dir_all(directory),
        None => Ok(()),
    };
    let written = written.and_then(|()| std::fs::write(&new, hapset::encode(file)));
    written.and_then(|()| std::fs::rename(&new, path)).map_err(|error| {
        let _ = std::fs::remove_file(&new);
        Error::Setting(format!("the HaPSets cannot be written to {}: {error}", path.display()))
    })
}

/// What a search can begin with.
pub(super) fn known(file: &HapsetFile) -> Known {
    Known::saved(&file.sets, statement)
}

/// What the report says.
pub fn told(learned: &Growth, file: Option<&Path>) -> raddle_report::Hapset {
    raddle_report::Hapset {
        pairs: learned.sets().len() as u64,
        growth: learned.steps().to_vec(),
        file: file.map(|file| file.display().to_string()),
    }
}
