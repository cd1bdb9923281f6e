//! Recorded failures as values: run again, or shrunk, they come back as failure files. The `raddle`
//! command, the variables `RADDLE_REPLAY` and `RADDLE_MINIMIZE`, and the regressions all end here.

use super::error::Error;
use super::outcome;
use raddle_explore::campaign;
use raddle_explore::shrink::{self, Effort, Minimized};
use raddle_explore::target::{Place, Run, Sink, Target, TargetError};
use raddle_model::{Divergence, Event, Failure, FailureKind, Plan, SiteId, Tail, Trace, Verdict};
use raddle_report::{Story, preemptions};
use raddle_wire::{FailureFile, SiteKey, TOOL_VERSION, Target as Recorded, failure, schedule};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

/// A shrunk failure.
#[derive(Clone, Debug)]
pub struct Smaller {
    /// The failure with its new schedule.
    pub file: FailureFile,
    /// Preemptions that are left.
    pub preemptions: u32,
    /// Runs that it took.
    pub runs: u64,
}

/// Reads a failure file.
///
/// # Errors
/// If there is none, or if it cannot be understood: which, and why.
pub fn read(path: &Path) -> Result<FailureFile, Error> {
    let bytes = std::fs::read(path).map_err(|error| {
        let hint = "a failure file of raddle's or a schedule string (r1.…) was expected";
        Error::Unreadable(format!("{}: {error}; {hint}", path.display()))
    })?;
    failure::decode(&bytes).map_err(|error| Error::Unreadable(format!("{}: {error}", path.display())))
}

/// What a report tells of a failure file.
pub fn story(file: &FailureFile) -> Story {
    Story {
        failure: file.failure.clone(),
        trace: file.trace.clone(),
        tasks: file.tasks.clone(),
        objects: file.objects.clone(),
        places: file.places.clone(),
        strategy: file.found.strategy.clone(),
        seed: file.found.seed,
        run: file.found.run,
    }
}

/// Runs a recorded failure once more. `None` if the run no longer fails.
///
/// # Errors
/// If the run leaves its schedule.
pub fn again<T: Target>(target: &mut T, file: &FailureFile) -> Result<Option<FailureFile>, Error> {
    let (plan, sites) = plan_of_file(target, file)?;
    let mut target = Showing::new(target, file, &sites);
    let run = target.run(&plan)?;
    let failure = match &run.digest.verdict {
        Verdict::Failed(failure) => failure.clone(),
        Verdict::Diverged(divergence) if !outlives(&run.trace, &file.trace) => {
            return Err(Error::Diverged(explain(divergence)));
        }
        _ => return Ok(None),
    };
    Ok(Some(told(target.target, file, failure, replaying(&plan, &run), run)))
}

