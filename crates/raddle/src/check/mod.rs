//! `check`: runs a body again and again, each time under another interleaving, until one fails.

mod config;
mod ending;
mod error;
pub(crate) mod files;
pub(crate) mod hapsets;
mod journal;
mod outcome;
pub(crate) mod recorded;
mod replay;
mod warning;

pub use ending::fail_on_error;
pub use error::Error;
pub use outcome::{Found, Report};
pub use warning::Warning;

use crate::rt;
use crate::rt::carrier::{Body, LibraryTarget};
use config::Config;
use raddle_explore::campaign::{self, Limits};
use raddle_explore::explorer::explorer;
use raddle_explore::hapset::{self, Known};
use raddle_model::plan::Steps;
use raddle_model::{Plan, PointSet, SpinMode, Tail, TimeMode};
use raddle_policy::Strategy;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Most jobs of a check: carriers have numbers, of which all checks of a process share 256.
const JOBS_MAX: usize = 64;

/// Checks a body under the default settings; panics with a report if a run fails.
///
/// ```
/// use raddle::sync::{Arc, Mutex};
///
/// raddle::check(|| {
///     let sum = Arc::new(Mutex::new(0));
///     let other = raddle::thread::spawn({
///         let sum = sum.clone();
///         move || *sum.lock().unwrap() += 1
///     });
///     *sum.lock().unwrap() += 1;
///     other.join().unwrap();
///     assert_eq!(*sum.lock().unwrap(), 2);
/// });
/// ```
#[track_caller]
pub fn check(body: impl Fn() + Send + Sync + 'static) {
    Check::new().run(body);
}

/// Runs a recorded failure once more: `recorded` is a failure file's name or a schedule string.
/// Panics with the report if it fails again, as it should, and with an error if it cannot be followed.
#[track_caller]
pub fn replay(recorded: &str, body: impl Fn() + Send + Sync + 'static) {
    let mut check = Check::new();
    check.config.replay = Some(recorded.to_owned());
    check.run(body);
}

/// How to check. The environment has the last word: `RADDLE_STRATEGY`, `RADDLE_RUNS`,
/// `RADDLE_TIME`, `RADDLE_SEED`, `RADDLE_JOBS`, `RADDLE_REPLAY`, `RADDLE_OUT`,
/// `RADDLE_HAPSET`, `RADDLE_JOURNAL`.
#[derive(Clone, Debug)]
#[must_use = "nothing is checked before `run`"]
pub struct Check {
    config: Config,
}

impl Default for Check {
    fn default() -> Check {
        Check::new()
    }
}

impl Check {
    /// The defaults: `random`, 10,000 runs or 10 seconds, seed 0, until the first failure.
    pub fn new() -> Check {
        Check { config: Config::default() }
    }

    /// A strategy by name, with parameters if it has any: `"rapos"`, `"pct:depth=3"`. A systematic one
    /// (`"odpor"`, `"pcb:bound=2"`) ends by itself when nothing is left, and the report says so; the
    /// limits on runs and time hold for it too.
    pub fn strategy(mut self, name: &str) -> Check {
        self.config.strategy = name.to_owned();
        self
    }

    /// Most runs.
    pub fn runs(mut self, runs: u64) -> Check {
        self.config.runs = runs;
        self
    }

    /// Most time. It decides only how many runs there are, never what they do: a run that has not ended soon after is
    /// given up, and the report says so.
    pub fn time(mut self, time: Duration) -> Check {
        self.config.time = time;
        self
    }

    /// The seed of the campaign: the same seed gives the same runs.
    pub fn seed(mut self, seed: u64) -> Check {
        self.config.seed = seed;
        self
    }

    /// How many runs go on at the same time, each on a thread of its own; 1 by default. Apart from the
    /// time it takes nothing depends on it: what is found, counted and learned is the same. For a search that
    /// is true once it has run everything; if it ends earlier, which of its runs were made is a matter of chance.
    /// `hapset` has one job always.
    ///
    /// Objects of raddle's that all runs share (in statics, or captured by the closure) allow one run at a
    /// time only; the report says so if that is why there was one job. Whatever else the runs share, such as
    /// a file, must stand being used by several at once.
    pub fn jobs(mut self, jobs: usize) -> Check {
        self.config.jobs = jobs;
        self
    }

