//! `odpor`: optimal dynamic partial-order reduction after Abdulla, Aronis, Jonsson and Sagonas (POPL
//! 2014, JACM 2017): exactly one run of every partial order, and no run that is cut because all that
//! could go on is known.
//!
//! After each run, for every pair of steps that race, the sequence that reverses them is put together:
//! all steps after the first that do not depend on it, then the second. Unless a sleeping step covers
//! it, it goes into the wakeup tree of the state before the first. A branch of such a tree wakes all
//! who sleep, so that after its last step the run may go on as it likes.
//!
//! Deviations:
//! - Operations may wait. A pair of steps races if nothing leads from the first to the second but their
//!   own conflict, and if the second could be done without the first, by the world's own rules; what
//!   could not be reversed hides no earlier race. Operations that were still waiting at the end, or
//!   could have run, count too.
//! - Of the sequence only what leads to the second step, or to what wakes a sleeper, goes into the tree: the
//!   rest comes by itself, and trees stay small.
//! - A step has the values that it chose in its name. Every other value of a choice is a sequence of
//!   one step, added when the choice is first met.
//! - Objects that two runs came to know only after they parted have other ids in each. They are compared
//!   in one of the runs, if that has announced both operations; where none has, they are taken for one,
//!   which can repeat a partial order and never loses one. Such runs are counted.
//!
//! Several workers share one tree ([`tree`]); each knows its own last run ([`worker`]).

mod alphabet;
mod journal;
mod letter;
mod packed;
mod tree;
mod wakeup;
mod worker;

pub(crate) use letter::STABLE;

use crate::outlook::{Outlook, Sizes};
use crate::systematic::{Next, Request, Search};
use raddle_model::plan::Step;
use raddle_model::{Plan, Trace, Verdict};
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, State, Take};
use tree::{NodeId, ROOT, Tree};
use worker::Worker;

/// The search.
#[derive(Clone, Default, Debug)]
pub struct Odpor {
    tree: Tree,
    workers: Vec<Worker>,
    begun: bool,
    /// The ends of sequences whose runs were under way when the search was interrupted.
    again: Vec<NodeId>,
    /// Whose run was the last one.
    last: usize,
    runs: u64,
    redundant: u64,
}

impl Odpor {
    /// A search that has not begun.
    pub fn new() -> Odpor {
        Odpor::default()
    }

    /// Runs whose partial order was known.
    pub fn redundant(&self) -> u64 {
        self.redundant
    }

    /// Takes a sequence from where the worker has been, if there is one, and leaves what is done for good.
    fn go_on(&mut self, worker: usize, request: &mut Request) -> bool {
        let Odpor { tree, workers, .. } = self;
        let worker = &mut workers[worker];
        worker.settle(tree);
        let Some(&id) = worker.nodes.last().filter(|&&id| tree.offers(id)) else { return false };
        let number = worker.nodes.len() - 1;
        worker.sizes.end(number, worker.runs);
        worker.sizes.begin(number, worker.runs);
        worker.path.write_steps(number, &mut request.steps);
        worker.known = number;
        request.shared = number;
        tree.take(id, &mut request.steps, &mut worker.nodes);
        true
    }

    /// Takes a sequence from wherever there is one: what this worker has run is of no use there.
    fn go_elsewhere(&mut self, worker: usize, request: &mut Request) -> bool {
        // A worker of several takes what promises much work, one alone goes on where the search was.
        let deepest = self.workers.len() == 1;
        let Odpor { tree, workers, again, .. } = self;
        let worker = &mut workers[worker];
        worker.nodes.clear();
        worker.known = 0;
        if let Some(end) = again.pop() {
            tree.write_path(end, &mut request.steps, &mut worker.nodes);
        } else if let Some(id) = tree.find(deepest) {
            tree.write_path(id, &mut request.steps, &mut worker.nodes);
            tree.take(id, &mut request.steps, &mut worker.nodes);
        } else {
            return false;
        }
        for number in 0..worker.nodes.len() {
            worker.sizes.begin(number, worker.runs);
        }
        true
    }
}

impl Search for Odpor {
    fn next(&mut self, worker: usize, request: &mut Request) -> Next {
        if self.workers.len() <= worker {
            self.workers.resize(worker + 1, Worker::default());
        }
        if !self.begun {
            self.begun = true;
            self.tree.begin();
            self.workers[worker].nodes.push(ROOT);
            return Next::Run;
        }
        if self.go_on(worker, request) || self.go_elsewhere(worker, request) {
            return Next::Run;
        }
        // Those who have not asked again may have left nothing.
        for other in &mut self.workers {
            if other.holds {
                other.settle(&mut self.tree);
                other.nodes.clear();
            }
        }
        if self.tree.is_complete() { Next::Over } else { Next::Wait }
    }

    fn learn(&mut self, worker: usize, plan: &Plan, trace: &Trace, _: &Verdict) {
        self.runs += 1;
        self.last = worker;
        let worker = &mut self.workers[worker];
        let whole = worker.learn(&mut self.tree, self.runs, plan, trace);
        self.redundant += u64::from(!whole);
    }

    fn lose(&mut self, worker: usize) {
        self.workers[worker].lose(&mut self.tree);
    }

    fn save(&mut self, trace: &Trace, entry: &mut Entry, all: bool) -> Option<usize> {
        Some(journal::save(self, trace, entry, all))
    }

    fn load(&mut self, state: &State, rest: &mut Take<'_>) -> Result<Vec<Step>, Unpack> {
        journal::load(self, state, rest)
    }

    /// A search may be too large to be copied for this.
    fn is_over(&mut self) -> bool {
        self.workers.iter_mut().for_each(|worker| worker.settle(&mut self.tree));
        self.begun && self.again.is_empty() && self.tree.is_complete()
    }

    fn restart(&mut self) {
        *self = Odpor::default();
    }

    fn shares(&self) -> bool {
        true
    }

    fn goes_by_dependence(&self) -> bool {
        true
    }

    fn joins_sections(&self) -> bool {
        !self.workers.iter().any(|worker| worker.path.intrudes())
    }

    fn outlook(&self) -> Option<Outlook> {
        let mut sizes = Sizes::default();
        self.workers.iter().for_each(|worker| sizes.join(&worker.sizes));
        Some(sizes.outlook(self.tree.waiting().into_iter()))
    }
}
