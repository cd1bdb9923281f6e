//! Runs a recorded failure again: our own subjects in this process, tests in the executable that recorded them,
//! native programs under a server of their own.

use crate::interrupt;
use crate::native::found::{self, ADDRESSES, BEGINNING, EXPECT_EXIT, HANG};
use crate::native::{Addresses, Backend, Beginning, Checkpoints, Isolation, NativeTarget, Program};
use crate::problem::Problem;
use raddle::tool::{self, LibraryTarget};
use raddle_subjects::bug;
use raddle_wire::{FailureFile, Target, failure};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What our own subjects are called in failure files.
pub(crate) const BODY_PREFIX: &str = "raddle-subjects/";

/// Time without any operation after which a run counts as hanging, unless the file says another.
const HANG_AFTER: Duration = Duration::from_secs(5);

/// Lines of a test's output that are shown if it said nothing else.
const TAIL_LINES: usize = 15;

/// The program of a demo.
pub(crate) fn subject(name: &str) -> Option<fn()> {
    bug::PROGRAMS.iter().find(|program| program.name == name).map(|program| program.body)
}

/// What can run a failure again.
pub(crate) enum Runner {
    Here(LibraryTarget),
    Native(Box<NativeTarget>),
    Test(Test),
}

/// A test executable.
pub(crate) struct Test {
    package: String,
    test: String,
    executable: PathBuf,
    body: String,
    directory: PathBuf,
}

/// What is asked of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    Replay,
    Minimize,
}

impl Runner {
    pub(crate) fn of(file: &FailureFile, backend: Backend) -> Result<Runner, Problem> {
        let (package, test, executable, body, directory) = match &file.target {
            Target::Library { package, test, executable, body, directory } => {
                (package, test, executable, body, directory)
            }
            Target::Native { path, argv, env, stdin, .. } => {
                let runner = native(path, argv, env, stdin, backend)?;
                if let Some(source) = changed_since(Path::new(OsStr::from_bytes(path)), file) {
                    eprintln!(
                        "raddle: {source} has been changed since the program was built: this is the program as it was"
                    );
                }
                return Ok(runner);
            }
        };
        if let Some(body) = body.strip_prefix(BODY_PREFIX).and_then(subject) {
            return Ok(Runner::Here(LibraryTarget::new(Arc::new(body), HANG_AFTER)));
        }
        let executable = newest(Path::new(executable)).ok_or_else(|| {
            let package = if package.is_empty() { String::new() } else { format!(" -p {package}") };
            Problem::new(
                format!("the test executable is gone: {executable}"),
                format!("build it again with: cargo test{package} --no-run"),
            )
        })?;
        // The tests of a package run in its directory; if that is gone, anywhere is as good.
        let directory = Some(PathBuf::from(directory)).filter(|directory| directory.is_dir());
        Ok(Runner::Test(Test {
            package: package.clone(),
            test: test.clone(),
            executable,
            body: body.clone(),
            directory: directory.unwrap_or_else(|| PathBuf::from(".")),
        }))
    }

    /// Runs it once more; `None` if it no longer fails.
    pub(crate) fn replay(&mut self, file: &FailureFile, path: &Path) -> Result<Option<FailureFile>, Problem> {
        match self {
            Runner::Here(target) => Ok(tool::again(target, file)?),
            Runner::Native(target) => {
                let again = tool::again(&mut **target, file)?;
                Ok(again.map(|again| retold(target, again)))
            }
            Runner::Test(test) => test.run(Task::Replay, path),
        }
    }