    /// Distinct failures that are no races after which to stop; 0 is never.
    pub fn stop_after(mut self, failures: u64) -> Check {
        self.config.stop_after = failures;
        self
    }

    /// Whether data races are reported, as they are by default.
    pub fn races(mut self, races: bool) -> Check {
        self.config.races = races;
        self
    }

    /// Whether every plain access is a scheduling point, rather than only those known to race.
    pub fn all_points(mut self, all: bool) -> Check {
        self.config.points = if all { PointSet::everything() } else { PointSet::default() };
        self
    }

    /// Lets timed operations time out only when nobody else can run.
    pub fn lazy_timeouts(mut self, lazy: bool) -> Check {
        self.config.time_mode = if lazy { TimeMode::Lazy } else { TimeMode::Any };
        self
    }

    /// Number of spurious wake-ups of condition variables that each task may have in a run.
    pub fn spurious_wakeups(mut self, most: u32) -> Check {
        self.config.spurious_max = most;
        self
    }

    /// Whether a task that spins is held back while others can run, as it is by default.
    pub fn park_spinning(mut self, park: bool) -> Check {
        self.config.spin = if park { SpinMode::Park } else { SpinMode::Off };
        self
    }

    /// Number of operations after which a run is given up.
    pub fn steps_max(mut self, steps: u64) -> Check {
        self.config.steps_max = steps;
        self
    }

    /// Time without any operation after which a run counts as hanging.
    pub fn hang_ms(mut self, milliseconds: u64) -> Check {
        self.config.hang = Duration::from_millis(milliseconds);
        self
    }

    /// Where failure files go; `raddle-out` by default.
    pub fn out(mut self, directory: impl Into<PathBuf>) -> Check {
        self.config.out = directory.into();
        self
    }

    /// Whether HaPSet coverage is measured: pairs of statements seen one right after the other, on one object,
    /// in two tasks. A measure of what was tested, whatever the strategy; the strategy `hapset` always has it.
    pub fn hapset_coverage(mut self, measure: bool) -> Check {
        self.config.hapsets = measure;
        self
    }

    /// The file to which the HaPSets that are learned are added; it is made if it is missing. The strategy
    /// `hapset` begins with what it holds.
    pub fn hapset_file(mut self, file: impl Into<PathBuf>) -> Check {
        self.config.hapset_file = Some(file.into());
        self
    }

    /// The journal of a systematic search: a file that is written after every run. A check that finds one goes on
    /// where the interrupted search was, however that ended, and repeats at most the run that was in flight. Once the
    /// search is over the file is removed. The journal of another build or another setting is refused.
    pub fn journal(mut self, file: impl Into<PathBuf>) -> Check {
        self.config.journal = Some(file.into());
        self
    }

    /// What the body is called in failure files; by default the test's path.
    pub fn name(mut self, name: &str) -> Check {
        self.config.name = Some(name.to_owned());
        self
    }

    /// Checks the body. Panics with a report if a run fails, or if nothing could be checked.
    #[track_caller]
    pub fn run(self, body: impl Fn() + Send + Sync + 'static) {
        match self.explore(body) {
            Err(error) => panic!("raddle: {error}"),
            Ok(report) if report.failed() => {
                eprintln!("{}", report.text());
                panic!("raddle: {}", report.headline());
            }
            Ok(report) => eprint!("{}", report.text()),
        }
    }

    /// Checks the body and gives back what was found.
    ///
    /// # Errors
    /// If nothing could be checked: a wrong setting, a schedule that cannot be followed, a body
    /// without a second task.
    #[track_caller]
    pub fn explore(self, body: impl Fn() + Send + Sync + 'static) -> Result<Report, Error> {
        let caller = std::panic::Location::caller();
        if rt::current().is_some() {
            return Err(Error::Nested);
        }
        let config = self.config.with_environment(caller)?;
        explore(&config, Arc::new(body))
    }
}

