//! Experiments: one subject sampled by one strategy, so and so many runs.

use super::orders;
use crate::problem::Problem;
use raddle::tool::LibraryTarget;
use raddle_analysis::statistics::Distinct;
use raddle_explore::explorer::plan_of_run;
use raddle_explore::target::{Digest, Flow, Learned, Run, TargetError};
use raddle_explore::{Batch, Explorer, Limits, Sample, campaign};
use raddle_model::{Plan, PointSet, Rng, Tail, Verdict};
use raddle_policy::Strategy;
use raddle_subjects::Subject;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Runs in which the racing accesses of a subject are looked for.
const TRAINING_RUNS: u64 = 2_000;
/// No run of a subject takes that long without an operation, whatever else the machine does.
const HANG: Duration = Duration::from_secs(30);

/// Where the subjects are switched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Points {
    /// Before synchronization only, as in the paper's experiments.
    Sync,
    /// Before accesses that race as well.
    Racy,
}

/// Whether starting a thread is an operation that others can come before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Starts {
    /// It is, as in the paper: main interleaves with the threads that it has started.
    Points,
    /// It is not, as in raddle: all threads stand at their first operation before any runs.
    Free,
}

impl Points {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Points::Sync => "sync",
            Points::Racy => "racy",
        }
    }
}

impl Starts {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Starts::Points => "points",
            Starts::Free => "free",
        }
    }
}

/// What a subject is run under, whatever the strategy.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    pub(crate) points: Points,
    pub(crate) starts: Starts,
    set: PointSet,
}

impl Conditions {
    /// Number of racing accesses that are points.
    pub(crate) fn racing_sites(&self) -> usize {
        self.set.accesses.len()
    }
}

/// The conditions in words.
pub(crate) fn told(points: Points, starts: Starts) -> String {
    let switched = match points {
        Points::Sync => "switches before synchronization only",
        Points::Racy => "switches before synchronization and before racing accesses",
    };
    let started = match starts {
        Starts::Points => "starting a thread is a point, as in the paper",
        Starts::Free => "starting a thread is no point, as in raddle",
    };
    format!("{switched}; {started}")
}

/// A subject that is run again and again.
pub(crate) struct Bench {
    target: LibraryTarget,
}

impl Bench {
    pub(crate) fn new(body: fn()) -> Bench {
        Bench { target: LibraryTarget::new(Arc::new(body), HANG) }
    }

    /// The conditions; racing accesses are looked for first and are the same for all strategies then.
    pub(crate) fn conditions(&mut self, points: Points, starts: Starts) -> Result<Conditions, Problem> {
        let set = PointSet { spawns: starts == Starts::Points, ..PointSet::default() };
        let set = match points {
            Points::Sync => set,
            Points::Racy => {
                let mut explorer = Sample::new(Strategy::Random, plan(0, &set));
                self.campaign(&mut explorer, TRAINING_RUNS)?;
                explorer.plan().points.clone()
            }
        };
        Ok(Conditions { points, starts, set })
    }

    /// The partial orders of `runs` runs: of their synchronization, where nothing else is a point.
    pub(crate) fn sample(
        &mut self,
        strategy: Strategy,
        conditions: &Conditions,
        seed: u64,
        runs: u64,
    ) -> Result<Distinct, Problem> {
        let frozen = Frozen::new(strategy, conditions, seed, None);
        match conditions.points {
            Points::Racy => Ok(self.campaign(&mut { frozen }, runs)?.fingerprints),
            Points::Sync => {
                let mut explorer = Recorded::new(frozen);
                self.campaign(&mut explorer, runs)?;
                Ok(explorer.orders)
            }
        }
    }

    /// How many of `runs` runs fail.
    pub(crate) fn failures(&mut self, strategy: Strategy, seed: u64, runs: u64) -> Result<u64, Problem> {
        let mut explorer = Sample::new(strategy, plan(seed, &PointSet::default()));
        Ok(self.campaign(&mut explorer, runs)?.progress.failing_runs)
    }

