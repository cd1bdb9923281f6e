//! Every run repeats, from its plan and from its own recorded schedule, and a schedule that was
//! tampered with never passes for the run it was recorded from: it ends `Diverged`, even where the
//! changed decision gives another valid run, or another linearization of the same partial order.

use crate::common::{Case, for_programs, size, tails};
use raddle_model::{Decision, Dice, Divergence, Plan, Rng, Schedule, TaskId, Verdict};
use raddle_toy::Instr::Load;
use raddle_toy::{Object, Program, Sketch, ToyRun, enumerate, run};

fn plans(case: &Case) -> impl Iterator<Item = Plan> {
    let plan = case.plan.clone();
    let tails = tails().into_iter().zip(17..);
    tails.map(move |(tail, seed)| Plan { seed, tail, ..plan.clone() })
}

fn repeats(case: &Case) -> Result<bool, String> {
    let program = case.program();
    for plan in plans(case) {
        let first = run(&program, &plan);
        if run(&program, &plan) != first {
            return Err(format!("{} does not repeat from its plan", plan.tail.name()));
        }
        let replay = run(&program, &plan.replaying(first.trace.schedule.clone()));
        if replay != first {
            return Err(format!("{} does not repeat from its schedule: {replay:?}", plan.tail.name()));
        }
    }
    Ok(true)
}

#[test]
fn every_run_repeats_from_its_plan_and_from_its_schedule() {
    for_programs("replay", size("replay_plans"), repeats);
}

/// Ways to spoil a schedule. None if the schedule is too short for it.
fn tamper(way: u32, schedule: &Schedule, rng: &mut Rng) -> Option<Schedule> {
    let mut schedule = schedule.clone();
    let decisions = &mut schedule.decisions;
    let any = |rng: &mut Rng| match rng.below(2) {
        0 => Decision::Run(TaskId(rng.below(4))),
        _ => Decision::Choose(rng.below(2)),
    };
    let len = decisions.len() as u32;
    if way > 0 && len == 0 {
        return None;
    }
    match way {
        0 => {
            let longer = any(rng);
            decisions.push(longer);
        }
        1 => decisions.truncate(rng.below(len) as usize),
        2 => {
            decisions.remove(rng.below(len) as usize);
        }
        3 => {
            let at = rng.below(len) as usize;
            decisions[at] = match decisions[at] {
                Decision::Run(task) => Decision::Run(TaskId((task.0 + 1 + rng.below(3)) % 4)),
                Decision::Choose(value) => Decision::Choose(1 - value.min(1)),
            };
        }
        _ => decisions.swap(rng.below(len) as usize, rng.below(len) as usize),
    }
    Some(schedule)
}

const WAYS: u32 = 5;

/// A replay that did not diverge must have done exactly the same.
fn judge(original: &ToyRun, replay: &ToyRun, what: &str) -> Result<(), String> {
    match &replay.verdict {
        Verdict::Diverged(Divergence { expected, found, .. }) if expected.is_empty() || found.is_empty() => {
            Err(format!("{what}: a divergence that does not say what it is"))
        }
        Verdict::Diverged(_) => Ok(()),
        _ if replay.trace.events == original.trace.events && replay.verdict == original.verdict => Ok(()),
        other => Err(format!("{what} passed for the run, and ended {other:?}")),
    }
}

fn tampering_is_seen(case: &Case) -> Result<bool, String> {
    let program = case.program();
    let mut rng = Rng::new(5);
    for plan in plans(case) {
        let original = run(&program, &plan);
        let recorded = &original.trace.schedule;
        for way in 0..WAYS {
            let Some(schedule) = tamper(way, recorded, &mut rng) else { continue };
            let changed = schedule.decisions != recorded.decisions;
            let replay = run(&program, &plan.replaying(schedule));
            judge(&original, &replay, &format!("a schedule spoilt in way {way}"))?;
            // What was decided otherwise cannot have gone unnoticed just because nothing came of it.
            if changed && !matches!(replay.verdict, Verdict::Diverged(_)) {
                return Err(format!("a schedule spoilt in way {way} was followed to its end"));
            }
        }
        // The checks and the fingerprint are each enough to tell.
        let mut spoilt = recorded.clone();
        spoilt.fingerprint ^= 1;
        if !matches!(run(&program, &plan.replaying(spoilt)).verdict, Verdict::Diverged(_)) {
            return Err(String::from("a wrong fingerprint was not noticed"));
        }
        let mut spoilt = recorded.clone();
        *spoilt.checks.last_mut().expect("a run has events") ^= 1;
        if !matches!(run(&program, &plan.replaying(spoilt)).verdict, Verdict::Diverged(_)) {
            return Err(String::from("a wrong check was not noticed"));
        }
    }
    Ok(true)
}

#[test]
fn a_tampered_schedule_diverges() {
    for_programs("tamper", size("replay_plans"), tampering_is_seen);
}

#[test]
fn the_schedule_of_another_program_diverges() {
    let mut rng = Rng::new(9);
    let mut programs: Vec<Program> = Vec::new();
    let mut diverged = 0;
    for seed in 0..size("replay_plans") {
        let program = Sketch::random(&mut rng, 3, 3).program();
        let plan = Plan { seed, ..crate::common::conditions()[0].clone() };
        let original = run(&program, &plan);
        for other in programs.iter().rev().take(5) {
            let replay = run(other, &plan.replaying(original.trace.schedule.clone()));
            judge(&original, &replay, "a schedule of another program").expect("it must diverge");
            diverged += u64::from(matches!(replay.verdict, Verdict::Diverged(_)));
        }
        programs.push(program);
    }
    assert!(diverged > size("replay_plans"), "only {diverged} diverged");
}

/// Two tasks that are independent of each other: the decisions of one run with the checks of another
/// give the right partial order, and the run is too short for the check of a full interval.
#[test]
fn another_linearization_of_the_same_class_is_another_run() {
    let program = Program::flat(vec![Object::Atomic(0); 2], vec![vec![Load(0, 0)], vec![Load(1, 0)]]);
    let plan = crate::common::conditions()[0].clone();
    let runs = enumerate(&program, &plan, 1_000).expect("a small program");
    let original = &runs[0].trace;
    for other in &runs[1..] {
        assert_eq!(other.fingerprint, runs[0].fingerprint);
        let decisions = other.trace.schedule.decisions.clone();
        let unchecked = Schedule { decisions, checks: Vec::new(), ..original.schedule };
        assert_eq!(run(&program, &plan.replaying(unchecked.clone())), *other);
        let checked = Schedule { checks: original.schedule.checks.clone(), ..unchecked };
        let Verdict::Diverged(divergence) = run(&program, &plan.replaying(checked)).verdict else {
            panic!("another run passed for the recorded one")
        };
        assert!(divergence.expected.contains("check"), "{divergence:?}");
        assert_eq!(divergence.step, original.events.len() as u64);
    }
}
