//! Where the project is, and how its cargo is called.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable for `cargo xtask`; a binary started by hand falls back to where it was built.
    let xtask =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    xtask.parent().map(Path::to_owned).expect("xtask lies in the workspace")
}

/// Cargo, to be run in a folder of the project.
pub(crate) fn cargo(folder: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root().join(folder)).args(arguments);
    // What a developer has exported for a run of their own (a seed, a replay) is not for the test suites.
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("RADDLE_")) {
        command.env_remove(name);
    }
    command
}
