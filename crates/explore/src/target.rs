//! What explorers run: a program behind one of the front ends. Plans go in; verdicts,
//! fingerprints and, where asked for, whole traces come back.

use crate::campaign::Found;
use crate::systematic::as_taken;
use crate::told::Told;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::ops::Range;
use core::time::Duration;
use raddle_model::{FailureKind, Pair, Plan, SiteId, Trace, Verdict};
pub use raddle_model::{ObjectInfo, Place};
use std::time::Instant;

/// Two accesses that nothing orders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaceFound {
    /// The two sites, the earlier access first.
    pub sites: [SiteId; 2],
    /// For people.
    pub message: String,
}

/// A task that waits for a lock while it holds another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgeFound {
    /// Path of the task from main.
    pub task: String,
    /// What it holds: `mutex`, `rwlock`, …
    pub held: String,
    /// Where it took the one and takes the other.
    pub sites: [SiteId; 2],
}

/// A potential deadlock: each task wants what the next one holds. In this run they did not meet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CycleFound {
    /// At least two, the one with the lowest sites first.
    pub edges: Vec<EdgeFound>,
}

impl CycleFound {
    /// What makes two of them the same, in this run or in another.
    pub fn sites(&self) -> impl Iterator<Item = [SiteId; 2]> + '_ {
        self.edges.iter().map(|edge| edge.sites)
    }
}

/// What a run taught about the program. Later plans must know some of it, people the rest.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Learned {
    /// A try or timed operation on a lock was seen: releases must be points.
    pub releases: bool,
    /// An atomic weaker than sequentially consistent was executed.
    pub weak_orders: bool,
    /// Races that are unordered in this run.
    pub races: Vec<RaceFound>,
    /// Sites of plain accesses to memory that is raced for, beyond those of the races: sharedness belongs to the
    /// location, so each of them must be a point.
    pub shared: Vec<SiteId>,
    /// Potential deadlocks, in those runs in which the target looked for them.
    pub cycles: Vec<CycleFound>,
    /// HaPSets, if the target was asked for them.
    pub pairs: Vec<Pair>,
}

/// What comes back of a run in a batch.
#[derive(Clone, PartialEq, Debug)]
pub struct Digest {
    /// Number of the run within the campaign.
    pub run: u64,
    /// The seed it had.
    pub seed: u64,
    /// How it ended.
    pub verdict: Verdict,
    /// Its partial order.
    pub fingerprint: u128,
    /// Number of events.
    pub steps: u64,
    /// Number of plain accesses to memory, if the target sees those that are no scheduling points.
    pub accesses: u64,
    /// Number of decisions: points at which more than one task could run, and choices of values.
    pub decisions: u64,
    /// Number of tasks there were.
    pub tasks: u32,
    /// What it taught.
    pub learned: Learned,
}

impl Digest {
    /// Sites whose order it has shown to matter: they must be scheduling points from now on. A race for memory that was given back is
    /// told as a memory error.
    pub(crate) fn contested(&self) -> impl Iterator<Item = SiteId> {
        let misused = match &self.verdict {
            Verdict::Failed(failure) if failure.kind == FailureKind::Memory => &failure.sites[..],
            _ => &[],
        };
        let raced = self.learned.races.iter().flat_map(|race| race.sites);
        raced.chain(self.learned.shared.iter().chain(misused).copied())
    }

    /// Whether there may be such sites, as there seldom are.
    #[inline]
    pub(crate) fn may_contest(&self) -> bool {
        let Learned { races, shared, .. } = &self.learned;
        !races.is_empty() || !shared.is_empty() || matches!(self.verdict, Verdict::Failed(_))
    }

    /// A run of which nothing is known but how it ended.
    pub fn unknown(run: u64, seed: u64, verdict: Verdict) -> Digest {
        Digest {
            run,
            seed,
            verdict,
            fingerprint: 0,
            steps: 0,
            accesses: 0,
            decisions: 0,
            tasks: 0,
            learned: Learned::default(),
        }
    }
}

/// What comes back of a run that was recorded in full.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// As in a batch; the run number is 0.
    pub digest: Digest,
    /// Everything that happened. Its schedule has checks and the fingerprint.
    pub trace: Trace,
    /// What each object is, by dense id.
    pub objects: Vec<ObjectInfo>,
    /// Path of each task from main, by dense id; with its name, if the program gave it one.
    pub tasks: Vec<String>,
}

impl Run {
    /// A run that could not tell what happened in it.
    pub fn untold(digest: Digest) -> Run {
        Run { digest, trace: Trace::default(), objects: Vec::new(), tasks: Vec::new() }
    }

    /// A run that was given up in the middle, since the time was over: nobody knows what it did.
    pub fn given_up(plan: &Plan) -> Run {
        Run::untold(Digest::unknown(0, plan.seed, Verdict::Cut))
    }

    /// Whether it was. One that was cut by its plan says who was there.
    pub fn is_given_up(&self) -> bool {
        self.digest.verdict == Verdict::Cut && self.trace.names.is_empty()
    }
}

/// What the explorer says after each run of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Leave the rest of the batch out.
    Stop,
}

/// Takes what comes back of a batch.
pub trait Sink {
    /// One run has ended.
    fn run(&mut self, digest: &Digest) -> Flow;
}

/// What a target could not do. Never a bug of the program under test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetError {
    /// What went wrong, and what to do now.
    pub message: String,
}