fn explore(config: &Config, body: Body) -> Result<Report, Error> {
    let strategy =
        raddle_policy::parse(&config.strategy).map_err(|error| Error::Setting(error.to_string()))?;
    let hapsets = config.hapsets || matches!(strategy, Strategy::Hapset { .. });
    let config = &Config { hapsets, ..config.clone() };
    let mut target =
        LibraryTarget::new(body, config.hang).with_jobs(config.jobs).with_hapsets(config.hapsets);
    if let Some(recorded) = &config.replay {
        return replay::replay(config, &mut target, recorded);
    }
    if let Some(file) = &config.minimize {
        return replay::minimize(config, &mut target, file);
    }
    if config.runs == 0 {
        return Err(Error::Setting(String::from("0 runs check nothing: ask for at least one")));
    }
    if !(1..=JOBS_MAX).contains(&config.jobs) {
        let jobs = config.jobs;
        return Err(Error::Setting(format!("{jobs} jobs are not possible: ask for 1 to {JOBS_MAX}")));
    }
    // What cannot be read is said before anything is run.
    let saved = config.hapset_file.as_deref().map_or(Ok(None), hapsets::saved)?;
    if let Some(report) = replay::regressions(config, &mut target)? {
        return Ok(report);
    }
    let begun = Instant::now();
    let mut explorer = match strategy {
        Strategy::Hapset { training, bound } => {
            let known = saved.as_ref().map_or_else(Known::default, hapsets::known);
            Box::new(hapset::explorer(training, bound, known, config.plan()))
        }
        other => explorer(other, config.search_plan()),
    };
    let resumed = match &config.journal {
        Some(file) => journal::keep(config, file, &mut *explorer, &mut target)?,
        None => 0,
    };
    let limits = Limits { runs: config.runs, stop_after: config.stop_after, races: config.races };
    let due = target.until(begun.checked_add(config.time));
    let mut calls = 0u32;
    let mut time_is_up = || {
        // Asked after every run, which may take less than reading the clock does. Whoever waits for runs reads it, too.
        calls = calls.wrapping_add(1);
        due.load(Ordering::Relaxed) || (calls.is_multiple_of(64) && begun.elapsed() >= config.time)
    };
    let summary = campaign::run(&mut target, &mut *explorer, &limits, &mut time_is_up, &mut |_| ())?;
    let given_up = target.has_given_up();
    if given_up && summary.progress.runs == 0 && resumed == 0 {
        return Err(Error::NoTime(config.time));
    }
    if summary.not_controlled && summary.failures.is_empty() && resumed == 0 {
        return Err(Error::NotControlled);
    }
    let mut notes = Vec::new();
    if given_up {
        notes.push(String::from(raddle_report::CUT_OFF));
    }
    if resumed > 0 {
        notes.push(format!("the search went on after {resumed} runs; the figures are of what was run since"));
    }
    notes.extend(explorer.trouble());
    if let Some(file) = &config.hapset_file {
        // What the runs found matters more than that.
        let kept = hapsets::keep(file, &config.body, &summary.hapsets, rt::callers::statement);
        notes.extend(kept.err().map(|error| error.to_string()));
    }
    if matches!(strategy, Strategy::Hapset { .. }) && config.jobs > 1 {
        notes.push(format!(
            "one job instead of {}: what hapset runs next depends on what the run before has taught it",
            config.jobs
        ));
    }
    if target.fell_back() {
        notes.push(format!(
            "one job instead of {}: the runs share objects, in statics or captured by the closure, so no two of \
             them can go on at the same time",
            config.jobs
        ));
    }
    let report = outcome::report(config, &target, summary, begun.elapsed().as_secs_f64(), notes)?;
    Ok(report.after(resumed))
}

impl Config {
    fn plan(&self) -> Plan {
        Plan {
            points: self.points.clone(),
            time: self.time_mode,
            spin: self.spin,
            spurious_max: self.spurious_max,
            steps_max: self.steps_max,
            ..Plan::new(self.seed, Tail::Random)
        }
    }

    /// The same for an explorer that may find its own steps.
    fn search_plan(&self) -> Plan {
        let steps = Steps { sections: true, ..Steps::default() };
        Plan { tail: Tail::Steps(steps), ..self.plan() }
    }
}
