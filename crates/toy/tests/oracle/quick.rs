//! The engine's quick way is its general way: runs whose schedule is checked never take it, all others
//! do wherever they can, and both must be the same.

use crate::common::{Case, for_programs, size, tails};
use raddle_model::plan::{Step, Steps};
use raddle_model::{Plan, Tail};
use raddle_policy::Planned;
use raddle_toy::{Machine, Program, ToyRun};
use std::sync::Arc;

/// The run of a plan, the general way and the quick way.
fn both_ways(program: &Program, plan: &Plan) -> Result<ToyRun, String> {
    let with_care = Machine::new(program, Planned::new(plan)).run_as(plan, true);
    let mut quickly = Machine::new(program, Planned::new(plan)).run_as(plan, false);
    if !with_care.trace.events.is_empty() && !quickly.trace.schedule.checks.is_empty() {
        return Err(String::from("there are checks that nobody asked for"));
    }
    quickly.trace.schedule.checks = with_care.trace.schedule.checks.clone();
    if quickly != with_care {
        return Err(format!("{}: {quickly:?} is not {with_care:?}", plan.tail.name()));
    }
    Ok(with_care)
}

fn agrees(case: &Case) -> Result<bool, String> {
    let program = case.program();
    for (tail, seed) in tails().into_iter().zip(3..) {
        both_ways(&program, &Plan { seed, tail, ..case.plan.clone() })?;
    }
    Ok(true)
}

/// The first steps of a run of a search.
fn half_of(run: &ToyRun) -> Vec<Step> {
    let trace = &run.trace;
    let taken = trace.log.picks.iter().filter_map(|picked| trace.events.get(picked.event as usize));
    let taken = taken.map(|event| Step { task: trace.names[event.task.index()], choices: Vec::new() });
    let mut steps: Vec<Step> = core::iter::once(Step::default()).chain(taken).collect();
    for choice in &trace.log.chosen {
        if let Some(step) = steps.get_mut(choice.pick as usize) {
            step.choices.push(choice.value);
        }
    }
    steps.truncate(steps.len().div_ceil(2));
    steps
}

/// Runs of a search: with a random rest, and then half of that one with a quiet rest in which nobody or somebody sleeps.
fn agrees_in_a_search(case: &Case) -> Result<bool, String> {
    let program = case.program();
    let plan = |steps: Steps, seed| Plan { seed, tail: Tail::Steps(steps), ..case.plan.clone() };
    for (seed, run_on) in [(3, true), (4, false)] {
        let conditions = Steps { run_on, timeouts_max: 1, ..Steps::default() };
        let first = both_ways(&program, &plan(Steps { random: true, ..conditions.clone() }, seed))?;
        let steps = half_of(&first);
        let names = &first.trace.names;
        for (sleep, seed) in [(Vec::new(), 0), (Vec::new(), seed), (vec![names[names.len() - 1]], 0)] {
            both_ways(
                &program,
                &plan(Steps { steps: Arc::new(steps.clone()), sleep, ..conditions.clone() }, seed),
            )?;
        }
    }
    Ok(true)
}

#[test]
fn the_quick_way_is_the_general_way() {
    for_programs("quick", size("replay_plans"), agrees);
}

#[test]
fn the_quick_way_of_a_search_is_the_general_way() {
    for_programs("quick search", size("replay_plans"), agrees_in_a_search);
}
