//! A search that runs on carriers. It lies outside of them: a carrier that hangs is given up, and the search is
//! not. One carrier at a time asks it or tells it; the runs themselves go on beside each other.

use super::worker::CHUNK_TIME;
use raddle_explore::target::{Ask, Digest, SearchRun, Searched, Searcher};
use raddle_model::{Plan, Trace};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Runs of a search after which the carriers hand over what they have, if that much time has not passed. They wait meanwhile.
const SEARCHED_RUNS: usize = 8192;
/// Runs after which one that is alone says what it has, and goes on.
const TOLD_RUNS: usize = 1024;

/// A run that a carrier is to do.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    /// For which worker of the search.
    pub(super) worker: usize,
    pub(super) plan: Arc<Plan>,
    /// Its number within the campaign.
    pub(super) number: u64,
    /// Whether others may go on beside it.
    pub(super) several: bool,
    /// So many of its first steps are those of the worker's run before.
    pub(super) shared: usize,
}

/// A search, for whoever has the lock.
pub(super) struct Searching {
    search: Option<Box<dyn Searcher>>,
    runs: Vec<SearchRun>,
    over: bool,
    /// The numbers that runs may still get.
    numbers: Range<u64>,
    /// The number of the run that each worker is at.
    under_way: Vec<Option<u64>>,
    /// Runs that met objects of others, to be done when nothing goes on beside them.
    given_back: Vec<Assignment>,
    /// Whether nothing more is to be begun.
    stop: bool,
    several: bool,
    /// Whether somebody hears of runs while the search goes on.
    aloud: bool,
    /// The time that went into the search itself.
    pub(super) spent: Duration,
}

/// What a carrier does after a run.
pub(super) enum Learned<'a> {
    /// It stops.
    Stop,
    /// It says what came of these runs, and asks for the next one.
    Tell(Vec<SearchRun>),
    /// It asks for the next one, and has the lock for it.
    GoOn(MutexGuard<'a, Searching>),
}

/// A search that carriers share.
pub(super) struct Shared {
    searching: Mutex<Searching>,
    /// A run has been told of.
    told: Condvar,
}

impl Shared {
    /// For so many workers, and runs with these numbers; whether somebody hears of them meanwhile.
    pub(super) fn new(search: Box<dyn Searcher>, workers: usize, numbers: Range<u64>, aloud: bool) -> Shared {
        let searching = Searching {
            search: Some(search),
            runs: Vec::new(),
            over: false,
            numbers,
            under_way: vec![None; workers],
            given_back: Vec::new(),
            stop: false,
            several: workers > 1,
            // Runs that go on beside each other do not end in the order of their numbers.
            aloud: aloud && workers == 1,
            spent: Duration::ZERO,
        };
        Shared { searching: Mutex::new(searching), told: Condvar::new() }
    }

    /// A panic of ours while it was held is told by the carrier's end.
    pub(super) fn lock(&self) -> MutexGuard<'_, Searching> {
        self.searching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a worker is to run next; none if it shall not go on now.
    pub(super) fn next(&self, worker: usize, begun: Instant) -> Option<Assignment> {
        self.next_of(self.lock(), worker, begun)
    }

    /// The same for whoever has the lock already: to take it twice in a run is to wait twice for memory.
    pub(super) fn next_of(
        &self,
        mut searching: MutexGuard<'_, Searching>,
        worker: usize,
        begun: Instant,
    ) -> Option<Assignment> {
        loop {
            if searching.stop {
                return None;
            }
            if let Some(back) = searching.given_back.pop() {
                let assignment = Assignment { several: false, ..back };
                searching.under_way[assignment.worker] = Some(assignment.number);
                return Some(assignment);
            }
            if searching.numbers.is_empty() {
                return None;
            }
            match searching.search.as_mut()?.next(worker) {
                Ask::Run(plan) => {
                    let number = searching.numbers.next()?;
                    let shared = searching.search.as_ref()?.shared_steps(worker);
                    searching.under_way[worker] = Some(number);
                    return Some(Assignment { worker, plan, number, several: searching.several, shared });
                }
                Ask::Wait => {
                    let left = CHUNK_TIME.saturating_sub(begun.elapsed());
                    if left.is_zero() {
                        return None;
                    }
                    let wait = self.told.wait_timeout(searching, left);
                    searching = wait.unwrap_or_else(PoisonError::into_inner).0;
                }
                Ask::Over => {
                    searching.over = true;
                    searching.stop = true;
                    return None;
                }
            }
        }
    }

