//! Spinning: a task that repeats unchanged reads is not picked while another can run, so that every
//! program in which somebody waits in a loop for somebody else ends under every policy, even one
//! that always prefers those who spin. If only such tasks are left they run on, and `livelock` is
//! reported at the step bound, naming what they wait for.

use crate::common::{everywhere, tails};
use raddle_model::{
    Choice, Divergence, Failure, FailureKind, Kind, Outcome, Pick, Plan, PointSet, Policy, SpinMode, TaskId,
    TimeMode, Verdict, View,
};
use raddle_toy::How::{Block, Timed, Try};
use raddle_toy::Instr::*;
use raddle_toy::status::{FAILED, TIMED_OUT};
use raddle_toy::{Instr, Object, Program, ToyRun, Val, run, run_with};

const ONE: Val = Val::Const(1);

/// Always picks the lowest of the enabled tasks among those after main: spinners come first here.
struct LowestFirst;

impl Policy for LowestFirst {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        let after_main = view.enabled.iter().find(|&task| task != TaskId::MAIN);
        Pick::Run(after_main.or(view.enabled.first()).expect("somebody can run"))
    }
    fn choose(&mut self, _: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(0)
    }
    fn restart(&mut self, _: u64) {}
}

fn objects() -> Vec<Object> {
    vec![
        Object::Atomic(0),
        Object::Mutex,
        Object::RwLock,
        Object::Once,
        Object::Channel { capacity: None, senders: 1 },
        Object::Semaphore(0),
        Object::Cell(0),
        Object::Atomic(1),
    ]
}