/// What a search says to a worker.
#[derive(Clone, PartialEq, Debug)]
pub enum Ask {
    /// This is the worker's next run. Whoever has let go of the plan by the time it asks for the next one saves a copy.
    Run(Arc<Plan>),
    /// There is nothing to run until another worker has told what came of its run.
    Wait,
    /// Nothing is left.
    Over,
}

/// Who decides from run to run. It is a value that moves to where the runs happen: a search asks for far more runs in
/// a second than messages could be sent. Several workers may ask it in turn if it can be shared; they have numbers
/// from 0 on, and each has one run at a time.
pub trait Searcher: Any + Send {
    /// What a worker is to run next.
    fn next(&mut self, worker: usize) -> Ask;

    /// The run that the worker was asked for has ended.
    fn learn(&mut self, worker: usize, plan: &Plan, digest: &Digest, trace: &Trace);

    /// Whether there can be more than one worker.
    fn shares(&self) -> bool;

    /// So many first steps of the run that the worker was asked for are those of its run before: nobody need compare
    /// them.
    fn shared_steps(&self, worker: usize) -> usize;

    /// What the worker was asked to run last.
    fn asked(&self, worker: usize) -> Arc<Plan>;
}

/// A run of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchRun {
    /// What came of it.
    pub told: Told,
    /// Repeats it, if there is something to look at. Elsewhere in memory, since few have it and there are many runs.
    pub again: Option<Box<Plan>>,
}

impl SearchRun {
    /// The run that a searcher has just learned from.
    #[inline(always)]
    pub fn new(plan: &Plan, digest: &Digest, trace: &Trace) -> SearchRun {
        let dull = matches!(digest.verdict, Verdict::Finished | Verdict::Cut);
        let again = (!dull || !digest.learned.races.is_empty()).then(|| again(plan, trace));
        SearchRun { told: Told::new(digest), again }
    }
}

/// A plan that repeats a run, as far as it is known what it did.
#[cold]
fn again(plan: &Plan, trace: &Trace) -> Box<Plan> {
    Box::new(as_taken(plan, trace).unwrap_or_else(|| plan.clone()))
}

/// Some runs of a search.
pub struct Searched {
    /// Where the search is now.
    pub search: Box<dyn Searcher>,
    /// The runs, in the order of their numbers. Few have something to look at: nothing is begun after one that has.
    pub runs: Vec<SearchRun>,
    /// Whether nothing is left.
    pub over: bool,
    /// The time that went into the search itself, not into the runs.
    pub spent: Duration,
}

/// Hears of runs of a search, in the order of their numbers, and says whether it shall go on. It may do so for a while all the same.
pub type Hear<'a> = &'a mut dyn FnMut(&[SearchRun]) -> Flow;

/// A program that can be run under a plan.
pub trait Target {
    /// One run, recorded in full.
    fn run(&mut self, plan: &Plan) -> Result<Run, TargetError>;

    /// The same for whoever makes many and wants to know only what happened: who called may be left out, and with it what
    /// [`Target::told`] says.
    fn run_bare(&mut self, plan: &Plan) -> Result<Run, TargetError> {
        self.run(plan)
    }

    /// The runs `runs` of the campaign whose seed is `plan.seed`: run `i` has the plan with the
    /// seed [`raddle_model::Rng::seed_of_run`]`(plan.seed, i)`.
    fn sample(&mut self, plan: &Plan, runs: Range<u64>, sink: &mut dyn Sink) -> Result<(), TargetError>;

    /// Some of the runs that a search asks for, at least one unless nothing is left: those with the first of the
    /// numbers `runs`, up to one that there is something to look at.
    fn search(&mut self, mut search: Box<dyn Searcher>, runs: Range<u64>) -> Result<Searched, TargetError> {
        let mut spent = Duration::ZERO;
        let begun = Instant::now();
        let next = search.next(0);
        spent += begun.elapsed();
        let Ask::Run(plan) = next else {
            return Ok(Searched { search, runs: Vec::new(), over: true, spent });
        };
        let mut run = self.run(&plan)?;
        run.digest.run = runs.start;
        let begun = Instant::now();
        search.learn(0, &plan, &run.digest, &run.trace);
        spent += begun.elapsed();
        let run = SearchRun::new(&plan, &run.digest, &run.trace);
        Ok(Searched { search, runs: vec![run], over: false, spent })
    }

    /// The same for somebody who hears of runs while the search goes on, if there is nothing to look at in them: of the others only
    /// what was not heard of is given back. A target may do that or not.
    fn search_aloud(
        &mut self,
        search: Box<dyn Searcher>,
        runs: Range<u64>,
        hear: Hear<'_>,
    ) -> Result<Searched, TargetError> {
        let _ = hear;
        self.search(search, runs)
    }

    /// Something that was found, once more: a run may have shown that it was an earlier one that failed.
    fn in_hindsight(&mut self, found: Found) -> Result<Found, TargetError> {
        Ok(found)
    }

    /// The sites of a race that this run, the last that was recorded, has shown, as a report tells them: a recorded race is
    /// known again by these.
    fn told(&self, _run: &Run, sites: [SiteId; 2]) -> [SiteId; 2] {
        sites
    }

    /// Where a site is.
    fn place(&self, site: SiteId) -> Place;
}