    /// Shrinks it. Whoever asks for an end gets the smallest so far; a test that runs by itself is ended with us.
    pub(crate) fn minimize(
        &mut self,
        file: &FailureFile,
        path: &Path,
        goes_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<FailureFile, Problem> {
        if !matches!(self, Runner::Test(_)) {
            interrupt::listen();
        }
        match self {
            Runner::Here(target) => Ok(tool::smaller(target, file, goes_on)?.file),
            Runner::Native(target) => {
                let smaller = tool::smaller(&mut **target, file, goes_on)?;
                Ok(retold(target, smaller.file))
            }
            Runner::Test(test) => {
                let again = test.run(Task::Minimize, path)?;
                again.ok_or_else(|| Problem::new("the recorded run does not fail any more", "check again"))
            }
        }
    }
}

/// By the program's own places.
fn retold(target: &NativeTarget, mut file: FailureFile) -> FailureFile {
    found::retell(target, &mut file);
    file
}

/// A native program with the arguments and the input that it had.
fn native(
    path: &[u8],
    argv: &[Vec<u8>],
    env: &[(Vec<u8>, Vec<u8>)],
    stdin: &[u8],
    backend: Backend,
) -> Result<Runner, Problem> {
    let word = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let path = PathBuf::from(word(path));
    if !path.is_file() {
        return Err(Problem::new(
            format!("the program is gone: {}", path.display()),
            "build it again with `raddle cc`",
        ));
    }
    let said = |what: &[u8]| {
        let (_, value) = env.iter().find(|(name, _)| name == what)?;
        std::str::from_utf8(value).ok()
    };
    let expected = said(EXPECT_EXIT).and_then(|code| code.parse().ok());
    let hang = said(HANG).and_then(|ms| ms.parse().ok()).map_or(HANG_AFTER, Duration::from_millis);
    let beginning = match said(BEGINNING) {
        Some(function) => Beginning::at(&path, function)?,
        None => Beginning::Process,
    };
    let program = Program {
        path,
        arguments: argv.iter().skip(1).map(|argument| word(argument)).collect(),
        stdin: stdin.to_vec(),
        hang,
        beginning,
        isolation: Isolation::Fork,
        backend: backend.choose()?,
        addresses: if said(ADDRESSES).is_some() { Addresses::Fixed } else { Addresses::Random },
        sharing: false,
        checkpoints: Checkpoints::default(),
    };
    Ok(Runner::Native(Box::new(NativeTarget::start(program, expected)?)))
}

/// A source of the failure's that is newer than the program. Whoever has mended it may think that this is what is run.
fn changed_since(program: &Path, file: &FailureFile) -> Option<String> {
    let changed = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    let built = changed(program)?;
    let newer = |source: &&String| changed(Path::new(source)).is_some_and(|changed| changed > built);
    file.places.values().map(|place| &place.file).find(newer).cloned()
}

/// The executable, or the newest of the same name with another hash: cargo changes that with the settings.
fn newest(executable: &Path) -> Option<PathBuf> {
    if executable.is_file() {
        return Some(executable.to_owned());
    }
    let stem = |path: &Path| {
        let name = path.file_stem()?.to_str()?;
        let (stem, hash) = name.rsplit_once('-')?;
        (hash.len() == 16 && hash.bytes().all(|c| c.is_ascii_hexdigit())).then(|| stem.to_owned())
    };
    let wanted = stem(executable)?;
    let same = |path: &PathBuf| {
        path.extension() == executable.extension() && stem(path).is_some_and(|stem| stem == wanted)
    };
    let files = std::fs::read_dir(executable.parent()?).ok()?;
    let files = files.filter_map(|entry| Some(entry.ok()?.path())).filter(same);
    let age =
        |path: &PathBuf| path.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    files.max_by_key(age)
}

impl Test {
    /// Starts the test with what is asked of it in its environment; it writes the answer into a file.
    fn run(&self, task: Task, path: &Path) -> Result<Option<FailureFile>, Problem> {
        let place = |error| Problem::new(format!("no temporary directory: {error}"), "is TMPDIR writable?");
        let scratch = tempfile::tempdir().map_err(place)?;
        let result = scratch.path().join("result");
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let variable = if task == Task::Replay { "RADDLE_REPLAY" } else { "RADDLE_MINIMIZE" };
        let mut command = Command::new(&self.executable);
        if !self.test.is_empty() {
            command.args([&self.test, "--exact", "--nocapture"]);
        }
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("RADDLE_") {
                command.env_remove(name);
            }
        }
        command.env(variable, path).env("RADDLE_BODY", &self.body).env("RADDLE_RESULT", &result);
        command.current_dir(&self.directory).stdin(Stdio::null());
        let output = command.output().map_err(|error| {
            Problem::new(
                format!("{} could not be started: {error}", self.executable.display()),
                format!("build it again with: cargo test -p {} --no-run", self.package),
            )
        })?;
        match std::fs::read(&result) {
            Ok(bytes) if bytes.is_empty() => Ok(None),
            Ok(bytes) => failure::decode(&bytes).map(Some).map_err(|error| {
                Problem::new(
                    format!("the test's answer: {error}"),
                    "was it built with another version of raddle?",
                )
            }),
            Err(_) => Err(self.silent(&output)),
        }
    }

    /// The test did not get as far as an answer: what it says instead.
    fn silent(&self, output: &Output) -> Problem {
        let said = String::from_utf8_lossy(&output.stderr);
        // What a check could not do, it says in a panic of its own.
        if let Some(why) = said.lines().find_map(|line| line.strip_prefix("raddle: ")) {
            return match why.split_once(". ") {
                Some((what, help)) => Problem::new(what, help),
                None => Problem::new(why, ""),
            };
        }
        let lines: Vec<&str> = said.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n        ");
        Problem::new(
            format!("{} does not check {} any more", self.test, self.body),
            format!(
                "was it renamed or moved? Check it again; the old schedule is of no more use\n        {tail}"
            ),
        )
    }
}
