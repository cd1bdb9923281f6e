//! What a carrier tells of a run. Most runs of a batch finish and teach nothing, which takes a few numbers; a whole [`Digest`]
//! is put together from them where the runs are counted, in the memory of the one before.

use raddle_explore::target::{Digest, Learned};
use raddle_model::Verdict;

/// One run of a batch.
#[derive(Debug)]
pub(super) enum Told {
    /// It has finished, and there is nothing more to say of it.
    Brief(Brief),
    /// Anything else.
    Whole(Box<Digest>),
}

/// A run that has finished and has taught nothing but whether it had weak orders.
#[derive(Debug)]
pub(super) struct Brief {
    pub(super) run: u64,
    pub(super) seed: u64,
    pub(super) fingerprint: u128,
    pub(super) steps: u64,
    pub(super) decisions: u64,
    pub(super) tasks: u32,
    pub(super) weak_orders: bool,
}

impl Told {
    /// Whether it has failed.
    pub(super) fn fails(&self) -> bool {
        matches!(self, Told::Whole(digest) if matches!(digest.verdict, Verdict::Failed(_)))
    }
}

impl Brief {
    /// What all digests of such runs have in common.
    pub(super) const BLANK: Digest = Digest {
        run: 0,
        seed: 0,
        verdict: Verdict::Finished,
        fingerprint: 0,
        steps: 0,
        accesses: 0,
        decisions: 0,
        tasks: 0,
        learned: Learned {
            releases: false,
            weak_orders: false,
            races: Vec::new(),
            shared: Vec::new(),
            cycles: Vec::new(),
            pairs: Vec::new(),
        },
    };

    /// Makes a digest of another such run, or [`Brief::BLANK`], that of this one.
    pub(super) fn write(&self, digest: &mut Digest) {
        let &Brief { run, seed, fingerprint, steps, decisions, tasks, weak_orders } = self;
        digest.run = run;
        digest.seed = seed;
        digest.fingerprint = fingerprint;
        digest.steps = steps;
        digest.decisions = decisions;
        digest.tasks = tasks;
        digest.learned.weak_orders = weak_orders;
    }
}
