//! What is told of a run where there are many. Most runs finish and teach nothing, which takes a few numbers; a whole [`Digest`]
//! is put together from them where the runs are counted, in the memory of the one before.

use crate::target::{Digest, Learned};
use alloc::boxed::Box;
use alloc::vec::Vec;
use raddle_model::Verdict;

/// One run.
#[derive(Clone, PartialEq, Debug)]
pub enum Told {
    /// It has finished, and there is nothing more to say of it.
    Brief(Brief),
    /// Anything else.
    Whole(Box<Digest>),
}

/// A run that has finished and has taught nothing but whether it had weak orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Brief {
    /// Number of the run within the campaign.
    pub run: u64,
    /// The seed it had.
    pub seed: u64,
    /// Its partial order.
    pub fingerprint: u128,
    /// Number of events.
    pub steps: u64,
    /// Number of decisions.
    pub decisions: u64,
    /// Number of tasks there were.
    pub tasks: u32,
    /// Whether an atomic weaker than sequentially consistent was executed.
    pub weak_orders: bool,
}

impl Told {
    /// As short as it can be told.
    #[inline]
    pub fn new(digest: &Digest) -> Told {
        match Brief::of(digest) {
            Some(brief) => Told::Brief(brief),
            None => Told::whole(digest),
        }
    }

    #[cold]
    fn whole(digest: &Digest) -> Told {
        Told::Whole(Box::new(digest.clone()))
    }

    /// Number of the run within the campaign.
    pub fn run(&self) -> u64 {
        match self {
            Told::Brief(brief) => brief.run,
            Told::Whole(digest) => digest.run,
        }
    }

    /// All that there is to say of it. `blank` is [`Brief::BLANK`], or was given here before.
    #[inline]
    pub fn read<'a>(&'a self, blank: &'a mut Digest) -> &'a Digest {
        match self {
            Told::Brief(brief) => {
                brief.write(blank);
                blank
            }
            Told::Whole(digest) => digest,
        }
    }

    /// Whether it has failed.
    pub fn fails(&self) -> bool {
        matches!(self, Told::Whole(digest) if matches!(digest.verdict, Verdict::Failed(_)))
    }
}

impl Brief {
    /// What all digests of such runs have in common.
    pub const BLANK: Digest = Digest {
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

    /// What is to be said of a run, if that is all.
    #[inline]
    fn of(digest: &Digest) -> Option<Brief> {
        // Whatever a digest may get besides is to be thought of here.
        let &Digest { run, seed, ref verdict, fingerprint, steps, accesses, decisions, tasks, ref learned } =
            digest;
        let Learned { releases, weak_orders, races, shared, cycles, pairs } = learned;
        let taught =
            *releases || !(races.is_empty() && shared.is_empty() && cycles.is_empty() && pairs.is_empty());
        let finished = matches!(verdict, Verdict::Finished);
        let brief = Brief { run, seed, fingerprint, steps, decisions, tasks, weak_orders: *weak_orders };
        (finished && accesses == 0 && !taught).then_some(brief)
    }

    /// Makes a digest of another such run, or [`Brief::BLANK`], that of this one.
    fn write(&self, digest: &mut Digest) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_model::SiteId;

    /// Nothing that is said of a run is lost, and what is said of one is not said of the next.
    #[test]
    fn what_is_told_is_what_there_was() {
        let finished = Digest {
            run: 1,
            seed: 2,
            fingerprint: 3,
            steps: 4,
            decisions: 5,
            tasks: 6,
            learned: Learned { weak_orders: true, ..Learned::default() },
            ..Brief::BLANK
        };
        let taught = |learned: Learned| Digest { learned, ..finished.clone() };
        let digests = [
            Brief::BLANK,
            finished.clone(),
            Digest { run: 7, learned: Learned::default(), ..finished.clone() },
            Digest { verdict: Verdict::Cut, ..finished.clone() },
            Digest { accesses: 1, ..finished.clone() },
            taught(Learned { releases: true, ..Learned::default() }),
            taught(Learned { shared: alloc::vec![SiteId(1)], ..Learned::default() }),
            finished.clone(),
        ];
        let mut blank = Brief::BLANK;
        for (number, digest) in digests.iter().enumerate() {
            let told = Told::new(digest);
            assert_eq!(matches!(told, Told::Brief(_)), !(3..7).contains(&number));
            assert_eq!((told.read(&mut blank), told.run(), told.fails()), (digest, digest.run, false));
        }
    }
}