    /// What came of a worker's run, unless it was given up as hanging meanwhile, or nothing may be told of it any more; whether it is time
    /// to tell others.
    pub(super) fn learn(
        &self,
        (worker, plan): (usize, &Plan),
        (digest, trace): (&Digest, &Trace),
        due: bool,
        given_up: &AtomicBool,
    ) -> Learned<'_> {
        let mut searching = self.lock();
        if given_up.load(Ordering::Relaxed) {
            return Learned::Stop;
        }
        let look = searching.learn(worker, plan, digest, trace);
        let most = if searching.aloud { TOLD_RUNS } else { SEARCHED_RUNS };
        let due = due || searching.runs.len() >= most;
        searching.stop |= look || due && !searching.aloud;
        if searching.several {
            self.told.notify_all();
        }
        match searching.stop {
            true => Learned::Stop,
            false if due => {
                Learned::Tell(core::mem::replace(&mut searching.runs, Vec::with_capacity(TOLD_RUNS)))
            }
            false => Learned::GoOn(searching),
        }
    }

    /// Nothing more is to be begun.
    pub(super) fn stop(&self) {
        self.lock().stop = true;
    }

    /// A worker's run met objects of another.
    pub(super) fn give_back(&self, assignment: Assignment) {
        let mut searching = self.lock();
        // Unless it was given up as hanging meanwhile.
        let number = assignment.number;
        if searching.under_way[assignment.worker].take_if(|run| *run == number).is_some() {
            searching.given_back.push(assignment);
        }
        searching.stop = true;
        self.told.notify_all();
    }
}

impl Searching {
    /// Whether there is something to look at.
    // Part of its callers, so that what is told is put together where it stays.
    #[inline(always)]
    fn learn(&mut self, worker: usize, plan: &Plan, digest: &Digest, trace: &Trace) -> bool {
        self.under_way[worker] = None;
        if let Some(search) = &mut self.search {
            search.learn(worker, plan, digest, trace);
        }
        let run = SearchRun::new(plan, digest, trace);
        let look = run.again.is_some();
        self.runs.push(run);
        look
    }

    /// A carrier hangs; what its run was is told as `digest` says. False if it has none.
    pub(super) fn hangs(&mut self, carrier: usize, digest: impl FnOnce(&Plan, u64) -> Digest) -> bool {
        // One that is alone may do the runs of others.
        let alone = || self.under_way.iter().position(Option::is_some);
        let Some(worker) = (if self.several { Some(carrier) } else { alone() }) else { return false };
        let (Some(number), Some(search)) = (self.under_way[worker].take(), &self.search) else {
            return false;
        };
        let plan = search.asked(worker);
        let digest = digest(&plan, number);
        self.learn(worker, &plan, &digest, &Trace::default());
        true
    }

    /// Whether nothing is left to be run.
    pub(super) fn is_over(&self) -> bool {
        self.over && self.given_back.is_empty()
    }

    /// Whether some runs must be done one after the other. If so that can begin.
    pub(super) fn goes_on_alone(&mut self) -> bool {
        self.stop = false;
        self.several = false;
        !self.given_back.is_empty()
    }

    /// What came of all, in the order in which the runs were begun.
    pub(super) fn take(&mut self) -> Option<Searched> {
        let search = self.search.take()?;
        let mut runs = core::mem::take(&mut self.runs);
        runs.sort_by_key(|run| run.told.run());
        Some(Searched { search, runs, over: self.over, spent: self.spent })
    }
}
