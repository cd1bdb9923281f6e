//! A campaign: runs what an explorer asks for until a limit is reached, counts, and turns what fails
//! into findings. It reads no clock: the caller says when time is up.
//!
//! Samples are digests. A run that fails for a new reason, or shows a new race, is run again from its
//! plan with full recording before it is reported; if that does not repeat it, the finding is a
//! `nondeterminism` that keeps the original failure. Nothing that failed is ever dropped.

use crate::explorer::{Batch, Exhausted, Explorer, plan_of_run};
use crate::outlook::Outlook;
use crate::target::{
    CycleFound, Digest, Flow, RaceFound, Run, SearchRun, Searched, Sink, Target, TargetError,
};
use crate::told::Brief;
use raddle_analysis::hapset::Growth;
use raddle_analysis::statistics::{Distinct, Estimate};
use raddle_model::{Failure, FailureKind, Plan, SiteId, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// When to stop, and what to report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most runs; those that repeat a failure for its report are not counted.
    pub runs: u64,
    /// Distinct failures that are no races after which the campaign ends; 0 is never.
    pub stop_after: u64,
    /// Whether races are reported. Plans learn from them in any case.
    pub races: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { runs: 10_000, stop_after: 1, races: true }
    }
}

/// A distinct failure or race.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// What was found.
    pub failure: Failure,
    /// If `failure` is a nondeterminism: what the run failed with the first time.
    pub original: Option<Failure>,
    /// Repeats it: the recorded schedule, or for a nondeterminism the plan of the first time.
    pub plan: Plan,
    /// The recorded run.
    pub run: Run,
    /// Number of the run that showed it first.
    pub first_run: u64,
}

/// How far a campaign has come.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress {
    /// Runs so far.
    pub runs: u64,
    /// Events so far.
    pub steps: u64,
    /// Plain accesses to memory so far, if those that are no scheduling points are seen.
    pub accesses: u64,
    /// Distinct partial orders so far.
    pub distinct: Estimate,
    /// Good–Turing probability that the next run shows a new one.
    pub unseen_probability: f64,
    /// Runs that failed.
    pub failing_runs: u64,
    /// Distinct failures that are no races.
    pub failures: u64,
    /// Distinct races.
    pub races: u64,
}

/// What came of a campaign.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The figures at its end.
    pub progress: Progress,
    /// Distinct failures that are no races, in the order in which they were found.
    pub failures: Vec<Found>,
    /// Distinct races, likewise; empty if they were not to be reported.
    pub races: Vec<Found>,
    /// Distinct potential deadlocks that no run has shown.
    pub cycles: Vec<CycleFound>,
    /// No run had a second task and a decision: there was nothing to control, and finding nothing
    /// says nothing.
    pub not_controlled: bool,
    /// Whether an atomic weaker than sequentially consistent was executed.
    pub weak_orders: bool,
    /// Whether everything was run.
    pub exhausted: Exhausted,
    /// How much is left, if the explorer can tell.
    pub outlook: Option<Outlook>,
    /// All fingerprints, with how often each was seen.
    pub fingerprints: Distinct,
    /// HaPSets of the runs that did not fail; nothing if the target was not asked for them.
    pub hapsets: Growth,
    /// The time that went into a search itself, not into its runs. It is only told.
    pub search_time: Duration,
}

/// Hears of each distinct failure as soon as it is confirmed, and says whether it counts.
pub type Judge<'a, T> = &'a mut dyn FnMut(&T, &Found) -> Result<bool, TargetError>;

