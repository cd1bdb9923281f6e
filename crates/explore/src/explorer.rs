//! Who decides between runs. An explorer says what to run next and learns from what comes back;
//! it never runs anything itself ([`crate::campaign`] does), so it is a plain state machine.
//!
//! Samplers ask for ranges of runs under one plan, of which digests come back. Systematic explorers
//! ask for one run at a time, and learn from its trace.

use crate::target::{Digest, Flow, Run};
use core::ops::Range;
use raddle_model::{Plan, Rng};

/// What to run next.
#[derive(Clone, PartialEq, Debug)]
pub enum Batch {
    /// These runs of the campaign: run `i` has the plan with the seed
    /// [`Rng::seed_of_run`]`(plan.seed, i)`. May end early, at a limit or where the explorer says so.
    Sample {
        /// What they have in common.
        plan: Plan,
        /// Their numbers. Never empty.
        runs: Range<u64>,
    },
    /// One run, recorded in full, under exactly this plan.
    Record {
        /// The plan.
        plan: Plan,
        /// Its number.
        run: u64,
    },
}

/// The plan of one run of a batch of samples.
pub fn plan_of_run(plan: &Plan, run: u64) -> Plan {
    Plan { seed: Rng::seed_of_run(plan.seed, run), ..plan.clone() }
}

/// Whether everything was run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Exhausted {
    /// No, or nobody can tell.
    #[default]
    No,
    /// Every partial order was.
    Yes,
    /// Every partial order within a bound was: which one.
    Within(String),
}

/// Who decides between runs.
pub trait Explorer {
    /// What to run next; `None` if there is nothing left.
    fn next(&mut self) -> Option<Batch>;

    /// A run of a batch has ended. Says whether the rest of the batch is still wanted.
    fn learn(&mut self, digest: &Digest) -> Flow;

    /// A recorded run has ended, in addition to [`Explorer::learn`] with its digest.
    fn learn_run(&mut self, plan: &Plan, run: &Run);

    /// Whether everything was run, once [`Explorer::next`] has given `None`.
    fn exhausted(&self) -> Exhausted {
        Exhausted::No
    }
}
