//! Timed operations: always enabled; run while the object can be had, they succeed; run while it
//! cannot, they time out. Under lazy time they time out only when nobody else can run, the earliest
//! deadline first.

use crate::common::{everywhere, observed};
use raddle_model::{Plan, TimeMode};
use raddle_toy::How::{Block, Timed, Try};
use raddle_toy::Instr::*;
use raddle_toy::status::{DONE, TIMED_OUT};
use raddle_toy::{Instr, Object, Program, Val};
use std::collections::BTreeSet;

const R: usize = 0;

/// One timed operation on object 0, with what another task does to take the object away for a while
/// and to give it back.
struct Example {
    name: &'static str,
    objects: Vec<Object>,
    timed: Vec<Instr>,
    take: Vec<Instr>,
    give: Vec<Instr>,
}

fn examples() -> Vec<Example> {
    let channel = |capacity, senders| Object::Channel { capacity, senders };
    let lock = |take, give, timed| (vec![take], vec![give], vec![timed]);
    let mut all = Vec::new();
    let mut add = |name, objects, (take, give, timed): (Vec<Instr>, Vec<Instr>, Vec<Instr>)| {
        all.push(Example { name, objects, timed, take, give });
    };
    let timed = Timed(5);
    add("mutex", vec![Object::Mutex], lock(Lock(0, Block, 1), Unlock(0), Lock(0, timed, R)));
    add("recursive", vec![Object::Recursive], lock(Lock(0, Block, 1), Unlock(0), Lock(0, timed, R)));
    add("read", vec![Object::RwLock], lock(WriteLock(0, Block, 1), WriteUnlock(0), ReadLock(0, timed, R)));
    add("write", vec![Object::RwLock], lock(ReadLock(0, Block, 1), ReadUnlock(0), WriteLock(0, timed, R)));
    add(
        "semaphore",
        vec![Object::Semaphore(1)],
        lock(Acquire(0, 1, Block, 1), Release(0, 1), Acquire(0, 1, timed, R)),
    );
    // Nothing has to be taken away: what is waited for is not there at the start.
    add(
        "recv",
        vec![channel(None, 1)],
        (vec![], vec![Send(0, Val::Const(7), Block, 1)], vec![Recv(0, timed, R, 2)]),
    );
    add(
        "rendezvous",
        vec![channel(Some(0), 1)],
        (vec![], vec![Send(0, Val::Const(7), Try, 1)], vec![Recv(0, timed, R, 2)]),
    );
    add(
        "send",
        vec![channel(Some(1), 2)],
        (
            vec![Send(0, Val::Const(1), Block, 1)],
            vec![Recv(0, Block, 1, 2)],
            vec![Send(0, Val::Const(7), timed, R)],
        ),
    );
    add("park", vec![], (vec![], vec![Unpark(1)], vec![Park(timed, R)]));
    let wait = vec![Lock(1, Block, 1), Wait(0, 1, timed, R), Unlock(1)];
    add("wait", vec![Object::Condvar, Object::Mutex], (vec![], vec![NotifyAll(0)], wait));
    all
}

/// The statuses with which the timed operation of task 1 can end, in runs that finish.
fn statuses(objects: &[Object], timed: &[Instr], other: Vec<Instr>, time: TimeMode) -> BTreeSet<u64> {
    let program = Program::flat(objects.to_vec(), vec![timed.to_vec(), other]);
    let plan = Plan { time, ..everywhere() };
    // A task that exits with the lock, or sends to nobody, may leave the other behind; it is not
    // about those runs.
    let statuses = observed(&program, &plan, 1);
    // A wait takes its mutex first, and that is observed too.
    let at = usize::from(timed.len() > 1);
    statuses.into_iter().map(|observed| observed[at]).collect()
}

#[test]
fn a_timed_operation_succeeds_or_times_out_depending_on_when_it_is_run() {
    for Example { name, objects, timed, take, give } in examples() {
        let both = [&take[..], &give].concat();
        assert_eq!(
            statuses(&objects, &timed, both, TimeMode::Any),
            BTreeSet::from([DONE, TIMED_OUT]),
            "{name}"
        );
    }
}

#[test]
fn it_succeeds_while_the_object_can_be_had() {
    for Example { name, objects, timed, take, .. } in examples() {
        if !take.is_empty() {
            assert_eq!(statuses(&objects, &timed, vec![], TimeMode::Any), BTreeSet::from([DONE]), "{name}");
        }
    }
}

#[test]
fn it_times_out_while_the_object_cannot_be_had() {
    for Example { name, objects, timed, take, .. } in examples() {
        // The other takes it before this one begins, and never gives it back.
        let begin = take.iter().copied().chain([Spawn(1), Join(1)]).collect();
        let program = Program { objects, tasks: vec![begin, timed] };
        for time in [TimeMode::Any, TimeMode::Lazy] {
            let statuses = observed(&program, &Plan { time, ..everywhere() }, 1);
            assert!(!statuses.is_empty(), "{name}");
            assert!(statuses.iter().all(|observed| observed.contains(&TIMED_OUT)), "{name}: {statuses:?}");
        }
    }
}

#[test]
fn lazy_time_passes_only_when_nobody_else_can_run() {
    for Example { name, objects, timed, take, give } in examples() {
        let both = [&take[..], &give].concat();
        let statuses = statuses(&objects, &timed, both, TimeMode::Lazy);
        // A notification before the wait is lost, and so is an offer to a receiver that is not there
        // yet: then nobody else is left.
        let lost = ["wait", "rendezvous"].contains(&name);
        let expected = if lost { vec![DONE, TIMED_OUT] } else { vec![DONE] };
        assert!(statuses.iter().eq(&expected), "{name}: {statuses:?}");
    }
}

/// Two sleepers that add a digit each: the order in which they wake.
fn orders(first: u64, second: u64) -> BTreeSet<u64> {
    let sleeper = |nanoseconds, digit| {
        vec![
            Sleep(nanoseconds),
            Load(0, 0),
            Let(1, Val::Reg(0), Val::Reg(0)),
            Let(1, Val::Reg(1), Val::Const(digit)),
            Store(0, Val::Reg(1)),
        ]
    };
    let program = Program::flat(vec![Object::Atomic(0)], vec![sleeper(first, 1), sleeper(second, 2)]);
    let plan = Plan { time: TimeMode::Lazy, ..everywhere() };
    crate::common::all(&program, &plan).into_iter().map(|run| run.finals.memory[0]).collect()
}

#[test]
fn the_earliest_deadline_comes_first_and_equal_ones_in_either_order() {
    assert_eq!(orders(5, 10), BTreeSet::from([4]), "1, then 2 * 1 + 2");
    assert_eq!(orders(10, 5), BTreeSet::from([5]), "2, then 2 * 2 + 1");
    assert!(orders(5, 5).is_superset(&BTreeSet::from([4, 5])), "both orders: {:?}", orders(5, 5));
}

#[test]
fn a_sleeper_is_an_ordinary_task_unless_time_is_lazy() {
    let program = Program::flat(
        vec![Object::Atomic(0)],
        vec![vec![Sleep(1_000_000), Store(0, Val::Const(1))], vec![Load(0, 0), Load(0, 0)]],
    );
    let any = observed(&program, &everywhere(), 2);
    assert_eq!(any, BTreeSet::from([vec![0, 0], vec![0, 1], vec![1, 1]]));
    let lazy = observed(&program, &Plan { time: TimeMode::Lazy, ..everywhere() }, 2);
    assert_eq!(lazy, BTreeSet::from([vec![0, 0]]));
}
