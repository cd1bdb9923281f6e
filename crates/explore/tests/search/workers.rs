//! Several workers on one search: whoever asks and whoever finishes when, together they run what one runs alone.

use crate::bounded::key;
use crate::classes::classes;
use crate::common::{Explored, for_programs, listing, search};
use raddle_explore::target::{Ask, Run, Target};
use raddle_explore::{Batch, Dfs, Dpor, Exhausted, Explorer, Odpor, Pcb, Search, Systematic};
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

/// Whether each class has one run; of those that were not cut, unless all must be `whole`.
pub(crate) fn each_class_once(
    found: &[Explored],
    expected: &BTreeSet<u128>,
    whole: bool,
) -> Result<(), String> {
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
                each_class_once(&found, &expected, true)
                    .map_err(|why| format!("{workers} workers: {why}"))?;
                if exhausted == Exhausted::No && !runs.iter().any(|run| run.trace.log.reached.cut) {
                    return Err(String::from("odpor does not know that it is done"));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn workers_of_dpor_reach_every_partial_order() {
    let mut rng = Rng::new(8);
    for_programs(24, raddle_tiers::size("search_programs"), |program, plan, runs| {
        let expected = classes(runs);
        for workers in [2, 4] {
            let most = 2 * runs.len() + 1;
            let (found, _) = search_together(program, plan, Dpor::new(), workers, &mut rng, most);
            each_class_once(&found, &expected, false).map_err(|why| format!("{workers} workers: {why}"))?;
        }
        Ok(())
    });
}

#[test]
fn workers_of_dfs_and_pcb_run_what_one_runs() {
    let mut rng = Rng::new(9);
    let keys = |runs: &[Explored]| {
        let mut keys: Vec<_> = runs.iter().map(|run| key(&run.trace.schedule.decisions)).collect();
        keys.sort_unstable();
        keys
    };
    for_programs(25, raddle_tiers::size("search_interleavings"), |program, plan, runs| {
        let most = 10 * runs.len() + 1;
        let workers = 2 + rng.below(4) as usize;
        {
            let (alone, _) = search(program, plan, Dfs::new(), most);
            let (together, exhausted) = search_together(program, plan, Dfs::new(), workers, &mut rng, most);
            let shuffled = Dfs::shuffled(3);
            let (random, _) = search_together(program, plan, shuffled, workers, &mut rng, most);
            if keys(&alone) != keys(&together) || keys(&alone) != keys(&random) {
                return Err(format!("{workers} workers of dfs make other runs than one"));
            }
            if exhausted == Exhausted::No && !runs.iter().any(|run| run.trace.log.reached.cut) {
                return Err(String::from("dfs does not know that it is done"));
            }
            for bound in [Some(1), None] {
                let (alone, one) = search(program, plan, Pcb::new(bound), most);
                let (together, several) =
                    search_together(program, plan, Pcb::new(bound), workers, &mut rng, most);
                if (keys(&alone), one) != (keys(&together), several) {
                    return Err(format!("{workers} workers of pcb make other runs than one"));
                }
            }
        }
        Ok(())
    });
}