/// Runs a campaign. `time_is_up` is asked after every run and should be cheap; `progress` is told
/// after every batch.
pub fn run<T: Target + ?Sized, E: Explorer + ?Sized>(
    target: &mut T,
    explorer: &mut E,
    limits: &Limits,
    time_is_up: &mut dyn FnMut() -> bool,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Summary, TargetError> {
    run_judged(target, explorer, limits, time_is_up, progress, &mut |_, _| Ok(true))
}

/// The same for somebody who wants to hear of what is found at once, or not of everything.
pub fn run_judged<T: Target + ?Sized, E: Explorer + ?Sized>(
    target: &mut T,
    explorer: &mut E,
    limits: &Limits,
    time_is_up: &mut dyn FnMut() -> bool,
    progress: &mut dyn FnMut(&Progress),
    judge: Judge<'_, T>,
) -> Result<Summary, TargetError> {
    let mut campaign = Campaign::new(limits.clone());
    let mut exhausted = Exhausted::No;
    while !campaign.is_over() {
        let Some(batch) = explorer.next() else {
            exhausted = explorer.exhausted();
            break;
        };
        match batch {
            Batch::Sample { plan, runs } => {
                let left = limits.runs - campaign.runs;
                let runs = runs.start..runs.end.min(runs.start.saturating_add(left));
                let end = campaign.runs + (runs.end - runs.start);
                let mut listener = Listener { campaign: &mut campaign, explorer, time_is_up, stopped: false };
                target.sample(&plan, runs, &mut listener)?;
                // A batch that ends early though nobody has said so was interrupted.
                if !listener.stopped && campaign.runs < end {
                    campaign.over |= time_is_up();
                }
                campaign.examine(target, |run| plan_of_run(&plan, run), false, judge)?;
            }
            Batch::Record { plan, run: number } => {
                let mut run = target.run(&plan)?;
                if run.is_given_up() {
                    campaign.over = true;
                    continue;
                }
                run.digest.run = number;
                explorer.learn(&run.digest);
                explorer.learn_run(&plan, &run);
                campaign.count(&run.digest);
                campaign.over |= time_is_up();
                campaign.examine(target, |_| plan.clone(), false, judge)?;
            }
            Batch::Search(search) => {
                let mut blank = Brief::BLANK;
                let numbers = campaign.runs..limits.runs;
                let mut hear = |runs: &[SearchRun]| {
                    for run in runs {
                        campaign.count(run.told.read(&mut blank));
                        campaign.over |= time_is_up();
                    }
                    progress(&campaign.progress());
                    if campaign.is_over() { Flow::Stop } else { Flow::Continue }
                };
                let Searched { search, runs, over, spent } =
                    target.search_aloud(search, numbers, &mut hear)?;
                campaign.search_time += spent;
                for run in &runs {
                    campaign.count(run.told.read(&mut blank));
                    campaign.over |= time_is_up();
                    campaign.examine_searched(target, run, judge)?;
                }
                // None at all has ended if the time was over before.
                campaign.over |= runs.is_empty() && !over && time_is_up();
                explorer.take_back(search);
                if over {
                    exhausted = explorer.exhausted();
                    break;
                }
            }
        }
        progress(&campaign.progress());
    }
    // The last run that was allowed may have been the last there is.
    if exhausted == Exhausted::No && campaign.runs >= limits.runs && explorer.has_nothing_left() {
        exhausted = explorer.exhausted();
    }
    let outlook = explorer.outlook();
    Ok(Summary { outlook, ..campaign.summary(exhausted) })
}

/// Hears of the runs of a batch.
struct Listener<'a, E: ?Sized> {
    campaign: &'a mut Campaign,
    explorer: &'a mut E,
    time_is_up: &'a mut dyn FnMut() -> bool,
    stopped: bool,
}

impl<E: Explorer + ?Sized> Sink for Listener<'_, E> {
    fn run(&mut self, digest: &Digest) -> Flow {
        let wish = self.explorer.learn(digest);
        self.campaign.count(digest);
        self.campaign.over |= (self.time_is_up)();
        let flow = if self.campaign.is_over() { Flow::Stop } else { wish };
        self.stopped |= flow == Flow::Stop;
        flow
    }
}

/// Something new, still to be run again.
struct Suspect {
    run: u64,
    /// What it must have again; none if it is to end earlier.
    fingerprint: Option<u128>,
    failure: Failure,
    race: bool,
}

type Identity = (FailureKind, Vec<SiteId>);

struct Campaign {
    limits: Limits,
    runs: u64,
    steps: u64,
    accesses: u64,
    failing_runs: u64,
    failing_distinct: u64,
    fingerprints: Distinct,
    hapsets: Growth,
    // Everything that was found, and how often.
    known: BTreeMap<Identity, u64>,
    // What was known before, and does not count.
    dismissed: BTreeSet<Identity>,
    // Races that were seen only behind the failure of a search's run, and so were not shown yet.
    behind: BTreeSet<Identity>,
    suspects: Vec<Suspect>,
    failures: Vec<Found>,
    races: Vec<Found>,
    cycles: Vec<CycleFound>,
    controlled: bool,
    weak_orders: bool,
    over: bool,
    search_time: Duration,
}

