//! `dpor` reaches every partial order and every final state that plain enumeration reaches.

use crate::common::{finals, for_programs, search};
use raddle_explore::{Dpor, Exhausted, Odpor};
use raddle_model::Verdict;
use raddle_toy::{Finals, ToyRun};
use std::collections::BTreeSet;

pub(crate) fn classes(runs: &[ToyRun]) -> BTreeSet<u128> {
    runs.iter().map(|run| run.fingerprint).collect()
}

#[test]
fn dpor_reaches_every_partial_order() {
    let (mut runs_total, mut classes_total) = (0, 0);
    for_programs(21, raddle_tiers::size("search_programs"), |program, plan, runs| {
        let expected = classes(runs);
        let (found, exhausted) = search(program, plan, Dpor::new(), runs.len() + 1);
        let whole = found.iter().filter(|run| run.digest.verdict != Verdict::Cut);
        let reached: BTreeSet<u128> = whole.clone().map(|run| run.digest.fingerprint).collect();
        runs_total += whole.clone().count();
        classes_total += expected.len();
        if reached != expected {
            return Err(format!(
                "{} classes, dpor reached {} of them and {} others",
                expected.len(),
                reached.intersection(&expected).count(),
                reached.difference(&expected).count()
            ));
        }
        let ends: BTreeSet<Finals> = runs.iter().map(|run| run.finals.clone()).collect();
        if ends != whole.map(|run| finals(program, plan, run)).collect() {
            return Err(String::from("dpor reaches other final states"));
        }
        if exhausted == Exhausted::No && !runs.iter().any(|run| run.trace.log.reached.cut) {
            return Err(String::from("dpor does not know that it is done"));
        }
        Ok(())
    });
    println!("{classes_total} partial orders, {runs_total} whole runs");
}

#[test]
fn odpor_runs_every_partial_order_once() {
    for_programs(22, raddle_tiers::size("search_programs"), |program, plan, runs| {
        let expected: Vec<u128> = classes(runs).into_iter().collect();
        let (found, exhausted) = search(program, plan, Odpor::new(), 2 * runs.len() + 1);
        let mut reached: Vec<u128> = found.iter().map(|run| run.digest.fingerprint).collect();
        reached.sort_unstable();
        if reached != expected {
            let set: BTreeSet<u128> = reached.iter().copied().collect();
            let known: BTreeSet<u128> = expected.iter().copied().collect();
            return Err(format!(
                "{} classes, odpor made {} runs of {} classes, {} of them known",
                expected.len(),
                reached.len(),
                set.len(),
                set.intersection(&known).count(),
            ));
        }
        if found.iter().any(|run| matches!(run.digest.verdict, Verdict::Cut | Verdict::Diverged(_))) {
            return Err(String::from("a run was cut short"));
        }
        let ends: BTreeSet<Finals> = runs.iter().map(|run| run.finals.clone()).collect();
        if ends != found.iter().map(|run| finals(program, plan, run)).collect() {
            return Err(String::from("odpor reaches other final states"));
        }
        if exhausted == Exhausted::No && !runs.iter().any(|run| run.trace.log.reached.cut) {
            return Err(String::from("odpor does not know that it is done"));
        }
        Ok(())
    });
}
