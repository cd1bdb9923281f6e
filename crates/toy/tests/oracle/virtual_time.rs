//! Virtual time is carried along the edges of the partial order: what a task reads off the clock is
//! the latest moment in its own causal past, plus a nanosecond for each reading. That it is the same
//! for all linearizations of a class is part of the oracle of classes.

use crate::common::{all, everywhere, observed};
use raddle_toy::How::{Block, Timed};
use raddle_toy::Instr::*;
use raddle_toy::{Instr, Object, Program, Val};
use std::collections::BTreeSet;

const ONE: Val = Val::Const(1);

fn single(code: Vec<Instr>) -> Vec<u64> {
    let program = Program { objects: vec![Object::Mutex, Object::Condvar], tasks: vec![code] };
    let observed = observed(&program, &everywhere(), 0);
    assert_eq!(observed.len(), 1);
    observed.into_iter().next().expect("one run")
}

#[test]
fn every_reading_takes_a_nanosecond_and_a_sleep_what_it_says() {
    assert_eq!(single(vec![Now(0), Now(0), Now(0)]), [1, 2, 3]);
    assert_eq!(single(vec![Now(0), Sleep(100), Now(0), Sleep(5), Now(0)]), [1, 102, 108]);
    assert_eq!(single(vec![Park(Timed(50), 1), Now(0)]), [2, 51]);
    let wait = vec![Lock(0, Block, 1), Now(0), Wait(1, 0, Timed(70), 1), Now(0), Unlock(0)];
    assert_eq!(single(wait), [0, 1, 2, 72]);
}

#[test]
fn a_timed_operation_that_succeeds_takes_no_time() {
    assert_eq!(single(vec![Lock(0, Timed(50), 1), Now(0)]), [0, 1]);
}

#[test]
fn a_child_begins_when_it_is_spawned_and_a_join_ends_after_it() {
    let program = Program {
        objects: vec![],
        tasks: vec![vec![Sleep(10), Spawn(1), Join(1), Now(0)], vec![Now(0), Sleep(20), Now(0)]],
    };
    assert_eq!(observed(&program, &everywhere(), 1), BTreeSet::from([vec![11, 32]]));
    assert_eq!(observed(&program, &everywhere(), 0), BTreeSet::from([vec![33]]));
}

#[test]
fn tasks_that_do_not_meet_know_nothing_of_each_others_time() {
    let program = Program::flat(
        vec![Object::Atomic(0); 2],
        vec![vec![Sleep(1_000), Store(0, ONE)], vec![Store(1, ONE), Now(0)]],
    );
    assert_eq!(observed(&program, &everywhere(), 2), BTreeSet::from([vec![1]]));
}

#[test]
fn time_comes_with_what_is_read_and_never_goes_back() {
    let program = Program::flat(
        vec![Object::Atomic(0)],
        vec![vec![Sleep(1_000), Store(0, ONE)], vec![Now(1), Load(0, 0), Now(1)]],
    );
    let seen = observed(&program, &everywhere(), 2);
    assert_eq!(seen, BTreeSet::from([vec![1, 0, 2], vec![1, 1, 1001]]), "the value and the time go together");
}

#[test]
fn reads_do_not_carry_time_to_each_other_but_to_the_next_write() {
    let program = Program::flat(
        vec![Object::Atomic(0)],
        vec![vec![Sleep(1_000), Load(0, 0)], vec![Load(0, 0), Now(1)], vec![Store(0, ONE), Now(1)]],
    );
    for run in all(&program, &everywhere()) {
        let reader = run.finals.observed[2].as_ref().expect("it ran");
        let late_read_first = run.finals.observed[1].as_ref().expect("it ran")[0] == 0;
        let writer = run.finals.observed[3].as_ref().expect("it ran")[0];
        assert_eq!(writer, if late_read_first { 1001 } else { 1 });
        assert_eq!(reader[1], if reader[0] == 1 { writer } else { 1 });
    }
}

#[test]
fn time_passes_through_locks_channels_tokens_and_barriers() {
    let channel = Object::Channel { capacity: None, senders: 1 };
    let objects = vec![Object::Mutex, channel, Object::Barrier(2), Object::Semaphore(0), Object::Once];
    let pairs: [(Vec<Instr>, Vec<Instr>); 4] = [
        (vec![Send(1, ONE, Block, 1)], vec![Recv(1, Block, 1, 2)]),
        (vec![Unpark(2)], vec![Park(Block, 1)]),
        (vec![Barrier(2, 1)], vec![Barrier(2, 1)]),
        (vec![Release(3, 1)], vec![Acquire(3, 1, Block, 1)]),
    ];
    for (early, late) in pairs {
        let early = [vec![Sleep(500)], early].concat();
        let late = [late, vec![Now(0)]].concat();
        let program = Program::flat(objects.clone(), vec![early.clone(), late]);
        for observed in observed(&program, &everywhere(), 2) {
            assert_eq!(observed.last(), Some(&501), "{early:?}");
        }
    }
}
