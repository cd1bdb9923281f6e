//! `raddle run`: runs a native program under control, again and again, each time under another interleaving.

use crate::cc::program;
use crate::native::{Addresses, Backend, Beginning, Checkpoints, Isolation, NativeTarget, Program, found};
use crate::output::{self, Format};
use crate::problem::Problem;
use crate::suppressed::Suppressed;
use crate::{Exit, interrupt, journal, progress, seed, show};
use raddle::tool;
use raddle_explore::campaign::{self, Limits};
use raddle_explore::explorer::explorer;
use raddle_explore::hapset;
use raddle_explore::target::TargetError;
use raddle_model::{FailureKind, Plan, PointSet, SpinMode, Tail, TimeMode};
use raddle_policy::Strategy;
use raddle_report::json;
use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Run a program again and again, each time under another interleaving, until one fails.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// How to choose interleavings; see `raddle strategies`
    #[arg(long, default_value = "random", value_parser = seed::strategy)]
    strategy: String,
    /// Most runs
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Most seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    time: Duration,
    /// The same seed gives the same runs; `random` draws one
    #[arg(long, default_value = "0", value_parser = seed::parse)]
    seed: u64,
    /// Where tasks may be switched: at synchronization and accesses known to race, also at accesses to what is known to
    /// be shared, or at every access
    #[arg(long, value_enum, default_value_t)]
    points: Points,
    /// When timed waits time out: at any moment, or only when nobody else can run
    #[arg(long, value_enum, default_value_t)]
    timeouts: Timeouts,
    /// Whether a task that looks at the same again and again is held back until something changes; `off` also shows
    /// what comes after a loop that looks a few times and then blocks
    #[arg(long, value_enum, default_value_t)]
    spin: Spin,
    /// How many runs go on at the same time; it changes nothing but the time (in a search: once everything was run)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    jobs: u64,
    /// Distinct failures that are no races after which to stop; 0 is never
    #[arg(long, value_name = "N", default_value_t = 1)]
    stop_after: u64,
    /// What keeps runs apart
    #[arg(long, value_enum, default_value_t)]
    isolation: Isolation,
    /// Whether runs go on from checkpoints; it changes nothing but the time
    #[arg(long, value_enum, default_value_t)]
    checkpoints: Checkpoints,
    /// What the program's threads are. Runs are the same with all of them
    #[arg(long, value_enum, default_value_t)]
    backend: Backend,
    /// Where the program lies in memory
    #[arg(long, value_enum, default_value_t)]
    addresses: Addresses,
    /// A function without arguments that is called in place of main
    #[arg(long, value_name = "FUNCTION")]
    entry: Option<String>,
    /// Whether data races are reported
    #[arg(long, value_enum, default_value_t)]
    races: Races,
    /// The exit code that is no failure; by default that of the first run
    #[arg(long, value_name = "CODE")]
    expect_exit: Option<u8>,
    /// Operations after which a run is given up
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    steps_max: u64,
    /// Milliseconds without any operation after which a run counts as hanging
    #[arg(long, value_name = "MS", default_value_t = 5_000)]
    hang_ms: u64,
    /// The journal of a search, written after every run: if it is there, the search goes on where it was interrupted,
    /// and repeats at most the run that was in flight; if not, it begins. It is removed when the search is over
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// A file of HaPSets, which statement was seen right after which: those that the runs teach are added to it, and the
    /// strategy `hapset` begins with what it holds. Such runs take longer
    #[arg(long, value_name = "FILE")]
    hapset: Option<PathBuf>,
    /// Failures not to report, in the format of ThreadSanitizer's suppressions
    #[arg(long, value_name = "FILE")]
    suppressions: Option<PathBuf>,
    /// A file for a line about each run: number, fingerprint, steps, decisions, tasks, end
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Where failure files go
    #[arg(long, value_name = "DIR", default_value = "raddle-out")]
    out: PathBuf,
    /// For people or for tools
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The program, built with `raddle cc` or `raddle c++`; or a C or C++ source file, which is built first
    program: PathBuf,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
