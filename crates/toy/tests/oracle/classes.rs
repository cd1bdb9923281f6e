//! The oracle of partial orders. Over random small programs, all of whose runs are enumerated:
//! fingerprints are equal exactly when the plain graphs are; all linearizations of a class end in
//! the same state, every value that a task observed and the time it read off the clock included;
//! and whatever a policy samples is a class that the enumeration knows.

use crate::common::{Case, RUNS_MAX, for_programs, size, tails};
use raddle_model::{Plan, Policy, Rng};
use raddle_policy::Planned;
use raddle_toy::{Finals, Graph, Machine, ToyRun, for_each_run};
use std::collections::BTreeMap;

/// What the enumeration knows: for each fingerprint the graph and the final state.
type Classes = BTreeMap<u128, (Graph, Finals)>;

/// Adds a run; an error if graph, fingerprint and final state do not belong together.
fn add(classes: &mut Classes, graphs: &mut BTreeMap<Graph, u128>, run: &ToyRun) -> Result<(), String> {
    let graph = Graph::of(&run.trace);
    let known = *graphs.entry(graph.clone()).or_insert(run.fingerprint);
    if known != run.fingerprint {
        return Err(format!("one partial order has two fingerprints: {known:x} and {:x}", run.fingerprint));
    }
    let (known, finals) =
        classes.entry(run.fingerprint).or_insert_with(|| (graph.clone(), run.finals.clone()));
    if *known != graph {
        return Err(format!("two partial orders have one fingerprint: {known:#?} and {graph:#?}"));
    }
    if *finals != run.finals {
        return Err(format!("one partial order ends in two ways: {finals:?} and {:?}", run.finals));
    }
    Ok(())
}

fn check(case: &Case) -> Result<bool, String> {
    let program = case.program();
    let (mut classes, mut graphs) = (Classes::new(), BTreeMap::new());
    let mut wrong = None;
    let complete = for_each_run(&program, &case.plan, RUNS_MAX, |run| {
        if wrong.is_none() {
            wrong = add(&mut classes, &mut graphs, &run).err();
        }
    });
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    if !complete {
        return Ok(false);
    }
    for tail in tails() {
        let plan = Plan { tail, ..case.plan.clone() };
        let mut machine = Machine::new(&program, Planned::new(&plan));
        for seed in 0..size("oracle_runs") {
            machine.engine().policy_mut().restart(Rng::seed_of_run(1, seed));
            let run = machine.run(&plan);
            match classes.get(&run.fingerprint) {
                None => return Err(format!("{} found a class that does not exist", plan.tail.name())),
                Some((_, finals)) if *finals != run.finals => {
                    return Err(format!(
                        "{} ends otherwise: {finals:?} and {:?}",
                        plan.tail.name(),
                        run.finals
                    ));
                }
                Some(_) => {}
            }
        }
    }
    Ok(true)
}

#[test]
fn sampled_classes_are_enumerated_classes() {
    for_programs("classes", size("oracle_programs"), check);
}
