//! How evenly the strategies sample partial orders, against the enumeration of all of them.

use raddle_model::{Plan, Policy, Rng, Tail};
use raddle_policy::{Planned, weights};
use raddle_toy::Instr::{Let, Load, Lock, Store, Unlock};
use raddle_toy::{How, Instr, Machine, Object, Program, Val, for_each_run, run};
use std::collections::{BTreeMap, BTreeSet};

const RUNS: u64 = 10_000;

fn store(object: usize) -> Instr {
    Store(object, Val::Const(1))
}

fn increment(object: usize) -> Vec<Instr> {
    vec![Load(object, 0), Let(0, Val::Reg(0), Val::Const(1)), Store(object, Val::Reg(0))]
}

fn section(mutex: usize) -> Vec<Instr> {
    vec![Lock(mutex, How::Block, 0), Unlock(mutex)]
}

fn philosopher(left: usize, right: usize) -> Vec<Instr> {
    vec![Lock(left, How::Block, 0), Lock(right, How::Block, 0), Unlock(right), Unlock(left)]
}

fn atomics(count: usize, tasks: Vec<Vec<Instr>>) -> Program {
    Program::flat(vec![Object::Atomic(0); count], tasks)
}

fn mutexes(count: usize, tasks: Vec<Vec<Instr>>) -> Program {
    Program::flat(vec![Object::Mutex; count], tasks)
}

fn programs() -> Vec<(&'static str, Program)> {
    let read = vec![Load(0, 0)];
    vec![
        ("fig. 1", atomics(2, vec![vec![store(1), store(1), store(1), store(0)], read.clone()])),
        ("crossed", atomics(2, vec![vec![store(0), store(1)], vec![store(1), store(0)]])),
        ("store buffering", atomics(2, vec![vec![store(0), Load(1, 0)], vec![store(1), Load(0, 0)]])),
        ("two increments", atomics(1, vec![increment(0), increment(0)])),
        ("three increments", atomics(1, vec![increment(0); 3])),
        ("two by two increments", atomics(1, vec![[increment(0), increment(0)].concat(); 2])),
        ("readers", atomics(1, vec![vec![store(0)], read.clone(), read.clone(), read])),
        ("sections", mutexes(1, vec![section(0).repeat(3); 2])),
        (
            "mixed sections",
            mutexes(
                3,
                vec![
                    [section(0), section(1), section(2)].concat(),
                    [section(1), section(2), section(0)].concat(),
                    section(2),
                ],
            ),
        ),
        ("philosophers", mutexes(3, vec![philosopher(0, 1), philosopher(1, 2), philosopher(2, 0)])),
        ("uneven", atomics(2, vec![[vec![store(0); 4], vec![store(1)]].concat(), vec![store(1), store(0)]])),
        (
            "pipeline",
            atomics(
                3,
                vec![
                    vec![store(0), store(0)],
                    vec![Load(0, 0), store(1), Load(0, 0), store(1)],
                    vec![Load(1, 0), store(2), Load(1, 0)],
                ],
            ),
        ),
    ]
}

/// The distance in variation between the sampled distribution and the uniform one.
fn distance(program: &Program, tail: Tail, classes: &BTreeSet<u128>) -> f64 {
    let plan = Plan::new(5, tail);
    let mut machine = Machine::new(program, Planned::new(&plan));
    let mut counts: BTreeMap<u128, u64> = classes.iter().map(|&class| (class, 0)).collect();
    for number in 0..RUNS {
        machine.engine().policy_mut().restart(Rng::seed_of_run(3, number));
        *counts.get_mut(&machine.run(&plan).fingerprint).expect("a class that does not exist") += 1;
    }
    let uniform = 1.0 / classes.len() as f64;
    counts.values().map(|&count| (count as f64 / RUNS as f64 - uniform).abs()).sum::<f64>() / 2.0
}

/// `walks` is nearer to uniform than `rapos` on every program where `rapos` is not already there, and
/// no further than sampling error and its share of random runs where it is.
#[test]
fn walks_sample_more_evenly_than_rapos() {
    let mut table = String::new();
    let mut means = [0.0; 4];
    let programs = programs();
    let mut worse = Vec::new();
    for (name, program) in &programs {
        let plan = Plan::new(1, Tail::Random);
        let mut classes = BTreeSet::new();
        let all = for_each_run(program, &plan, 2_000_000, |run| {
            classes.insert(run.fingerprint);
        });
        assert!(all, "{name} is too large to enumerate");
        let learned = weights::learn(&run(program, &plan).trace, &plan.points);
        let tails = [Tail::Random, Tail::Rapos, Tail::Pos, Tail::Walks(learned)];
        let distances = tails.map(|tail| distance(program, tail, &classes));
        table += &format!("{name:22} {:3} classes {distances:.3?}\n", classes.len());
        for (mean, distance) in means.iter_mut().zip(distances) {
            *mean += distance / programs.len() as f64;
        }
        if distances[3] > distances[1].max(0.03) {
            worse.push(*name);
        }
    }
    table += &format!("{:34} {means:.3?}\n", "mean");
    println!("distance from uniform: random, rapos, pos, walks\n{table}");
    assert!(worse.is_empty(), "walks is worse than rapos on {worse:?}\n{table}");
    assert!(means[3] < means[1] / 3.0 && means[1] < means[0], "{table}");
}