enum Points {
    #[default]
    Sync,
    Shared,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
enum Timeouts {
    #[default]
    Any,
    Lazy,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
enum Spin {
    #[default]
    Park,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
enum Races {
    #[default]
    On,
    Off,
}

/// `30`, `30s`, `1.5`, `2m`.
fn seconds(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix('m') {
        Some(minutes) => (minutes, 60.0),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let value: f64 = number.parse().map_err(|_| String::from("seconds, such as `30`, `1.5s` or `2m`"))?;
    Duration::try_from_secs_f64(value * unit).map_err(|_| String::from("a length of time that there is"))
}

pub(crate) fn run(args: &Args) -> Result<Exit, Problem> {
    let fit = program::fit(&args.program)?;
    if let Some(warning) = fit.warning() {
        eprintln!("raddle: {warning}");
    }
    let program = Program {
        path: fit.path.clone(),
        arguments: args.arguments.clone(),
        stdin: standard_input()?,
        hang: Duration::from_millis(args.hang_ms),
        beginning: match (&args.entry, args.isolation) {
            (Some(function), _) => Beginning::at(&fit.path, function)?,
            (None, Isolation::InProcess) => Beginning::Main,
            (None, _) => Beginning::Process,
        },
        isolation: args.isolation,
        backend: args.backend.choose()?,
        addresses: args.addresses,
        sharing: args.points == Points::Shared,
        checkpoints: args.checkpoints,
    };
    let strategy = raddle_policy::parse(&args.strategy).map_err(|error| Problem::new(error.message, ""))?;
    let mut suppressed = Suppressed::read(args.suppressions.as_deref())?;
    program.backend.isolation(args.isolation)?;
    let instead = program.backend.why.as_ref().map(|why| format!("kernel threads instead of fibers: {why}"));
    interrupt::listen();
    // What cannot be read is said before anything is run.
    let saved = args.hapset.as_deref().map_or(Ok(None), tool::saved_hapsets)?;
    let guided = matches!(strategy, Strategy::Hapset { .. });
    let one_job = guided || args.hapset.is_some();
    let target = NativeTarget::start(program, args.expect_exit.map(i32::from))?;
    let target = target.with_jobs(if one_job { 1 } else { args.jobs as usize })?.with_hapsets(one_job);
    let mut target = target.with_log(args.log.as_deref())?;
    let mut explorer = match strategy {
        Strategy::Hapset { training, bound } => {
            Box::new(hapset::explorer(training, bound, target.known(saved.as_ref()), plan(args)))
        }
        other => explorer(other, plan(args)),
    };
    let resumed = match &args.resume {
        Some(file) => journal::keep(file, &args.strategy, plan(args), &mut *explorer, &mut target)?,
        None => 0,
    };
    let limits = Limits { runs: args.runs, stop_after: args.stop_after, races: args.races == Races::On };
    let bar = progress::bar(args.runs, "runs");
    let begun = Instant::now();
    begun.checked_add(args.time).into_iter().for_each(interrupt::until);
    let search = found::Search {
        strategy: &args.strategy,
        seed: args.seed,
        out: &args.out,
        build_id: fit.shape.build_id,
    };
    let (mut files, mut written) = (Vec::new(), None);
    // Written as soon as it is found: whatever happens to us, it is not lost.
    let mut judge = |target: &NativeTarget, found: &campaign::Found| {
        if suppressed.covers(target, found) {
            return Ok(false);
        }
        let file = found::file(target, &search, found.clone());
        let path = found::write(&search, &args.program, &file);
        if written.is_none() && file.failure.kind != FailureKind::Race {
            // Its run is the last one that was recorded.
            written = Some(target.output().concat());
        }
        files.push((path.map_err(TargetError::from)?, file));
        Ok(true)
    };
    let result = campaign::run_judged(
        &mut target,
        &mut *explorer,
        &limits,
        &mut interrupt::is_due,
        &mut |progress| bar.set_position(progress.runs),
        &mut judge,
    );
    bar.finish_and_clear();
    let summary = result?;
    let given_up = target.has_given_up();
    // Races come last.
    files.sort_by_key(|(_, file)| file.failure.kind == FailureKind::Race);
    let asked = interrupt::is_asked();
    if summary.progress.runs == 0 && (given_up || resumed == 0) && !asked {
        return Err(Problem::new(
            format!("no run of {} has ended within {} s", args.program.display(), args.time.as_secs_f64()),
            "give it more with --time, or let runs be given up earlier with --steps-max",
        ));
    }
    if summary.not_controlled && files.is_empty() && !asked && resumed == 0 {
        return Err(Problem::not_controlled(
            format!(
                "nothing was controlled: in no run of {} could two threads go on at the same time",
                args.program.display()
            ),
            "is it the right program, with the right arguments? Are its sources built with `raddle cc`?",
        ));
    }
    let mut figures = found::summary(&target, &search, &summary, &files, begun.elapsed().as_secs_f64());
    figures.notes.extend(instead);
    figures.notes.extend(suppressed.notes());
    if one_job && args.jobs > 1 {
        let why = match guided {
            true => "what hapset runs next depends on what the run before has taught it",
            false => "runs from which HaPSets are learned are recorded one by one",
        };
        figures.notes.push(format!("one job instead of {}: {why}", args.jobs));
    }
    if let Some(hapsets) = target.hapsets() {
        figures.hapset = Some(tool::told_hapsets(&summary.hapsets, args.hapset.as_deref()));
        // What the runs found matters more than that.
        let kept = args.hapset.as_deref().map(|file| hapsets.keep(file, &args.program, &summary.hapsets));
        figures.notes.extend(kept.and_then(Result::err));
    }
    if resumed > 0 {
        let note = format!("the search went on after {resumed} runs; the figures are of what was run since");
        figures.notes.push(note);
    }
    figures.notes.extend(explorer.trouble());
    if given_up {
        figures.notes.push(String::from(raddle_report::CUT_OFF));
    }
    if asked {
        figures.notes.push(format!("interrupted after {} runs", summary.progress.runs));
    }
    match args.format {
        Format::Human => {
            for (path, file) in &files {
                output::print(&show::told_at(file, path, ""));
                output::print("\n");
            }
            if let Some(written) = written {
                output::quote("what the failing run wrote", &written);
            }
            output::print(&figures.text());
        }
        Format::Json => output::print_line(&json::summary(&figures)),
    }
    match files.is_empty() {
        false => Ok(Exit::FailureFound),
        // What was asked for was not done, so this is no pass.
        true if asked => Err(Problem::new("interrupted; nothing was found until then", "")),
        true => Ok(Exit::NothingFound),
    }
}

fn plan(args: &Args) -> Plan {
    Plan {
        points: match args.points {
            // What is shared is learned from run to run.
            Points::Sync | Points::Shared => PointSet::default(),
            Points::All => PointSet::everything(),
        },
        time: match args.timeouts {
            Timeouts::Any => TimeMode::Any,
            Timeouts::Lazy => TimeMode::Lazy,
        },
        spin: match args.spin {
            Spin::Park => SpinMode::Park,
            Spin::Off => SpinMode::Off,
        },
        steps_max: args.steps_max,
        ..Plan::new(args.seed, Tail::Random)
    }
}

/// What the program reads: all of our own standard input, once. A terminal has nothing to repeat.
fn standard_input() -> Result<Vec<u8>, Problem> {
    let mut input = std::io::stdin();
    if input.is_terminal() {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::new();
    match input.read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Problem::new(format!("standard input cannot be read: {error}"), "")),
    }
}
