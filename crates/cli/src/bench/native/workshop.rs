//! The measured programs in all their builds, and the ways to run them.

use crate::bench::process::{finished, me, read};
use crate::problem::Problem;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

const PROGRAMS: &str = include_str!("programs.c");
const EMPTY: &str = include_str!("empty_runtime.c");

/// What the empty runtime defines for others.
const EMPTY_EXPORTS: &str = "{ __tsan_*; raddle_runtime_version; };\n";

/// How the programs are built: as people build what they want to be quick.
const FLAGS: [&str; 3] = ["-O1", "-g", "-pthread"];

/// How often each figure is taken: whatever else the machine does can only make it worse.
const TRIES: u32 = 4;

/// Runs of a program that takes its own time. The first is recorded, too, and slow.
const RUNS: u64 = 6;

/// A directory with the builds.
pub(super) struct Workshop {
    directory: tempfile::TempDir,
}

/// A build of the programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Build {
    /// Without any hooks.
    Plain,
    /// With hooks that only return.
    Empty,
    /// With gcc's own ThreadSanitizer.
    Sanitizer,
    /// With our runtime.
    Raddle,
}

impl Build {
    fn name(self) -> &'static str {
        match self {
            Build::Plain => "plain",
            Build::Empty => "empty",
            Build::Sanitizer => "sanitizer",
            Build::Raddle => "raddle",
        }
    }
}

impl Workshop {
    /// Builds everything with gcc.
    pub(super) fn new() -> Result<Workshop, Problem> {
        let directory = tempfile::tempdir().map_err(|error| {
            Problem::new(format!("no temporary directory: {error}"), "is TMPDIR writable?")
        })?;
        let workshop = Workshop { directory };
        let write = |name: &str, text: &str| crate::output::write(&workshop.path(name), text);
        write("programs.c", PROGRAMS)?;
        write("empty.c", EMPTY)?;
        write("empty.exports", EMPTY_EXPORTS)?;
        workshop.compile("gcc", &["-O2", "-fPIC", "-c", "empty.c", "-o", "empty.o"], &[])?;
        let flags = |last: &[&'static str]| [&FLAGS[..], &["programs.c", "-o"], last].concat();
        workshop.compile("gcc", &flags(&["plain"]), &[])?;
        workshop.compile("gcc", &flags(&["sanitizer", "-fsanitize=thread"]), &[])?;
        workshop.wrapped(&flags(&["raddle"]), &[])?;
        workshop.wrapped(&flags(&["empty"]), &[("RADDLE_RUNTIME", workshop.path("empty.o").as_os_str())])?;
        Ok(workshop)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn wrapped(&self, words: &[&str], variables: &[(&str, &OsStr)]) -> Result<(), Problem> {
        let words: Vec<&str> = [&["cc"], words].concat();
        let me = me()?;
        let variables: Vec<(&str, &OsStr)> = [&[("RADDLE_CC", OsStr::new("gcc"))], variables].concat();
        self.compile(&me.to_string_lossy(), &words, &variables)
    }

    fn compile(&self, program: &str, words: &[&str], variables: &[(&str, &OsStr)]) -> Result<(), Problem> {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.directory.path()).envs(variables.iter().copied());
        finished(&mut command, &[0]).map(|_| ())
    }

    /// Seconds of the program by itself, the best of some.
    pub(super) fn alone(&self, build: Build, what: &str, count: u64) -> Result<f64, Problem> {
        let mut best = f64::INFINITY;
        for _ in 0..TRIES {
            let begun = Instant::now();
            self.output(build, what, count)?;
            best = best.min(begun.elapsed().as_secs_f64());
        }
        Ok(best)
    }

    /// What the program prints, as a number.
    pub(super) fn printed(&self, build: Build, what: &str, count: u64) -> Result<f64, Problem> {
        let output = self.output(build, what, count)?;
        let text = String::from_utf8_lossy(&output.stdout);
        text.trim()
            .parse()
            .map_err(|_| Problem::new(format!("{what} printed {text:?}"), "this is a bug of raddle"))
    }

    fn output(&self, build: Build, what: &str, count: u64) -> Result<Output, Problem> {
        let mut command = Command::new(self.path(build.name()));
        command.args([what, &count.to_string()]);
        finished(&mut command, &[0])
    }

    /// What the program tells of itself under control: the least that any of some runs has told.
    pub(super) fn told(&self, what: &str, count: u64) -> Result<f64, Problem> {
        let file = self.path(what);
        let mut command = self.controlled(what, count, RUNS, "fork")?;
        finished(command.arg(&file), &[0])?;
        let text = std::fs::read_to_string(&file).map_err(|error| {
            Problem::new(format!("{what} told nothing: {error}"), "this is a bug of raddle")
        })?;
        let least = text.lines().filter_map(|line| line.parse().ok()).fold(f64::NAN, f64::min);
        Ok(least)
    }

    /// The command that runs the program under control.
    pub(super) fn controlled(
        &self,
        what: &str,
        count: u64,
        runs: u64,
        isolation: &str,
    ) -> Result<Command, Problem> {
        let mut command = self.campaign(runs, isolation)?;
        command.args(["--steps-max", "1000000000"]);
        command.arg(self.path(Build::Raddle.name())).args([what, &count.to_string()]);
        Ok(command)
    }

    /// The program that is run under control.
    pub(super) fn program(&self) -> PathBuf {
        self.path(Build::Raddle.name())
    }

    /// The command that runs a program so often; the program is missing yet.
    pub(super) fn campaign(&self, runs: u64, isolation: &str) -> Result<Command, Problem> {
        let mut command = Command::new(me()?);
        command.args(["run", "--format", "json", "--time", "600", "--isolation", isolation]);
        command.args(["--runs", &runs.to_string(), "--out"]).arg(self.path("out")).stdin(Stdio::null());
        Ok(command)
    }

    /// Builds another program, as `raddle run` does.
    pub(super) fn build(&self, source: &Path, flags: &[String]) -> Result<PathBuf, Problem> {
        let program = self.path("subject");
        let mut command = Command::new(me()?);
        let is_c = source.extension().is_some_and(|extension| extension == "c");
        command.arg(if is_c { "cc" } else { "c++" }).args(["-O0", "-g", "-pthread"]).args(flags);
        finished(command.arg(source).arg("-o").arg(&program), &[0])?;
        Ok(program)
    }

    /// A figure of such runs, the least of some or the greatest.
    pub(super) fn best(
        &self,
        figure: &str,
        better: fn(f64, f64) -> f64,
        command: impl Fn() -> Result<Command, Problem>,
    ) -> Result<f64, Problem> {
        self.best_of(TRIES, figure, better, command)
    }

    /// The same of so many tries.
    pub(super) fn best_of(
        &self,
        tries: u32,
        figure: &str,
        better: fn(f64, f64) -> f64,
        command: impl Fn() -> Result<Command, Problem>,
    ) -> Result<f64, Problem> {
        let mut best = f64::NAN;
        for _ in 0..tries {
            let value: serde_json::Value = read(&finished(&mut command()?, &[0])?)?;
            let value = value[figure].as_f64().unwrap_or(f64::NAN);
            best = better(best, value);
        }
        Ok(best)
    }
}
