//! Numbers of partial orders that the literature gives for small programs: what any exhaustive
//! search must find. Main only spawns and joins; spawns, exits and joins add no class.

use raddle_model::{Plan, PointSet, Tail};
use raddle_toy::Instr::{Add, JumpIf, Let, Load, Read, Store, Write};
use raddle_toy::{Graph, Instr, Object, Program, Val, for_each_run};
use std::collections::BTreeSet;

/// The number of classes, by fingerprint; the plain graphs must agree.
fn classes(objects: Vec<Object>, tasks: Vec<Vec<Instr>>) -> usize {
    let program = Program::flat(objects, tasks);
    let plan = Plan { points: PointSet::everything(), ..Plan::new(0, Tail::Stay) };
    let (mut fingerprints, mut graphs) = (BTreeSet::new(), BTreeSet::new());
    let complete = for_each_run(&program, &plan, 2_000_000, |run| {
        // A graph costs far more than a run: one for each class is enough here.
        if fingerprints.insert(run.fingerprint) {
            graphs.insert(Graph::of(&run.trace));
        }
    });
    assert!(complete, "the program is too large to be enumerated");
    assert_eq!(fingerprints.len(), graphs.len());
    fingerprints.len()
}

const ONE: Val = Val::Const(1);

#[test]
fn readers_and_one_writer() {
    for readers in 1..=3 {
        let mut tasks = vec![vec![Load(0, 0)]; readers];
        tasks.push(vec![Store(0, ONE)]);
        assert_eq!(classes(vec![Object::Atomic(0)], tasks), 1 << readers, "{readers} readers");
    }
}

#[test]
fn the_last_zero_of_an_array() {
    for n in 2..=3 {
        // Task 0 reads a[n], a[n-1], … until it finds a zero; task i does a[i] = a[i-1] + 1.
        let reads = (0..=n).rev().flat_map(|i| [Load(i, 0), JumpIf(0, 0, 2 * n + 2)]);
        let writer = |i: usize| vec![Load(i - 1, 0), Let(0, Val::Reg(0), ONE), Store(i, Val::Reg(0))];
        let tasks = core::iter::once(reads.collect()).chain((1..=n).map(writer)).collect();
        let expected = (n + 3) << (n - 2);
        assert_eq!(classes(vec![Object::Atomic(0); n + 1], tasks), expected, "n = {n}");
    }
}

#[test]
fn atomic_increments() {
    for (tasks, factorial) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
        let increments = vec![vec![Add(0, ONE, 0)]; tasks];
        assert_eq!(classes(vec![Object::Atomic(0)], increments), factorial, "{tasks} tasks");
    }
}

#[test]
fn store_buffering() {
    let tasks = vec![vec![Store(0, ONE), Load(1, 0)], vec![Store(1, ONE), Load(0, 0)]];
    assert_eq!(classes(vec![Object::Atomic(0); 2], tasks), 3);
}

#[test]
fn increments_in_two_parts() {
    let atomic = vec![Load(0, 0), Let(0, Val::Reg(0), ONE), Store(0, Val::Reg(0))];
    let plain = vec![Read(0, 0), Let(0, Val::Reg(0), ONE), Write(0, Val::Reg(0))];
    for (tasks, expected) in [(2, 4), (3, 36)] {
        assert_eq!(classes(vec![Object::Atomic(0)], vec![atomic.clone(); tasks]), expected);
        assert_eq!(classes(vec![Object::Cell(0)], vec![plain.clone(); tasks]), expected);
    }
}
