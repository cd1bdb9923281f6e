//! Every partial order has a positive probability (theorem 1 of the RAPOS paper, and the promise of
//! `walks` even if what it was taught is wrong), on random small programs: a class that is sampled
//! has one, and a class that is not within 100,000 runs fails the test.
//!
//! The theorem speaks of complete runs. Here every run is: a failure that ends a run early leaves a
//! part of a partial order, and which parts there are depends on the linearization.

use raddle_model::plan::{Contended, TaskWeight, Weights};
use raddle_model::{Plan, Policy, Rng, Tail, Verdict};
use raddle_policy::{Planned, weights};
use raddle_toy::Instr::{JumpUnless, Load, Lock, Store, Unlock};
use raddle_toy::{How, Instr, Machine, Object, Program, Val, enumerate, run, status};
use std::collections::BTreeSet;

/// Two tasks with up to three operations each, or three with up to two each, over two atomics and a mutex.
fn tiny(rng: &mut Rng) -> Program {
    let mut below = |n: u64| (rng.next_u64() % n) as usize;
    let tasks = 2 + below(2);
    let body = |below: &mut dyn FnMut(u64) -> usize| -> Vec<Instr> {
        let length = if tasks == 2 { 1 + below(3) } else { 1 + below(2) };
        let mut instrs = Vec::new();
        for _ in 0..length {
            match below(5) {
                0 => instrs.push(Load(below(2), 0)),
                1 => instrs.extend([Lock(2, How::Block, 0), Store(below(2), Val::Const(1)), Unlock(2)]),
                2 => {
                    let after = instrs.len() + 3;
                    instrs.extend([Lock(2, How::Try, 0), JumpUnless(0, status::DONE, after), Unlock(2)]);
                }
                _ => instrs.push(Store(below(2), Val::Const(1))),
            }
        }
        instrs
    };
    let tasks = (0..tasks).map(|_| body(&mut below)).collect();
    let mut program = Program::flat(vec![Object::Atomic(0), Object::Atomic(0), Object::Mutex], tasks);
    // Main may have something to do before and between making them.
    if below(2) == 0 {
        for at in [below(2), 2] {
            program.tasks[0].insert(at, Store(below(2), Val::Const(1)));
        }
    }
    program
}

fn plan() -> Plan {
    let mut plan = Plan::new(1, Tail::Random);
    // Some of the programs try locks.
    plan.points.releases = true;
    plan
}

/// The weights of a run, with accesses put elsewhere, made up or left out.
fn wrong(learned: &Weights, rng: &mut Rng) -> Weights {
    let mut below = |n: u32| (rng.next_u64() % u64::from(n)) as u32;
    let spoil = |access: &Contended, below: &mut dyn FnMut(u32) -> u32| Contended {
        index: access.index + below(2),
        object: below(3),
        write: below(2) == 0,
        ..*access
    };
    let tasks = learned.tasks.iter().map(|task| {
        let kept = task.accesses.iter().filter(|_| below(4) != 0).collect::<Vec<_>>();
        let accesses = kept.into_iter().map(|access| spoil(access, &mut below)).collect();
        TaskWeight { name: task.name, accesses }
    });
    Weights { length: learned.length, tasks: tasks.collect() }
}

/// Samples until all classes are there. Returns how many are.
fn reached(program: &Program, tail: Tail, classes: &BTreeSet<u128>, name: &str) -> usize {
    let plan = Plan { tail, ..plan() };
    let mut machine = Machine::new(program, Planned::new(&plan));
    let mut reached = BTreeSet::new();
    for number in 0..100_000 {
        machine.engine().policy_mut().restart(Rng::seed_of_run(8, number));
        let fingerprint = machine.run(&plan).fingerprint;
        assert!(classes.contains(&fingerprint), "{name} finds a class of its own: {program:?}");
        reached.insert(fingerprint);
        if reached.len() == classes.len() {
            break;
        }
    }
    reached.len()
}

#[test]
fn every_class_has_a_positive_probability() {
    let mut rng = Rng::new(2024);
    let (mut checked, mut classes_in_all) = (0, 0);
    while checked < 60 {
        let program = tiny(&mut rng);
        let Some(runs) = enumerate(&program, &plan(), 20_000) else { continue };
        assert!(runs.iter().all(|run| run.verdict == Verdict::Finished));
        let classes: BTreeSet<u128> = runs.iter().map(|run| run.fingerprint).collect();
        let learned = weights::learn(&run(&program, &plan()).trace, &plan().points);
        let wrong = wrong(&learned, &mut rng);
        for (name, tail) in [
            ("random", Tail::Random),
            ("rapos", Tail::Rapos),
            ("pos", Tail::Pos),
            ("noise", Tail::Noise { one_in: 3, strength: 4 }),
            ("walks", Tail::Walks(learned)),
            ("walks taught wrongly", Tail::Walks(wrong)),
        ] {
            let found = reached(&program, tail, &classes, name);
            assert_eq!(found, classes.len(), "{name} misses classes: {program:?}");
        }
        checked += 1;
        classes_in_all += classes.len();
    }
    assert!(classes_in_all > 300, "the programs are too tame: {classes_in_all} classes");
}
