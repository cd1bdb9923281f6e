//! `hapset`: systematic search guided by history-aware predecessor sets (Wang, Said and Gupta, "Coverage Guided
//! Systematic Concurrency Testing", ICSE 2011, algorithms 1, 4 and 5). Orders of statements that were seen in a
//! run that ended well are not tried again. That is not complete, and it is not meant to be: it gets to what
//! was never tested while a complete search still shuffles what was.
//!
//! Training runs, if there are any, are random (algorithm 1); then [`Guided`] searches, and learns from each of
//! its runs (algorithm 5).

mod guided;
mod known;

pub use guided::{Guided, Under};
pub use known::Known;

use crate::explorer::{Batch, Exhausted, Explorer, plan_of_run};
use crate::systematic::Systematic;
use crate::target::{Digest, Flow, Run};
use raddle_model::{HapSets, Plan, Tail, Verdict};

/// The explorer.
#[derive(Debug)]
pub struct Hapset {
    search: Systematic<Guided>,
    /// Of the training runs.
    plan: Plan,
    training: u64,
    trained: u64,
}

impl Hapset {
    /// Searches under the conditions of `plan`, after so many training runs.
    pub fn new(guided: Guided, plan: Plan, training: u64) -> Hapset {
        let training_plan = Plan { prefix: Default::default(), tail: Tail::Random, ..plan.clone() };
        Hapset { search: Systematic::new(guided, plan), plan: training_plan, training, trained: 0 }
    }

    /// What is known so far.
    pub fn sets(&self) -> &HapSets {
        self.search.search().known().sets()
    }
}

impl Explorer for Hapset {
    fn next(&mut self) -> Option<Batch> {
        if self.trained < self.training {
            return Some(Batch::Record { plan: plan_of_run(&self.plan, self.trained), run: self.trained });
        }
        match self.search.next()? {
            Batch::Record { plan, run } => Some(Batch::Record { plan, run: run + self.training }),
            other => Some(other),
        }
    }

    fn learn(&mut self, digest: &Digest) -> Flow {
        self.search.learn(digest)
    }

    fn learn_run(&mut self, plan: &Plan, run: &Run) {
        if self.trained == self.training {
            return self.search.learn_run(plan, run);
        }
        self.trained += 1;
        if run.digest.verdict == Verdict::Finished {
            self.search.search_mut().known_mut().learn(&run.trace);
        }
    }

    fn exhausted(&self) -> Exhausted {
        self.search.exhausted()
    }
}