/// Shrinks a recorded failure to the fewest preemptions.
///
/// # Errors
/// If it cannot be shrunk: it no longer fails, the run leaves its schedule, or it is a hang.
///
/// `goes_on` is told how much of the work is done, from 0 to 1, and says whether it goes on.
pub fn smaller<T: Target>(
    target: &mut T,
    file: &FailureFile,
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> Result<Smaller, Error> {
    if file.failure.kind == FailureKind::Hang {
        return Err(Error::Setting(String::from(
            "a hang is not minimized: each of many runs would have to hang first",
        )));
    }
    let (plan, sites) = plan_of_file(target, file)?;
    let mut target = Showing::new(target, file, &sites);
    let run = followed(&mut target, &plan)?;
    if !matches!(run.digest.verdict, Verdict::Failed(_)) {
        return Err(Error::Diverged(String::from(
            "the recorded run does not fail any more: there is nothing to minimize",
        )));
    }
    let before = replaying(&plan, &run);
    let mut smaller = shrink::minimize(&mut target, &before, Effort::default(), goes_on)
        .map_err(|error| Error::Diverged(error.to_string()))?;
    // A run so long that nothing could be tried may be worse after all as reports count.
    let [had, has] = [&run, &smaller.run].map(|run| preemptions(&run.trace));
    if has > had {
        smaller = Minimized { plan: before, run, preemptions: had as u32, runs: smaller.runs };
    }
    let Verdict::Failed(failure) = smaller.run.digest.verdict.clone() else {
        unreachable!("raddle bug: a run was minimized that does not fail")
    };
    let file = told(target.target, file, failure, smaller.plan, smaller.run);
    Ok(Smaller { file, preemptions: smaller.preemptions, runs: smaller.runs })
}

/// Runs a schedule string.
pub(super) fn run_string<T: Target>(target: &mut T, text: &str) -> Result<campaign::Found, Error> {
    let unreadable = |error| Error::Unreadable(format!("the schedule cannot be read: {error}"));
    let mut keys = BTreeSet::new();
    schedule::decode(text, |key| {
        keys.insert(key);
        SiteId::UNKNOWN
    })
    .map_err(unreadable)?;
    let here = |sites: &Sites| {
        schedule::decode(text, |key| sites.get(&key).copied().unwrap_or(SiteId::UNKNOWN)).map_err(unreadable)
    };
    let (plan, _) = plan_here(target, &keys, here)?;
    let run = followed(target, &plan)?;
    let failure = match &run.digest.verdict {
        Verdict::Failed(failure) => failure.clone(),
        _ => Failure {
            kind: FailureKind::Nondeterminism,
            message: String::from("the recorded run finishes now"),
            tasks: Vec::new(),
            sites: Vec::new(),
        },
    };
    Ok(campaign::Found { failure, original: None, plan: replaying(&plan, &run), run, first_run: 0 })
}

/// Numbers of sites are given by a process, so what another wrote down is found again by file, line
/// and column.
type Sites = BTreeMap<SiteKey, SiteId>;

/// The numbers of a file's sites in this process; for native programs they are the same in each.
type Numbers = BTreeMap<SiteId, SiteId>;

fn plan_of_file<T: Target>(target: &mut T, file: &FailureFile) -> Result<(Plan, Numbers), Error> {
    if matches!(file.target, Recorded::Native { .. }) {
        return Ok((file.plan.clone(), file.places.keys().map(|&site| (site, site)).collect()));
    }
    let key = |place: &Place| SiteKey::of(&place.file, place.line, place.column);
    let race = if file.failure.kind == FailureKind::Race { file.failure.sites.as_slice() } else { &[] };
    let points = file.plan.points.accesses.iter().chain(race);
    let wanted = points.filter_map(|site| file.places.get(site)).map(key).collect();
    let (plan, sites) = plan_here(target, &wanted, |sites| {
        Ok(file.plan_here(|place| sites.get(&key(place)).copied().unwrap_or(SiteId::UNKNOWN)))
    })?;
    let here = |(&site, place)| Some((site, *sites.get(&key(place))?));
    Ok((plan, file.places.iter().filter_map(here).collect()))
}

/// The plan with this process's numbers for its sites. The program shows them by being run: up to the
/// first access whose number is missing a run is the recorded one, so each run shows at least one more.
fn plan_here<T: Target>(
    target: &mut T,
    wanted: &BTreeSet<SiteKey>,
    plan: impl Fn(&Sites) -> Result<Plan, Error>,
) -> Result<(Plan, Sites), Error> {
    let mut sites = Sites::new();
    loop {
        let attempt = plan(&sites)?;
        let missing = wanted.iter().filter(|key| !sites.contains_key(key)).count();
        if missing == 0 {
            return Ok((attempt, sites));
        }
        for event in target.run(&attempt)?.trace.events {
            let key = outcome::key(target, event.op.site);
            if wanted.contains(&key) {
                sites.insert(key, event.op.site);
            }
        }
        if wanted.iter().filter(|key| !sites.contains_key(key)).count() == missing {
            // The program has changed: the run says where.
            return Ok((attempt, sites));
        }
    }
}

/// Whether a run did everything that the recorded one did, and then went on where that failed. It has left
/// its schedule there; but that is what a program does whose bug was mended.
fn outlives(now: &Trace, recorded: &Trace) -> bool {
    let same = |(now, then): (&Event, &Event)| {
        (now.task, now.op.kind, now.outcome) == (then.task, then.op.kind, then.outcome)
    };
    let longer = !recorded.events.is_empty() && now.events.len() >= recorded.events.len();
    longer && now.events.iter().zip(&recorded.events).all(same)
}

/// A run that must keep to its plan.
fn followed<T: Target>(target: &mut T, plan: &Plan) -> Result<Run, Error> {
    let run = target.run(plan)?;
    match &run.digest.verdict {
        Verdict::Diverged(divergence) => Err(Error::Diverged(explain(divergence))),
        _ => Ok(run),
    }
}

/// The plan that repeats this very run. A run that hangs has no schedule: its plan stays.
fn replaying(plan: &Plan, run: &Run) -> Plan {
    let hangs = matches!(&run.digest.verdict, Verdict::Failed(failure) if failure.kind == FailureKind::Hang);
    if hangs || plan.tail == Tail::None { plan.clone() } else { plan.replaying(run.trace.schedule.clone()) }
}

fn told(target: &impl Target, recorded: &FailureFile, failure: Failure, plan: Plan, run: Run) -> FailureFile {
    let places = outcome::places(target, &failure, &run, &plan);
    FailureFile {
        tool: TOOL_VERSION.to_owned(),
        target: recorded.target.clone(),
        plan,
        failure,
        trace: run.trace,
        tasks: run.tasks,
        objects: run.objects,
        places,
        found: recorded.found.clone(),
        memory_model: recorded.memory_model.clone(),
    }
}

fn explain(divergence: &Divergence) -> String {
    format!(
        "the run left the recorded schedule at step {}, after {} decisions: expected {}, found {}. Was the \
         schedule made by another program or another version of it? Or does the body depend on something that \
         raddle does not control (time, addresses, the order of a hash map)?",
        divergence.step, divergence.decision, divergence.expected, divergence.found
    )
}

/// A race ends no run, and whatever ends it comes later. For whoever repeats a race, a run that shows it has failed by it.
struct Showing<'a, T> {
    target: &'a mut T,
    race: Option<Failure>,
}

