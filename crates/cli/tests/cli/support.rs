//! Running the command, and a test of our own in this executable.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command under test.
pub(crate) fn raddle() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    calm(&mut command);
    command
}

/// Takes away what `cargo test` and the people at this machine have set.
fn calm(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RADDLE_") {
            command.env_remove(name);
        }
    }
    command.env_remove("CARGO_PKG_NAME");
}

/// Runs the command in a directory and says what came of it.
pub(crate) fn run(directory: &Path, arguments: &[&str]) -> Ended {
    ended(&raddle().args(arguments).current_dir(directory).output().expect("the command starts"))
}

/// A directory for one test.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory")
}

/// `PATH` with the directory of the command in front.
pub(crate) fn path_with_raddle() -> std::ffi::OsString {
    let directory = Path::new(env!("CARGO_BIN_EXE_raddle")).parent().expect("a directory").to_owned();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([directory].into_iter().chain(std::env::split_paths(&rest))).expect("a path")
}

/// A line as people paste it.
pub(crate) fn shell(line: &str, directory: &Path) -> Ended {
    shell_with(line, directory, &[])
}

/// The same with further variables.
pub(crate) fn shell_with(line: &str, directory: &Path, variables: &[(&str, std::ffi::OsString)]) -> Ended {
    let mut command = Command::new("sh");
    calm(&mut command);
    command.args(["-c", line]).current_dir(directory).env("PATH", path_with_raddle());
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    ended(&command.output().expect("a shell"))
}

/// A test of this executable, with further variables.
pub(crate) fn test(name: &str, out: &Path, variables: &[(&str, &str)]) -> Ended {
    let mut command = Command::new(std::env::current_exe().expect("this executable"));
    calm(&mut command);
    command.args([name, "--exact", "--nocapture"]).env("RADDLE_OUT", out);
    command.env("CARGO_PKG_NAME", env!("CARGO_PKG_NAME"));
    command.envs(variables.iter().copied());
    ended(&command.output().expect("this executable starts"))
}

/// The only failure file in a directory.
pub(crate) fn file_in(directory: &Path) -> PathBuf {
    let entries = std::fs::read_dir(directory).expect("failure files were written");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

/// The lines to copy of a report: those that name a failure file.
pub(crate) fn lines_to_copy(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.starts_with("  ") && line.contains(".raddle"));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

fn ended(output: &Output) -> Ended {
    Ended {
        code: output.status.code().expect("no signal"),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Ended {
    /// The object on the last line.
    pub(crate) fn json(&self) -> serde_json::Value {
        let line = self.out.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn expect_code(self, code: i32) -> Ended {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }
}
