//! Every run of every subject repeats: from its plan, with all that a campaign has learned in it, and
//! from its own recorded schedule. A schedule that was tampered with ends `Diverged`, and says where
//! and what was expected.

use raddle_explore::explorer::plan_of_run;
use raddle_explore::target::{Run, Target};
use raddle_explore::{Limits, Sample, campaign};
use raddle_model::{Decision, Dice, Divergence, Plan, Rng, Schedule, Tail, TaskId, Verdict};
use raddle_subjects::{TABLE1, bug, fig1, ok};
use std::collections::BTreeSet;

const STRATEGIES: [&str; 8] = ["random", "rapos", "pct", "pct:depth=5", "pos", "walks", "coverage", "noise"];

/// Runs of the campaign that a plan is taken from.
const CAMPAIGN_RUNS: u64 = 40;

/// A livelock should not take a million steps each time.
const STEPS_MAX: u64 = 20_000;

struct Body {
    name: String,
    body: fn(),
}

/// Has values to choose, which few subjects have.
fn chooses() {
    let tasks: Vec<_> =
        (0..2).map(|_| raddle::thread::spawn(|| (0..3).map(|_| raddle::choose(3)).sum::<usize>())).collect();
    let sums: Vec<usize> = tasks.into_iter().map(|task| task.join().unwrap()).collect();
    assert_ne!(sums, [6, 6], "all were twos");
}

fn bodies() -> Vec<Body> {
    let body = |name: &str, body| Body { name: name.to_owned(), body };
    let mut bodies: Vec<Body> = TABLE1.iter().map(|subject| body(subject.name, subject.body)).collect();
    bodies.extend(bug::PROGRAMS.iter().map(|program| body(&format!("bug/{}", program.name), program.body)));
    bodies.extend(ok::PROGRAMS.iter().map(|program| body(&format!("ok/{}", program.name), program.body)));
    bodies.extend([body("fig1", fig1), body("chooses", chooses)]);
    bodies
}

/// The plan of some run of a short campaign, as it was when the campaign had learned what it could.
fn plan(target: &mut impl Target, strategy: &str, rng: &mut Rng) -> Plan {
    let strategy = raddle_policy::parse(strategy).unwrap();
    let start = Plan { steps_max: STEPS_MAX, ..Plan::new(u64::from(rng.below(1 << 30)), Tail::Random) };
    let mut explorer = Sample::new(strategy, start);
    let limits = Limits { runs: CAMPAIGN_RUNS, stop_after: 0, races: true };
    campaign::run(target, &mut explorer, &limits, &mut || false, &mut |_| ()).unwrap();
    plan_of_run(explorer.plan(), u64::from(rng.below(1 << 30)))
}

/// Calls `each` with as many recorded runs as the tier says, spread over all subjects and strategies.
fn sweep(seed: u64, mut each: impl FnMut(&str, &mut dyn Target, &Plan, &Run, &mut Rng)) {
    let mut rng = Rng::new(seed);
    let bodies = bodies();
    let plans = raddle_tiers::size("replay_plans") as usize;
    for number in 0..plans {
        let Body { name, body } = &bodies[number % bodies.len()];
        let strategy = STRATEGIES[(number + number / bodies.len()) % STRATEGIES.len()];
        let mut target = raddle::__private::target(*body);
        let plan = plan(&mut target, strategy, &mut rng);
        let run = target.run(&plan).unwrap();
        each(&format!("{name} under {strategy}"), &mut target, &plan, &run, &mut rng);
    }
    println!("{plans} plans over {} subjects and {} strategies", bodies.len(), STRATEGIES.len());
}

#[track_caller]
fn assert_same(again: &Run, run: &Run, what: &str) {
    // The parts first: a whole run is too long to read.
    assert_eq!(again.digest, run.digest, "{what}");
    assert_eq!(again.trace.schedule, run.trace.schedule, "{what}");
    for (at, (event, other)) in again.trace.events.iter().zip(&run.trace.events).enumerate() {
        assert_eq!(event, other, "{what}: event {at}");
    }
    assert!(again == run, "{what}: what was pending at the end, or a name, differs");
}

#[test]
fn every_run_repeats_from_its_plan_and_from_its_schedule() {
    let (mut verdicts, mut tails) = (BTreeSet::new(), BTreeSet::new());
    sweep(1, |what, target, plan, run, _| {
        assert_same(&target.run(plan).unwrap(), run, &format!("{what}, from its plan"));
        let recorded = plan.replaying(run.trace.schedule.clone());
        assert_same(&target.run(&recorded).unwrap(), run, &format!("{what}, from its schedule"));
        verdicts.insert(match &run.digest.verdict {
            Verdict::Failed(failure) => failure.kind.name(),
            Verdict::Finished => "finished",
            other => panic!("{what}: {other:?}"),
        });
        tails.insert(plan.tail.name());
    });
    println!("ends: {verdicts:?}, tails: {tails:?}");
    // What the sweep is about has come up.
    for end in ["finished", "assertion", "panic", "deadlock", "livelock"] {
        assert!(verdicts.contains(end), "no run ended with {end}: {verdicts:?}");
    }
    assert_eq!(tails.len(), 7, "{tails:?}");
}

