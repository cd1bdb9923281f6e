//! Several workers on one search: whoever asks and whoever finishes when, together they run what one runs alone.

use crate::classes::classes;
use crate::common::{Explored, for_programs, listing};
use raddle_explore::target::{Ask, Run, Target};
use raddle_explore::{Batch, Exhausted, Explorer, Odpor, Search, Systematic};
use raddle_model::{Dice, Plan, Rng, Verdict};
use raddle_toy::{Program, ToyTarget};
use std::collections::BTreeSet;
use std::sync::Arc;

/// All runs of a search by so many workers that ask and finish in a random order, and whether it is exhausted.
pub(crate) fn search_together(
    program: &Program,
    plan: &Plan,
    search: impl Search,
    workers: usize,
    rng: &mut Rng,
    runs_max: usize,
) -> (Vec<Explored>, Exhausted) {
    let mut explorer = Systematic::new(search, plan.clone()).with_timeouts_max(u32::MAX);
    let mut target = ToyTarget::new(program.clone());
    let Some(Batch::Search(mut searcher)) = explorer.next() else { panic!("a search gives itself away") };
    assert!(searcher.shares());
    let mut under_way: Vec<Option<(Arc<Plan>, Run)>> = vec![None; workers];
    let mut runs = Vec::new();
    loop {
        let worker = rng.below(workers as u32) as usize;
        if let Some((plan, run)) = under_way[worker].take() {
            searcher.learn(worker, &plan, &run.digest, &run.trace);
            runs.push(Explored { digest: run.digest, trace: run.trace });
            assert!(runs.len() <= runs_max, "the search does not end\n{}", listing(program));
            continue;
        }
        match searcher.next(worker) {
            Ask::Run(plan) => {
                let run = target.run(&plan).expect("toys run");
                under_way[worker] = Some((plan, run));
            }
            Ask::Wait => {
                assert!(under_way.iter().any(Option::is_some), "all wait\n{}", listing(program));
            }
            Ask::Over => {
                assert!(under_way.iter().all(Option::is_none), "not over\n{}", listing(program));
                break;
            }
        }
    }
    explorer.take_back(searcher);
    (runs, explorer.exhausted())
}

fn each_class_once(found: &[Explored], expected: &BTreeSet<u128>, whole: bool) -> Result<(), String> {
    let complete = found.iter().filter(|run| whole || run.digest.verdict != Verdict::Cut);
    let mut reached: Vec<u128> = complete.map(|run| run.digest.fingerprint).collect();
    reached.sort_unstable();
    if !reached.iter().eq(expected) {
        let set: BTreeSet<u128> = reached.iter().copied().collect();
        return Err(format!(
            "{} classes, {} runs of {} classes, {} of them known",
            expected.len(),
            reached.len(),
            set.len(),
            set.intersection(expected).count(),
        ));
    }
    if whole && found.iter().any(|run| matches!(run.digest.verdict, Verdict::Cut | Verdict::Diverged(_))) {
        return Err(String::from("a run was cut short"));
    }
    Ok(())
}

#[test]
fn workers_of_odpor_run_every_partial_order_once() {
    let mut rng = Rng::new(7);
    for_programs(23, raddle_tiers::size("search_programs"), |program, plan, runs| {
        let expected = classes(runs);
        for workers in [2, 3, 5] {
            for _ in 0..raddle_tiers::size("search_orders") {
                let most = 2 * runs.len() + 1;
                let (found, exhausted) =
                    search_together(program, plan, Odpor::new(), workers, &mut rng, most);
                each_class_once(&found, &expected, true).map_err(|why| format!("{workers} workers: {why}"))?;
                if exhausted == Exhausted::No && !runs.iter().any(|run| run.trace.log.reached.cut) {
                    return Err(String::from("odpor does not know that it is done"));
                }
            }
        }
        Ok(())
    });
}

#[test]
#[ignore]
fn debug_262() {
    use raddle_toy::Instr::*;
    use raddle_toy::{Object, Val};
    let one = Val::Const(1);
    let program = Program {
        objects: vec![Object::Atomic(0), Object::Atomic(0), Object::Once],
        tasks: vec![
            vec![Spawn(1), Spawn(2), Add(0, one, 0), Join(1), Join(2)],
            vec![OnceGet(2, 0), OnceEnter(2, 0), JumpUnless(0, 0, 5), Store(1, one), OnceDone(2, true)],
            vec![
                OnceEnter(2, 0),
                JumpUnless(0, 0, 4),
                Store(1, one),
                OnceDone(2, true),
                Store(0, Val::Const(2)),
                OnceEnter(2, 0),
                JumpUnless(0, 0, 9),
                Store(1, one),
                OnceDone(2, true),
            ],
        ],
    };
    for plan in crate::common::conditions() {
        let runs = raddle_toy::enumerate(&program, &plan, 100_000).unwrap();
        let expected = classes(&runs);
        println!("{} classes", expected.len());
        for workers in 2..6 {
            let mut bad = 0;
            let mut first = None;
            for seed in 0..3000 {
                let (found, _) = search_together(&program, &plan, Odpor::new(), workers, &mut Rng::new(seed), 1000);
                if each_class_once(&found, &expected, true).is_err() {
                    bad += 1;
                    first.get_or_insert(seed);
                }
            }
            println!("{workers} workers: {bad} bad, first {first:?}");
        }
    }
}
