//! What the explorer of the samplers puts into later plans.

use crate::programs::{fig1, store};
use raddle_explore::target::{Flow, RaceFound, Target};
use raddle_explore::{Batch, Explorer, Limits, Sample, campaign};
use raddle_model::{Plan, SiteId, Tail};
use raddle_policy::{Strategy, parse};
use raddle_toy::Instr::{JumpUnless, Load, Lock, Unlock};
use raddle_toy::{How, Object, Program, ToyTarget, status};

fn after(program: Program, strategy: Strategy, runs: u64) -> Sample {
    let mut explorer = Sample::new(strategy, Plan::new(3, Tail::Random));
    let limits = Limits { runs, stop_after: 0, races: true };
    let mut target = ToyTarget::new(program);
    campaign::run(&mut target, &mut explorer, &limits, &mut || false, &mut |_| {}).unwrap();
    explorer
}

#[test]
fn batches_grow_and_cover_all_runs_once() {
    let mut explorer = Sample::new(Strategy::Rapos, Plan::new(3, Tail::Random));
    let mut target = ToyTarget::new(fig1());
    let (mut next, mut sizes) = (0, Vec::new());
    for _ in 0..6 {
        let Some(Batch::Sample { plan, runs }) = explorer.next() else { panic!("a batch of samples") };
        assert_eq!(runs.start, next);
        next = runs.end;
        sizes.push(runs.end - runs.start);
        struct To<'a>(&'a mut Sample);
        impl raddle_explore::target::Sink for To<'_> {
            fn run(&mut self, digest: &raddle_explore::target::Digest) -> Flow {
                self.0.learn(digest)
            }
        }
        target.sample(&plan, runs, &mut To(&mut explorer)).unwrap();
    }
    assert_eq!(sizes, [1, 1, 2, 4, 8, 16]);
}

/// A lock that is tried: from then on releases are points, and the try can fail.
#[test]
fn a_try_makes_releases_points() {
    let tries = vec![Lock(0, How::Try, 0), JumpUnless(0, status::DONE, 3), Unlock(0)];
    let program = Program::flat(vec![Object::Mutex], vec![vec![Lock(0, How::Block, 0), Unlock(0)], tries]);
    let explorer = after(program, Strategy::Random, 10);
    assert!(explorer.plan().points.releases);
    assert!(!after(fig1(), Strategy::Random, 10).plan().points.releases);
}

#[test]
fn racy_sites_become_points_and_end_the_batch() {
    let mut explorer = Sample::new(Strategy::Random, Plan::new(3, Tail::Random));
    let mut digest = ToyTarget::new(fig1()).run(&Plan::new(3, Tail::Random)).unwrap().digest;
    assert_eq!(explorer.learn(&digest), Flow::Continue);
    let race = RaceFound { sites: [SiteId(9), SiteId(2)], message: String::new() };
    digest.learned.races.push(race);
    assert_eq!(explorer.learn(&digest), Flow::Stop);
    assert_eq!(explorer.plan().points.accesses, [SiteId(2), SiteId(9)]);
    assert_eq!(explorer.learn(&digest), Flow::Continue, "known already");
}

#[test]
fn pct_learns_the_length_unless_it_is_given() {
    // Four stores, a load, two exits, two joins and the end; a failing run has a few less.
    let Tail::Pct { depth, length } = after(fig1(), parse("pct:depth=2").unwrap(), 200).plan().tail else {
        panic!("pct stays pct")
    };
    assert_eq!((depth, length), (2, 10));
    let given = after(fig1(), parse("pct:length=77").unwrap(), 200);
    assert_eq!(given.plan().tail, Tail::Pct { depth: 3, length: 77 });
}

#[test]
fn walks_learn_who_contends() {
    let Tail::Walks(weights) = after(fig1(), Strategy::Walks, 20).plan().tail.clone() else {
        panic!("walks stay walks")
    };
    let accesses: Vec<usize> = weights.tasks.iter().map(|task| task.accesses.len()).collect();
    assert_eq!(accesses, [1, 1], "x is contended, y is not");
}

/// The second task comes to y only if it finds that x was written: some runs have that, and some do not.
#[test]
fn walks_go_by_the_last_run_and_by_what_all_runs_have_shown() {
    let first = vec![store(0, 1), store(1, 1)];
    let second = vec![Load(0, 0), JumpUnless(0, 1, 4), store(1, 2), store(1, 3)];
    let program = Program::flat(vec![Object::Atomic(0); 2], vec![first, second]);
    let mut explorer = Sample::new(Strategy::Walks, Plan::new(3, Tail::Random));
    let mut target = ToyTarget::new(program);
    // For each recorded run: how many accesses its batches go by, and how long they are.
    let mut learned: Vec<Vec<(usize, u64)>> = Vec::new();
    let mut next = 0;
    while next < 200 {
        match explorer.next().expect("samplers do not end") {
            Batch::Sample { plan, runs } => {
                assert_eq!(runs.start, next, "no run is left out or done twice");
                next = runs.end;
                let Tail::Walks(weights) = &plan.tail else { panic!("walks stay walks") };
                let accesses = weights.tasks.iter().map(|task| task.accesses.len()).sum();
                learned.last_mut().expect("a run is recorded first").push((accesses, runs.end - runs.start));
                let mut digest = target.run(&plan).unwrap().digest;
                digest.run = runs.end - 1;
                explorer.learn(&digest);
            }
            Batch::Record { plan, run } => {
                assert_eq!(run, next);
                next += 1;
                let mut recorded = target.run(&plan).unwrap();
                recorded.digest.run = run;
                explorer.learn(&recorded.digest);
                explorer.learn_run(&plan, &recorded);
                learned.push(Vec::new());
            }
            Batch::Search(_) => panic!("samplers do not search"),
        }
    }
    let (one, two): (Vec<_>, Vec<_>) = learned.into_iter().partition(|batches| batches.len() == 1);
    // As long as all runs have shown the same, and where the last one has shown no more than all have.
    let alone: Vec<usize> = one.iter().flatten().map(|&(accesses, _)| accesses).collect();
    assert!(alone.is_sorted_by(|a, b| a >= b) && alone.last() == Some(&2), "{one:?}");
    assert!(!two.is_empty(), "{one:?}");
    for batches in two {
        let [(last, size), (certain, as_many)] = batches[..] else { panic!("{batches:?}") };
        assert_eq!(size, as_many);
        assert_eq!((last, certain), (5, 2), "x twice, y three times");
    }
}

#[test]
fn coverage_accumulates() {
    let program = || {
        let body = vec![store(0, 1), Load(1, 0), store(1, 1), Load(0, 0)];
        Program::flat(vec![Object::Atomic(0); 2], vec![body.clone(), body])
    };
    let pairs = |runs| match &after(program(), Strategy::Coverage, runs).plan().tail {
        Tail::Coverage(covered) => covered.pairs.len(),
        other => panic!("{other:?}"),
    };
    let (one, few, many) = (pairs(1), pairs(10), pairs(200));
    assert!(0 < one && one < few && few <= many, "{one}, {few}, {many}");
}