impl Campaign {
    fn new(limits: Limits) -> Campaign {
        Campaign {
            over: limits.runs == 0,
            limits,
            runs: 0,
            steps: 0,
            accesses: 0,
            failing_runs: 0,
            failing_distinct: 0,
            fingerprints: Distinct::new(),
            hapsets: Growth::default(),
            known: BTreeMap::new(),
            dismissed: BTreeSet::new(),
            behind: BTreeSet::new(),
            suspects: Vec::new(),
            failures: Vec::new(),
            races: Vec::new(),
            cycles: Vec::new(),
            controlled: false,
            weak_orders: false,
            search_time: Duration::ZERO,
        }
    }

    fn count(&mut self, digest: &Digest) {
        self.runs += 1;
        self.steps += digest.steps;
        self.accesses += digest.accesses;
        // A run that was cut short, since all that it could still do is run elsewhere, is a part of a partial order and none itself.
        if digest.verdict != Verdict::Cut {
            self.fingerprints.insert(digest.fingerprint);
        }
        self.controlled |= digest.tasks >= 2 && digest.decisions > 0;
        self.weak_orders |= digest.learned.weak_orders;
        match digest.verdict {
            Verdict::Finished | Verdict::Cut => {
                self.hapsets.learn(digest.learned.pairs.iter().copied());
            }
            Verdict::Failed(_) | Verdict::Diverged(_) => self.hapsets.skip(),
        }
        digest.learned.cycles.iter().for_each(|cycle| self.warn(cycle));
        match &digest.verdict {
            Verdict::Failed(failure) => self.suspect(digest, failure.clone(), false),
            Verdict::Diverged(divergence) => {
                let message = format!(
                    "the run left its plan at step {}: expected {}, found {}",
                    divergence.step, divergence.expected, divergence.found
                );
                self.suspect(digest, failure(FailureKind::Nondeterminism, message, Vec::new()), false);
            }
            Verdict::Finished | Verdict::Cut => {}
        }
        if self.limits.races {
            for RaceFound { sites, message } in &digest.learned.races {
                let race = failure(FailureKind::Race, message.clone(), sites.to_vec());
                self.suspect(digest, race, true);
            }
        }
        self.over |= self.runs >= self.limits.runs;
    }

    fn is_over(&self) -> bool {
        self.over || (self.limits.stop_after > 0 && self.failing_distinct >= self.limits.stop_after)
    }

    fn suspect(&mut self, digest: &Digest, failure: Failure, race: bool) {
        if self.dismissed.contains(&failure.identity()) {
            return;
        }
        self.failing_runs += u64::from(!race);
        let times = self.known.entry(failure.identity()).or_default();
        *times += 1;
        // What lies behind a failure is looked for again where nothing fails, and now and then if all runs do.
        let fails = matches!(digest.verdict, Verdict::Failed(_));
        let once_more = self.behind.contains(&failure.identity()) && (!fails || times.is_power_of_two());
        if *times == 1 || once_more {
            self.failing_distinct += u64::from(!race);
            let fingerprint = Some(digest.fingerprint);
            self.suspects.push(Suspect { run: digest.run, fingerprint, failure, race });
        }
    }

    fn warn(&mut self, cycle: &CycleFound) {
        if !self.cycles.iter().any(|known| known.sites().eq(cycle.sites())) {
            self.cycles.push(cycle.clone());
        }
    }

    /// The same for a run of a search. It went on after its first failure, and its report must not: it
    /// is run again as far as that.
    fn examine_searched<T: Target + ?Sized>(
        &mut self,
        target: &mut T,
        run: &SearchRun,
        judge: Judge<'_, T>,
    ) -> Result<(), TargetError> {
        let Some(plan) = &run.again else { return Ok(()) };
        let ends_early = run.told.fails();
        if ends_early {
            self.suspects.iter_mut().for_each(|suspect| suspect.fingerprint = None);
        }
        self.examine(target, |_| Plan::clone(plan), ends_early, judge)
    }

