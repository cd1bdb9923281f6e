//! The world against a second account of the same objects. Along random walks through random
//! programs, after every step, each outcome must be the one that the plain account gives, exactly
//! those tasks can go on that can by it, and whoever was let in was let in by something that conflicts
//! with it: an outcome too many, a task that waits in vain and one that gets in where it must not are
//! all noticed.

use crate::common::reference::Reference;
use crate::common::states::{Reached, reach};
use crate::common::{Case, for_programs, size};
use raddle_model::{Decision, Dice, Op, Plan, PointSet, Rng, SpinMode, TaskId, TimeMode, Verdict};
use raddle_toy::Program;
use std::collections::BTreeSet;

/// Compares one state, and how it was reached.
fn compare(program: &Program, plan: &Plan, reached: &Reached) -> Result<(), String> {
    let mut reference = Reference::new(program, reached.task_objects.clone(), plan.spurious_max);
    reached.trace.events.iter().try_for_each(|event| reference.event(event))?;
    // A failure in mid-step leaves the state in between; a cycle of owners is found early.
    if reached.verdict != Verdict::Cut {
        return Ok(());
    }
    let able = |(task, op): &&(TaskId, _)| reference.able(*task, op);
    let expected: BTreeSet<TaskId> =
        reached.trace.pending.iter().filter(able).map(|(task, _)| *task).collect();
    let found: BTreeSet<TaskId> = reached.policy.able.iter().map(|(task, _)| *task).collect();
    if expected == found {
        Ok(())
    } else {
        let pending = &reached.trace.pending;
        Err(format!(
            "after {:#?}\nof {pending:?}\n{found:?} can go on, and {expected:?} should",
            reached.trace.events
        ))
    }
}

/// A deadlock must be one: nobody can go on, unless a cycle was found, which names fewer tasks.
fn compare_end(program: &Program, plan: &Plan, reached: &Reached) -> Result<(), String> {
    let Verdict::Failed(failure) = &reached.verdict else { return Ok(()) };
    if failure.kind != raddle_model::FailureKind::Deadlock {
        return Ok(());
    }
    let mut reference = Reference::new(program, reached.task_objects.clone(), plan.spurious_max);
    reached.trace.events.iter().try_for_each(|event| reference.event(event))?;
    let able = |(task, op): &&(TaskId, _)| failure.tasks.contains(task) && reference.able(*task, op);
    match reached.trace.pending.iter().find(able) {
        None => Ok(()),
        Some(wrong) => Err(format!("{wrong:?} is not blocked, but said to be in {}", failure.message)),
    }
}

/// Whoever could not go on before a step and can after it must conflict with what was done.
fn enables(before: &Reached, op: &Op, after: &Reached) -> Result<(), String> {
    let freed =
        |next: &&(TaskId, Op)| !before.policy.able.contains(next) && before.trace.pending.contains(next);
    match after.policy.able.iter().filter(freed).find(|(_, freed)| !op.conflicts(freed)) {
        None => Ok(()),
        Some(freed) => Err(format!("{op:?} enables {freed:?} and does not conflict with it")),
    }
}

fn walk(program: &Program, plan: &Plan, rng: &mut Rng) -> Result<(), String> {
    let mut script = Vec::new();
    let mut last: Option<(Reached, Op)> = None;
    loop {
        let reached = reach(program, plan, &script, false);
        if let Some(arity) = reached.policy.unanswered {
            script.push(Decision::Choose(rng.below(arity)));
            continue;
        }
        compare(program, plan, &reached)?;
        if reached.verdict != Verdict::Cut {
            return compare_end(program, plan, &reached);
        }
        if let Some((before, op)) = &last {
            enables(before, op, &reached)?;
        }
        let able = &reached.policy.able;
        let (task, op) = able[rng.below(able.len() as u32) as usize];
        script.push(Decision::Run(task));
        last = Some((reached, op));
    }
}

fn check(case: &Case) -> Result<bool, String> {
    let plan = Plan { spin: SpinMode::Off, time: TimeMode::Any, ..case.plan.clone() };
    let plan = Plan { points: PointSet::everything(), ..plan };
    let mut rng = Rng::new(1);
    (0..WALKS).try_for_each(|_| walk(&case.program(), &plan, &mut rng))?;
    Ok(true)
}

/// Random walks through each program.
const WALKS: u32 = 10;

#[test]
fn the_world_agrees_with_a_plain_account_of_it() {
    for_programs("semantics", size("oracle_programs"), check);
}
