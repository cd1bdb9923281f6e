//! Who decides between runs. An explorer says what to run next and learns from what comes back;
//! it never runs anything itself ([`crate::campaign`] does), so it is a plain state machine.
//!
//! Samplers ask for ranges of runs under one plan, of which digests come back. Systematic explorers
//! give themselves away to where the runs happen: there each run follows from the one before.

use crate::hapset::{self, Known};
use crate::journal::JournalError;
use crate::outlook::Outlook;
use crate::target::{Digest, Flow, Run, Searcher, Target};
use crate::{Dfs, Dpor, Odpor, Pcb, Sample, Systematic};
use core::ops::Range;
use raddle_model::{Plan, Rng};
use raddle_policy::Strategy;
use raddle_wire::JournalHeader;
use std::path::Path;

/// What to run next.
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
    /// As many runs as this one asks for. It must be given back: [`Explorer::take_back`].
    Search(Box<dyn Searcher>),
}

/// The explorer of a strategy, under the conditions of `plan` and beginning with its seed and points.
pub fn explorer(strategy: Strategy, plan: Plan) -> Box<dyn Explorer> {
    match strategy {
        Strategy::Dfs => Box::new(Systematic::new(Dfs::new(), plan)),
        Strategy::RandomDfs => Box::new(Systematic::new(Dfs::shuffled(plan.seed), plan)),
        Strategy::Pcb { bound } => Box::new(Systematic::new(Pcb::new(bound), plan)),
        Strategy::Dpor => Box::new(Systematic::new(Dpor::new(), plan)),
        Strategy::Odpor => Box::new(Systematic::new(Odpor::new(), plan)),
        Strategy::Hapset { training, bound } => {
            Box::new(hapset::explorer(training, bound, Known::default(), plan))
        }
        sampler => Box::new(Sample::new(sampler, plan)),
    }
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

    /// Keeps a journal from now on, and goes on where that one was left if there is one. Number of the runs up to
    /// there.
    ///
    /// # Errors
    /// If the strategy has no journal, or this one does not fit what is asked for or the program.
    fn keep(
        &mut self,
        path: &Path,
        header: JournalHeader,
        target: &mut dyn Target,
    ) -> Result<u64, JournalError> {
        let _ = (path, header, target);
        Err(JournalError(String::from("only a systematic search keeps a journal: this strategy samples")))
    }

    /// What went wrong with the journal, if anything did.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// What was given away comes back.
    fn take_back(&mut self, search: Box<dyn Searcher>) {
        drop(search);
    }

    /// How much is left, if it can tell.
    fn outlook(&self) -> Option<Outlook> {
        None
    }

    /// Whether [`Explorer::next`] would give `None`, for one that is not asked any more.
    fn has_nothing_left(&mut self) -> bool {
        false
    }

    /// Whether everything was run, once [`Explorer::next`] has given `None`.
    fn exhausted(&self) -> Exhausted {
        Exhausted::No
    }
}