    /// Runs again what is new, and reports it. Runs that end earlier than they did may not come to a race.
    fn examine<T: Target + ?Sized>(
        &mut self,
        target: &mut T,
        plan_of: impl Fn(u64) -> Plan,
        ends_early: bool,
        judge: Judge<'_, T>,
    ) -> Result<(), TargetError> {
        for suspect in core::mem::take(&mut self.suspects) {
            let plan = plan_of(suspect.run);
            let run = target.run(&plan)?;
            run.digest.learned.cycles.iter().for_each(|cycle| self.warn(cycle));
            let (race, identity) = (suspect.race, suspect.failure.identity());
            if ends_early && race && !shows(&run, &suspect.failure) {
                self.behind.insert(identity);
                continue;
            }
            self.behind.remove(&identity);
            let found = target.in_hindsight(confirm(suspect, plan, run))?;
            if !judge(target, &found)? {
                if !race {
                    self.failing_runs -= self.known.get(&identity).copied().unwrap_or(0);
                    self.failing_distinct -= 1;
                }
                self.dismissed.insert(identity);
                continue;
            }
            if race { self.races.push(found) } else { self.failures.push(found) }
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        Progress {
            runs: self.runs,
            steps: self.steps,
            accesses: self.accesses,
            distinct: self.fingerprints.distinct(),
            unseen_probability: self.fingerprints.unseen_probability(),
            failing_runs: self.failing_runs,
            failures: self.failing_distinct,
            races: self.races.len() as u64,
        }
    }

    fn summary(mut self, exhausted: Exhausted) -> Summary {
        self.cycles.retain(|cycle| !self.failures.iter().any(|found| shown(&found.failure, cycle)));
        Summary {
            progress: self.progress(),
            failures: self.failures,
            races: self.races,
            cycles: self.cycles,
            not_controlled: !self.controlled,
            weak_orders: self.weak_orders,
            exhausted,
            outlook: None,
            fingerprints: self.fingerprints,
            hapsets: self.hapsets,
            search_time: self.search_time,
        }
    }
}

fn failure(kind: FailureKind, message: String, sites: Vec<SiteId>) -> Failure {
    Failure { kind, message, tasks: Vec::new(), sites }
}

/// Whether a failure is the deadlock that the cycle warns of: its tasks wait where it says.
fn shown(failure: &Failure, cycle: &CycleFound) -> bool {
    let mut waits: Vec<SiteId> = cycle.sites().map(|[_, wanted]| wanted).collect();
    waits.sort_unstable();
    waits.dedup();
    failure.kind == FailureKind::Deadlock && failure.identity().1 == waits
}

/// Compares the recorded run with what was seen first.
fn confirm(suspect: Suspect, plan: Plan, run: Run) -> Found {
    let Suspect { run: first_run, fingerprint, failure: mut original, race } = suspect;
    if run.is_given_up() {
        original.message.push_str(" (it was not seen again: the time was over before)");
        return Found { failure: original, original: None, plan, run, first_run };
    }
    let again = match &run.digest.verdict {
        Verdict::Failed(failure) if !race => Some(failure.clone()),
        _ if race => Some(original.clone()).filter(|original| shows(&run, original)),
        _ => None,
    };
    // Of two runs that hang one may have been ended before it could say where.
    let untold = |failure: &Failure| failure.kind == FailureKind::Hang && failure.tasks.is_empty();
    let unsaid = untold(&original) || again.as_ref().is_some_and(untold);
    let same = again
        .filter(|again| again.identity() == original.identity() || unsaid && again.kind == original.kind);
    if let Some(failure) = same
        && (unsaid || fingerprint.is_none_or(|fingerprint| run.digest.fingerprint == fingerprint))
    {
        // Who hangs may have no schedule: only the plan leads there again for sure.
        let hangs = failure.kind == FailureKind::Hang;
        let plan = if hangs { plan } else { plan.replaying(run.trace.schedule.clone()) };
        return Found { failure, original: None, plan, run, first_run };
    }
    if original.kind == FailureKind::Nondeterminism {
        return Found { failure: original, original: None, plan, run, first_run };
    }
    let message = format!(
        "run {first_run} did not repeat: it gave {}: {}; the same plan then {}",
        original.kind.name(),
        original.message,
        ended(&run, fingerprint)
    );
    let sites = original.sites.clone();
    let failure = failure(FailureKind::Nondeterminism, message, sites);
    Found { failure, original: Some(original), plan, run, first_run }
}

fn shows(run: &Run, race: &Failure) -> bool {
    let mut races = run.digest.learned.races.iter();
    races.any(|found| {
        failure(FailureKind::Race, String::new(), found.sites.to_vec()).identity() == race.identity()
    })
}

fn ended(run: &Run, fingerprint: Option<u128>) -> String {
    let order = if Some(run.digest.fingerprint) == fingerprint { "the same" } else { "another" };
    let end = match &run.digest.verdict {
        Verdict::Finished => String::from("finished"),
        Verdict::Failed(failure) => format!("gave {}: {}", failure.kind.name(), failure.message),
        Verdict::Cut => String::from("was cut"),
        Verdict::Diverged(divergence) => format!("left its plan at step {}", divergence.step),
    };
    format!("{end}, in {order} partial order")
}
