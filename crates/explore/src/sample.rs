//! The explorer of all strategies that sample: the same plan with ever new seeds, and between
//! batches what was learned goes into the plan.
//!
//! Every strategy learns where to switch (DESIGN §8): the sites of a race and, once a try or timed
//! operation on a lock was seen, releases become scheduling points of all later plans; the batch in
//! which that is learned ends there. `pct` learns how long runs are, `walks` who contends for what,
//! `coverage` what was covered; they do so from recorded runs, one before each batch. Batches grow,
//! so that learning happens early and costs little later.
//!
//! Where recorded runs differ in who contends for what, `walks` has two batches after each: one goes by all that
//! the last one has shown, one by what they all have. The first finds more where a task takes many steps that others can
//! come between; the second comes to more partial orders, since nobody waits for what may not come.

use crate::explorer::{Batch, Explorer, plan_of_run};
use crate::target::{Digest, Flow, Run};
use raddle_model::plan::Weights;
use raddle_model::{Plan, SiteId, Tail};
use raddle_policy::common::Common;
use raddle_policy::coverage::switches;
use raddle_policy::{Strategy, weights};

/// Most runs in a batch.
pub const BATCH_MAX: u64 = 4096;

/// The same for strategies that learn nothing between batches, or only how long runs are, which takes few recorded runs: each
/// batch costs the target something.
const LONG_BATCH_MAX: u64 = 1 << 16;

/// `coverage` records every run until so many in a row have covered nothing new.
const STALE_MAX: u32 = 8;

/// Samples by one strategy.
#[derive(Clone, Debug)]
pub struct Sample {
    strategy: Strategy,
    plan: Plan,
    // Number of the next run.
    next: u64,
    size: u64,
    // Whether the next batch is a recorded run.
    probe: bool,
    // Recorded runs in a row that brought nothing new.
    stale: u32,
    // Whether points were added since the last recorded run.
    grown: bool,
    // Most scheduling points of a recorded run.
    longest: u64,
    // What all recorded runs have shown since points were added.
    common: Common,
    // The same of the last one, if that has shown more: the second half of what is sampled after it goes by this.
    certain: Option<Weights>,
}

impl Sample {
    /// Samples by `strategy`, under the conditions of `plan` and beginning with its seed and points.
    /// The plan's prefix and tail do not matter.
    pub fn new(strategy: Strategy, plan: Plan) -> Sample {
        let plan = Plan { prefix: Default::default(), tail: strategy.tail(), ..plan };
        Sample {
            strategy,
            plan,
            next: 0,
            size: 1,
            probe: true,
            stale: 0,
            grown: false,
            longest: 0,
            common: Common::default(),
            certain: None,
        }
    }

    /// The plan of the next batch, with everything that was learned.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    fn probes(&self) -> bool {
        matches!(self.strategy, Strategy::Pct { length: None, .. } | Strategy::Walks | Strategy::Coverage)
    }

    /// Sites that must be points from now on. Returns whether any is new.
    fn add_points(&mut self, sites: impl IntoIterator<Item = SiteId>) -> bool {
        let accesses = &mut self.plan.points.accesses;
        let before = accesses.len();
        for site in sites {
            if let Err(at) = accesses.binary_search(&site) {
                accesses.insert(at, site);
            }
        }
        accesses.len() > before
    }
}

impl Explorer for Sample {
    fn next(&mut self) -> Option<Batch> {
        if self.probe && self.probes() {
            self.probe = self.strategy == Strategy::Coverage && self.stale < STALE_MAX;
            return Some(Batch::Record { plan: plan_of_run(&self.plan, self.next), run: self.next });
        }
        let runs = self.next..self.next + self.size;
        let plan = self.plan.clone();
        if let Some(certain) = self.certain.take() {
            self.plan.tail = Tail::Walks(certain);
        } else {
            self.probe = true;
            // 1, 1, 2, 4, …
            let goes_by_runs = matches!(self.strategy, Strategy::Walks | Strategy::Coverage);
            let most = if goes_by_runs { BATCH_MAX } else { LONG_BATCH_MAX };
            self.size = if self.next == 0 { 1 } else { (self.size * 2).min(most) };
        }
        Some(Batch::Sample { plan, runs })
    }

    fn learn(&mut self, digest: &Digest) -> Flow {
        self.next = self.next.max(digest.run + 1);
        let releases = digest.learned.releases;
        // As most runs.
        if !releases && digest.contested().next().is_none() {
            return Flow::Continue;
        }
        let mut new = false;
        if releases && !self.plan.points.releases {
            self.plan.points.releases = true;
            new = true;
        }
        if !self.plan.points.all_accesses {
            new |= self.add_points(digest.contested());
        }
        if new {
            self.grown = true;
            // What was learned is of other points.
            self.certain = None;
            self.probe = true;
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn learn_run(&mut self, plan: &Plan, run: &Run) {
        if let Tail::Coverage(covered) = &mut self.plan.tail {
            let mut new = false;
            for (from, to) in switches(&run.trace, &plan.points) {
                new |= covered.insert(from, to);
            }
            self.stale = if new { 0 } else { self.stale + 1 };
            self.probe = self.stale < STALE_MAX;
        }
        if !matches!(self.plan.tail, Tail::Walks(_) | Tail::Pct { .. }) {
            return;
        }
        let learned = weights::learn(&run.trace, &plan.points);
        match &mut self.plan.tail {
            Tail::Walks(weights) => {
                if core::mem::take(&mut self.grown) {
                    self.common.clear();
                }
                let certain = self.common.keep(&learned);
                self.certain = (certain != learned).then_some(certain);
                *weights = learned;
            }
            Tail::Pct { length, .. } => {
                self.longest = self.longest.max(learned.length);
                *length = self.longest.max(1);
            }
            _ => {}
        }
    }
}
