//! The settings of a check: defaults, what the code asks for, what the environment overrides.

use super::error::Error;
use raddle_model::{PointSet, SpinMode, TimeMode};
use std::panic::Location;
use std::path::PathBuf;
use std::sync::Once;
use std::time::Duration;

/// Variables that a check reads; then those that are set by the `raddle` command or by this project's
/// own tests.
const KNOWN: [&str; 13] = [
    "RADDLE_STRATEGY",
    "RADDLE_RUNS",
    "RADDLE_TIME",
    "RADDLE_SEED",
    "RADDLE_JOBS",
    "RADDLE_REPLAY",
    "RADDLE_MINIMIZE",
    "RADDLE_BODY",
    "RADDLE_OUT",
    "RADDLE_HAPSET",
    "RADDLE_JOURNAL",
    "RADDLE_RESULT",
    "RADDLE_TIER",
];

#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) strategy: String,
    pub(crate) runs: u64,
    pub(crate) time: Duration,
    pub(crate) seed: u64,
    pub(crate) jobs: usize,
    pub(crate) stop_after: u64,
    pub(crate) races: bool,
    pub(crate) points: PointSet,
    pub(crate) time_mode: TimeMode,
    pub(crate) spin: SpinMode,
    pub(crate) spurious_max: u32,
    pub(crate) steps_max: u64,
    pub(crate) hang: Duration,
    pub(crate) out: PathBuf,
    /// Whether HaPSets are learned.
    pub(crate) hapsets: bool,
    /// Where they are kept.
    pub(crate) hapset_file: Option<PathBuf>,
    /// Where a search keeps its journal.
    pub(crate) journal: Option<PathBuf>,
    /// What the code calls the body.
    pub(crate) name: Option<String>,
    /// What the body is called: its name, or where it is checked.
    pub(crate) body: String,
    /// The test that checks it; empty if none.
    pub(crate) test: String,
    /// A failure file or schedule string to run instead.
    pub(crate) replay: Option<String>,
    /// A failure file to shrink instead.
    pub(crate) minimize: Option<PathBuf>,
    /// Where the `raddle` command expects what came of either.
    pub(crate) result: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            strategy: String::from("random"),
            runs: 10_000,
            time: Duration::from_secs(10),
            seed: 0,
            jobs: 1,
            stop_after: 1,
            races: true,
            points: PointSet::default(),
            time_mode: TimeMode::Any,
            spin: SpinMode::Park,
            spurious_max: 0,
            steps_max: 1_000_000,
            hang: Duration::from_secs(5),
            out: PathBuf::from("raddle-out"),
            hapsets: false,
            hapset_file: None,
            journal: None,
            name: None,
            body: String::new(),
            test: String::new(),
            replay: None,
            minimize: None,
            result: None,
        }
    }
}

impl Config {
    /// With what the environment asks for, and the names of body and test.
    pub(crate) fn with_environment(mut self, caller: &Location<'_>) -> Result<Config, Error> {
        warn_of_unknown();
        // libtest names its threads after the tests; `main` is no test.
        let thread = std::thread::current();
        self.test = thread.name().filter(|&name| name != "main").unwrap_or_default().to_owned();
        self.body = match &self.name {
            Some(name) => name.clone(),
            None => format!("{}:{}:{}", caller.file().replace('\\', "/"), caller.line(), caller.column()),
        };
        if let Some(strategy) = variable("RADDLE_STRATEGY") {
            self.strategy = strategy;
        }
        if let Some(runs) = variable("RADDLE_RUNS") {
            self.runs = number("RADDLE_RUNS", &runs)?;
        }
        if let Some(seed) = variable("RADDLE_SEED") {
            self.seed = number("RADDLE_SEED", &seed)?;
        }
        if let Some(jobs) = variable("RADDLE_JOBS") {
            self.jobs = usize::try_from(number("RADDLE_JOBS", &jobs)?).unwrap_or(usize::MAX);
        }
        if let Some(time) = variable("RADDLE_TIME") {
            self.time = duration(&time).ok_or_else(|| {
                Error::Setting(format!("RADDLE_TIME={time} is no time: write 500ms, 30s or 5m"))
            })?;
        }
        if let Some(out) = variable("RADDLE_OUT") {
            self.out = PathBuf::from(out);
        }
        if let Some(file) = variable("RADDLE_HAPSET") {
            self.hapset_file = Some(PathBuf::from(file));
        }
        self.hapsets |= self.hapset_file.is_some();
        if let Some(file) = variable("RADDLE_JOURNAL") {
            self.journal = Some(PathBuf::from(file));
        }
        // A test may check several bodies: what is to be replayed belongs to one of them.
        let mine = variable("RADDLE_BODY").is_none_or(|body| body == self.body);
        if mine {
            self.replay = variable("RADDLE_REPLAY").or(self.replay);
            self.minimize = variable("RADDLE_MINIMIZE").map(PathBuf::from);
            self.result = variable("RADDLE_RESULT").map(PathBuf::from);
        }
        Ok(self)
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn number(name: &str, text: &str) -> Result<u64, Error> {
    text.replace('_', "").parse().map_err(|_| Error::Setting(format!("{name}={text} is no whole number")))
}

/// `500ms`, `30s`, `5m`, `1h`; plain numbers are seconds.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let value: u64 = text[..digits].parse().ok()?;
    let milliseconds = match &text[digits..] {
        "ms" => value,
        "" | "s" => value.checked_mul(1_000)?,
        "m" => value.checked_mul(60_000)?,
        "h" => value.checked_mul(3_600_000)?,
        _ => return None,
    };
    Some(Duration::from_millis(milliseconds))
}

/// A mistyped variable would be silently ignored.
fn warn_of_unknown() {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("RADDLE_") && !KNOWN.contains(&&*name) {
                eprintln!(
                    "raddle: warning: {name} is no variable of raddle's. Known are {}",
                    KNOWN[..11].join(", ")
                );
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration("30s"), Some(Duration::from_secs(30)));
        assert_eq!(duration("2"), Some(Duration::from_secs(2)));
        assert_eq!(duration("5m"), Some(Duration::from_secs(300)));
        for wrong in ["", "s", "5 s", "-1s", "3d", "99999999999999999999s"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}