impl<'a, T> Showing<'a, T> {
    fn new(target: &'a mut T, file: &FailureFile, sites: &Numbers) -> Showing<'a, T> {
        let here = |site: &SiteId| sites.get(site).copied();
        let race = (file.failure.kind == FailureKind::Race).then(|| Failure {
            sites: file.failure.sites.iter().filter_map(here).collect(),
            ..file.failure.clone()
        });
        Showing { target, race }
    }
}

impl<T: Target> Target for Showing<'_, T> {
    fn run(&mut self, plan: &Plan) -> Result<Run, TargetError> {
        let run = self.target.run(plan)?;
        Ok(self.shown(run))
    }

    fn run_bare(&mut self, plan: &Plan) -> Result<Run, TargetError> {
        let run = self.target.run_bare(plan)?;
        Ok(self.shown(run))
    }

    fn sample(&mut self, plan: &Plan, runs: Range<u64>, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.target.sample(plan, runs, sink)
    }

    fn place(&self, site: SiteId) -> Place {
        self.target.place(site)
    }
}

impl<T: Target> Showing<'_, T> {
    fn shown(&self, mut run: Run) -> Run {
        let strayed = matches!(run.digest.verdict, Verdict::Diverged(_));
        if let Some(race) = self.race.as_ref().filter(|_| !strayed) {
            // One line may have several: rather the one that says the same.
            let mut shown: Option<Failure> = None;
            for found in &run.digest.learned.races {
                let sites = self.target.told(&run, found.sites).to_vec();
                let failure = Failure { message: found.message.clone(), sites, ..race.clone() };
                let better = shown.is_none() || failure.message == race.message;
                if failure.identity() == race.identity() && better {
                    shown = Some(failure);
                }
            }
            if let Some(failure) = shown {
                run.digest.verdict = Verdict::Failed(failure);
            }
        }
        run
    }
}