/// The replay must diverge, in words.
#[track_caller]
fn divergence(target: &mut dyn Target, plan: &Plan, schedule: Schedule, what: &str) -> Divergence {
    let replay = target.run(&plan.replaying(schedule)).unwrap();
    let Verdict::Diverged(divergence) = replay.digest.verdict else {
        panic!("{what}: followed to its end, {:?}", replay.digest.verdict)
    };
    assert!(!divergence.expected.is_empty() && !divergence.found.is_empty(), "{what}: {divergence:?}");
    // What is no scheduling point may still have happened then.
    assert!(divergence.step <= replay.digest.steps, "{what}: {divergence:?}");
    divergence
}

/// A random decision that `wanted` holds for.
fn position(schedule: &Schedule, rng: &mut Rng, wanted: fn(&Decision) -> bool) -> Option<usize> {
    let all: Vec<usize> =
        (0..schedule.decisions.len()).filter(|&at| wanted(&schedule.decisions[at])).collect();
    (!all.is_empty()).then(|| all[rng.below(all.len() as u32) as usize])
}

#[test]
fn another_task_swapped_in_diverges() {
    let (mut enabled, mut disabled) = (0, 0);
    sweep(2, |what, target, plan, run, rng| {
        let schedule = &run.trace.schedule;
        let Some(at) = position(schedule, rng, |decision| matches!(decision, Decision::Run(_))) else {
            return;
        };
        for task in (0..run.tasks.len() as u32).map(TaskId) {
            let mut tampered = schedule.clone();
            let before = std::mem::replace(&mut tampered.decisions[at], Decision::Run(task));
            if before == Decision::Run(task) {
                continue;
            }
            let found =
                divergence(target, plan, tampered, &format!("{what}, {task:?} for {before:?} at {at}"));
            // One that cannot run is seen at once; for one that can, another run goes on from there.
            if found.decision == at && found.expected == format!("task {} to run", task.0) {
                assert!(found.found.starts_with("a choice between the tasks"), "{found:?}");
                disabled += 1;
            } else {
                assert!(found.decision > at, "{what}: {found:?}");
                enabled += 1;
            }
        }
    });
    println!("{enabled} tasks that could run were swapped in, {disabled} that could not");
    assert!(enabled > 100 && disabled > 0);
}

#[test]
fn a_truncated_schedule_diverges() {
    sweep(3, |what, target, plan, run, rng| {
        let Some(at) = position(&run.trace.schedule, rng, |_| true) else { return };
        let mut tampered = run.trace.schedule.clone();
        tampered.decisions.truncate(at);
        let found = divergence(target, plan, tampered, &format!("{what}, truncated to {at}"));
        assert_eq!((found.decision, &*found.expected), (at, "the end of the run"), "{what}");
    });
}

#[test]
fn an_extended_schedule_diverges() {
    sweep(4, |what, target, plan, run, rng| {
        let mut tampered = run.trace.schedule.clone();
        let more = 1 + rng.below(3);
        for _ in 0..more {
            let decision = match rng.below(2) {
                0 => Decision::Run(TaskId(rng.below(run.tasks.len() as u32))),
                _ => Decision::Choose(rng.below(2)),
            };
            tampered.decisions.push(decision);
        }
        let found = divergence(target, plan, tampered, &format!("{what}, {more} more decisions"));
        assert_eq!(found.expected, format!("{more} more decisions"), "{what}");
    });
}

#[test]
fn another_value_of_a_choice_diverges() {
    let mut changed = 0;
    sweep(5, |what, target, plan, run, rng| {
        let schedule = &run.trace.schedule;
        let Some(at) = position(schedule, rng, |decision| matches!(decision, Decision::Choose(_))) else {
            return;
        };
        for value in (0..4).chain([u32::MAX]) {
            let mut tampered = schedule.clone();
            let before = std::mem::replace(&mut tampered.decisions[at], Decision::Choose(value));
            if before != Decision::Choose(value) {
                divergence(target, plan, tampered, &format!("{what}, {value} for {before:?} at {at}"));
                changed += 1;
            }
        }
    });
    println!("{changed} choices changed");
    assert!(changed > 0);
}