    /// Number of the first run that fails with `text`, from 1; `None` if none of `runs` does.
    pub(crate) fn first_with(
        &mut self,
        text: &'static str,
        strategy: Strategy,
        conditions: &Conditions,
        seed: u64,
        runs: u64,
    ) -> Result<Option<u64>, Problem> {
        let mut explorer = Frozen::new(strategy, conditions, seed, Some(text));
        self.campaign(&mut explorer, runs)?;
        Ok(explorer.found.map(|run| run + 1))
    }

    /// A deadlock or an exception is a run like any other: it does not end the campaign.
    fn campaign(&mut self, explorer: &mut dyn Explorer, runs: u64) -> Result<campaign::Summary, Problem> {
        let limits = Limits { runs, stop_after: 0, races: false };
        campaign::run(&mut self.target, explorer, &limits, &mut || false, &mut |_| ()).map_err(
            |TargetError { message }| Problem::new(message, "this is a bug of raddle's: please report it"),
        )
    }
}

/// The seed of an experiment of a subject: all strategies and conditions get the same.
pub(crate) fn seed_of(seed: u64, subject: &Subject, experiment: u64) -> u64 {
    let name =
        subject.name.bytes().fold(0u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    Rng::seed_of_run(seed ^ name, experiment)
}

fn plan(seed: u64, points: &PointSet) -> Plan {
    Plan { points: points.clone(), ..Plan::new(seed, Tail::Random) }
}

/// A sampler that keeps its points, so that all runs of an experiment are of one kind; and that ends when a run
/// fails with a certain text.
struct Frozen {
    sample: Sample,
    text: Option<&'static str>,
    found: Option<u64>,
}

impl Frozen {
    fn new(strategy: Strategy, conditions: &Conditions, seed: u64, text: Option<&'static str>) -> Frozen {
        Frozen { sample: Sample::new(strategy, plan(seed, &conditions.set)), text, found: None }
    }
}

impl Explorer for Frozen {
    fn next(&mut self) -> Option<Batch> {
        if self.found.is_some() { None } else { self.sample.next() }
    }

    fn learn(&mut self, digest: &Digest) -> Flow {
        if let (Some(text), Verdict::Failed(failure)) = (self.text, &digest.verdict)
            && failure.message.contains(text)
        {
            self.found.get_or_insert(digest.run);
            return Flow::Stop;
        }
        self.sample.learn(&Digest { learned: Learned::default(), ..digest.clone() })
    }

    fn learn_run(&mut self, plan: &Plan, run: &Run) {
        self.sample.learn_run(plan, run);
    }
}

/// A sampler whose runs are all recorded, for their synchronization to be looked at.
struct Recorded {
    inner: Frozen,
    orders: Distinct,
    // The rest of a batch of the inner one.
    batch: Option<(Plan, Range<u64>)>,
    // Whether the run at hand is one that the inner one wants to see as a whole.
    wanted: bool,
}

impl Recorded {
    fn new(inner: Frozen) -> Recorded {
        Recorded { inner, orders: Distinct::default(), batch: None, wanted: false }
    }
}

impl Explorer for Recorded {
    fn next(&mut self) -> Option<Batch> {
        loop {
            if let Some((plan, runs)) = &mut self.batch
                && let Some(run) = runs.next()
            {
                self.wanted = false;
                return Some(Batch::Record { plan: plan_of_run(plan, run), run });
            }
            match self.inner.next()? {
                Batch::Sample { plan, runs } => self.batch = Some((plan, runs)),
                batch => {
                    self.wanted = true;
                    return Some(batch);
                }
            }
        }
    }

    fn learn(&mut self, digest: &Digest) -> Flow {
        self.inner.learn(digest)
    }

    fn learn_run(&mut self, plan: &Plan, run: &Run) {
        self.orders.insert(orders::of_synchronization(&run.trace));
        if self.wanted {
            self.inner.learn_run(plan, run);
        }
    }
}