/// A loop that waits for something: its name, its code, and what another task does before it begins
/// and to end it.
type Loop = (&'static str, Vec<Instr>, Vec<Instr>, Vec<Instr>);

fn loops() -> Vec<Loop> {
    let store = || vec![Store(0, ONE)];
    vec![
        ("load", vec![Load(0, 0), JumpIf(0, 0, 0)], vec![], store()),
        ("load and yield", vec![Load(0, 0), JumpUnless(0, 0, 4), Yield, Jump(0)], vec![], store()),
        ("load and fence", vec![Load(0, 0), JumpUnless(0, 0, 4), Fence, Jump(0)], vec![], store()),
        ("load and sleep", vec![Load(0, 0), JumpUnless(0, 0, 4), Sleep(5), Jump(0)], vec![], store()),
        ("two loads", vec![Load(7, 1), Load(0, 0), JumpIf(0, 0, 0)], vec![], store()),
        ("swap lock", vec![Swap(7, ONE, 0), JumpIf(0, 1, 0)], vec![], vec![Store(7, Val::Const(0))]),
        (
            "compare-exchange lock",
            vec![Cas(7, Val::Const(0), ONE, 0), JumpIf(0, 1, 0)],
            vec![],
            vec![Store(7, Val::Const(0))],
        ),
        ("store of the same", vec![Store(7, ONE), Load(0, 0), JumpIf(0, 0, 0)], vec![], store()),
        ("try lock", vec![Lock(1, Try, 0), JumpIf(0, FAILED, 0)], vec![Lock(1, Block, 1)], vec![Unlock(1)]),
        (
            "timed lock",
            vec![Lock(1, Timed(5), 0), JumpIf(0, TIMED_OUT, 0)],
            vec![Lock(1, Block, 1)],
            vec![Unlock(1)],
        ),
        (
            "try read",
            vec![ReadLock(2, Try, 0), JumpIf(0, FAILED, 0)],
            vec![WriteLock(2, Block, 1)],
            vec![WriteUnlock(2)],
        ),
        (
            "try write",
            vec![WriteLock(2, Try, 0), JumpIf(0, FAILED, 0)],
            vec![ReadLock(2, Block, 1)],
            vec![ReadUnlock(2)],
        ),
        ("once", vec![OnceGet(3, 0), JumpIf(0, 0, 0)], vec![OnceEnter(3, 1)], vec![OnceDone(3, true)]),
        ("try recv", vec![Recv(4, Try, 0, 1), JumpIf(0, FAILED, 0)], vec![], vec![Send(4, ONE, Block, 1)]),
        ("try acquire", vec![Acquire(5, 1, Try, 0), JumpIf(0, FAILED, 0)], vec![], vec![Release(5, 1)]),
        ("timed park", vec![Park(Timed(5), 0), JumpIf(0, TIMED_OUT, 0)], vec![], vec![Unpark(1)]),
        ("plain read", vec![Read(6, 0), JumpIf(0, 0, 0)], vec![], vec![Write(6, ONE)]),
        (
            "plain read and yield",
            vec![Read(6, 0), JumpUnless(0, 0, 4), Yield, Jump(0)],
            vec![],
            vec![Write(6, ONE)],
        ),
    ]
}

/// Main does what comes before, spawns the spinners (1, …), and then is the one who works.
fn program(spins: &[Instr], spinners: usize, before: &[Instr], after: &[Instr]) -> Program {
    let spawns: Vec<Instr> = (1..=spinners).map(Spawn).collect();
    let joins: Vec<Instr> = (1..=spinners).map(Join).collect();
    let mut tasks = vec![[before, &spawns, after, &joins].concat()];
    tasks.extend(vec![spins.to_vec(); spinners]);
    Program { objects: objects(), tasks }
}

fn must_finish(run: &ToyRun, what: &str) {
    assert_eq!(run.verdict, Verdict::Finished, "{what}");
}

#[test]
fn every_loop_ends_under_every_policy() {
    for (name, spins, before, after) in loops() {
        let program = program(&spins, 1, &before, &after);
        for points in [PointSet::everything(), PointSet::default()] {
            let plan = Plan { points, steps_max: 50_000, ..everywhere() };
            must_finish(&run_with(&program, &plan, LowestFirst), name);
            for tail in tails() {
                for seed in 0..10 {
                    let plan = Plan { seed, tail: tail.clone(), ..plan.clone() };
                    must_finish(&run(&program, &plan), &format!("{name} under {}", plan.tail.name()));
                }
            }
        }
    }
}

#[test]
fn two_spinners_and_a_worker_end_under_priorities() {
    for (name, spins, before, after) in loops() {
        // What only one of them can get is for one spinner.
        let shared = before.is_empty()
            && !name.contains("lock")
            && !matches!(name, "try recv" | "try acquire" | "timed park");
        if shared {
            let program = program(&spins, 2, &before, &after);
            let run = run_with(&program, &Plan { steps_max: 50_000, ..everywhere() }, LowestFirst);
            must_finish(&run, name);
            assert!(run.parked, "{name}: nobody was held back");
        }
    }
}

#[test]
fn a_sleeper_wakes_under_lazy_time_although_somebody_spins() {
    let spins = [Load(0, 0), JumpIf(0, 0, 0)];
    let program = program(&spins, 2, &[], &[Sleep(1_000_000), Store(0, ONE)]);
    must_finish(&run_with(&program, &Plan { time: TimeMode::Lazy, ..everywhere() }, LowestFirst), "sleeper");
}

/// One who spins is let in as soon as what it waits for has changed, not when all others are done.
#[test]
fn a_change_brings_the_spinner_back() {
    for (name, spins, before, after) in loops() {
        if before.is_empty() || name == "once" {
            continue;
        }
        // The worker goes on for a while after it has let go.
        let after = [&after[..], &[Store(0, ONE); 5]].concat();
        let program = program(&spins, 1, &before, &after);
        let run = run_with(&program, &everywhere(), LowestFirst);
        must_finish(&run, name);
        let got = |event: &&raddle_model::Event| {
            event.task == TaskId(1) && event.outcome == Outcome::Done && event.op.kind != Kind::Exit
        };
        let at = run.trace.events.iter().position(|event| got(&event)).expect("it got in");
        let worked = run.trace.events[..at].iter().filter(|event| event.op.kind == Kind::Store).count();
        assert!(run.parked && worked == 0, "{name}: {worked} stores before it got in");
    }
}

fn livelock(program: &Program, plan: &Plan) -> Failure {
    let Verdict::Failed(failure) = run(program, plan).verdict else { panic!("it must not end") };
    failure
}

#[test]
fn a_livelock_names_what_is_waited_for() {
    let plan = everywhere();
    let examples: [(Vec<Instr>, &[&str]); 4] = [
        (vec![Load(0, 0), JumpIf(0, 0, 0)], &["atomic o1"]),
        (vec![Load(0, 0), Yield, Load(7, 1), JumpIf(0, 0, 0)], &["atomic o1", "atomic o8"]),
        (vec![Yield, OnceGet(3, 0), JumpIf(0, 0, 0)], &["once o4"]),
        (vec![Recv(4, Try, 0, 1), JumpIf(0, FAILED, 0)], &["channel o5"]),
    ];
    for (spins, objects) in examples {
        let program = program(&spins, 2, &[], &[]);
        // Main only joins.
        for tail in tails() {
            let failure = livelock(&program, &Plan { tail, ..plan.clone() });
            assert_eq!(failure.kind, FailureKind::Livelock);
            for part in objects.iter().chain(&["main/0", "main/1"]) {
                assert!(failure.message.contains(part), "{part} is missing in: {}", failure.message);
            }
            assert!(!failure.message.contains("main looks"), "main only joins: {}", failure.message);
        }
    }
}

#[test]
fn one_who_changes_something_again_and_again_is_no_livelock() {
    let program = Program::flat(objects(), vec![vec![Add(0, ONE, 0), Jump(0)]]);
    let failure = livelock(&program, &everywhere());
    assert_eq!(failure.kind, FailureKind::Steps);
}

/// Parking lowers priority and nothing else: one who only counts its looks gets there.
#[test]
fn spinners_run_on_when_only_they_are_left() {
    let counts = |other: Instr| {
        let mut code = vec![Load(0, 0), Let(1, Val::Reg(1), ONE), JumpUnless(1, 40, 0)];
        code.push(other);
        code
    };
    let tasks = vec![counts(Unpark(3)), counts(Yield), vec![Park(Block, 0)]];
    let program = Program::flat(objects(), tasks);
    for tail in tails() {
        let run = run(&program, &Plan { tail, ..everywhere() });
        must_finish(&run, "counting");
        assert!(run.parked);
    }
}

#[test]
fn parking_can_be_turned_off() {
    let program = program(&[Load(0, 0), JumpIf(0, 0, 0)], 1, &[], &[Store(0, ONE)]);
    let run = run_with(&program, &Plan { spin: SpinMode::Off, ..everywhere() }, LowestFirst);
    let Verdict::Failed(failure) = &run.verdict else { panic!("nobody else is ever picked") };
    assert_eq!((failure.kind, run.parked), (FailureKind::Steps, false));
}
