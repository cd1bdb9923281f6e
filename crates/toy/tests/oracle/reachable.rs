//! What must be possible is possible. The enumeration is the oracle of everything else, so an
//! outcome that the engine never offers would be missed by all: these are the choices that each kind
//! of object leaves open, one by one.

use crate::common::{all, everywhere, observed};
use raddle_model::{Kind, Outcome, Plan, TaskId, Verdict};
use raddle_toy::How::{Block, Timed, Try};
use raddle_toy::Instr::*;
use raddle_toy::status::{CLOSED, DONE, FAILED};
use raddle_toy::{Instr, Object, Program, Val};
use std::collections::BTreeSet;

fn orders(program: &Program, bodies: &[usize]) -> BTreeSet<Vec<u64>> {
    let finished = all(program, &everywhere()).into_iter().filter(|run| run.verdict == Verdict::Finished);
    let last = |observed: &Option<Vec<u64>>| *observed.as_ref().expect("it ran").last().expect("it observed");
    finished.map(|run| bodies.iter().map(|&body| last(&run.finals.observed[body])).collect()).collect()
}

/// Each task takes a number under the protection of `enter` and `leave`: every order must occur.
fn every_order(objects: Vec<Object>, enter: Instr, leave: Option<Instr>) {
    let code: Vec<Instr> =
        [Some(enter), Some(Add(0, Val::Const(1), 1)), leave].into_iter().flatten().collect();
    let objects: Vec<Object> = [Object::Atomic(0)].into_iter().chain(objects).collect();
    let program = Program::flat(objects, vec![code; 3]);
    let expected: BTreeSet<Vec<u64>> =
        [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(Vec::from).into();
    assert_eq!(orders(&program, &[1, 2, 3]), expected, "{enter:?}");
}

#[test]
fn whoever_waits_may_be_next() {
    every_order(vec![Object::Mutex], Lock(1, Block, 0), Some(Unlock(1)));
    every_order(vec![Object::Recursive], Lock(1, Block, 0), Some(Unlock(1)));
    every_order(vec![Object::RwLock], WriteLock(1, Block, 0), Some(WriteUnlock(1)));
    every_order(vec![Object::Semaphore(1)], Acquire(1, 1, Block, 0), Some(Release(1, 1)));
    every_order(vec![], Yield, None);
}

#[test]
fn a_lock_prefers_neither_readers_nor_writers() {
    let reader = vec![ReadLock(1, Block, 0), Load(0, 0), ReadUnlock(1)];
    let writer = vec![WriteLock(1, Block, 0), Store(0, Val::Const(1)), WriteUnlock(1)];
    let program =
        Program::flat(vec![Object::Atomic(0), Object::RwLock], vec![reader.clone(), writer, reader]);
    let expected: BTreeSet<Vec<u64>> = [[0, 0], [0, 1], [1, 0], [1, 1]].map(Vec::from).into();
    assert_eq!(orders(&program, &[1, 3]), expected);
    // Readers are in together: one is inside while the other comes and goes.
    let overlap = all(&program, &everywhere()).iter().any(|run| {
        let kinds: Vec<Kind> = run.trace.events.iter().map(|event| event.op.kind).collect();
        kinds.windows(2).any(|pair| pair == [Kind::ReadLock, Kind::ReadLock])
    });
    assert!(overlap);
}

#[test]
fn a_notification_may_wake_any_waiter() {
    let waiter = vec![Lock(0, Block, 0), Wait(1, 0, Block, 0), Unlock(0)];
    let program =
        Program::flat(vec![Object::Mutex, Object::Condvar], vec![waiter.clone(), waiter, vec![NotifyOne(1)]]);
    let mut woken = BTreeSet::new();
    for run in all(&program, &everywhere()) {
        let waits = run.trace.events.iter().take_while(|event| event.op.kind != Kind::NotifyOne);
        let order: Vec<TaskId> =
            waits.filter(|event| event.op.kind == Kind::Wait).map(|event| event.task).collect();
        let outcome = run.trace.events.iter().find(|event| event.op.kind == Kind::NotifyOne);
        match outcome.map(|event| event.outcome) {
            Some(Outcome::Woke(task)) => {
                woken.insert((order, task));
            }
            Some(outcome) => assert!(order.is_empty() && outcome == Outcome::Done),
            None => {}
        }
    }
    let [one, two] = [TaskId(1), TaskId(2)];
    let both = |order: [TaskId; 2]| order.map(|task| (order.to_vec(), task));
    let alone = [(vec![one], one), (vec![two], two)];
    let expected: BTreeSet<_> = both([one, two]).into_iter().chain(both([two, one])).chain(alone).collect();
    assert_eq!(woken, expected);
}

#[test]
fn a_wait_may_end_by_itself_only_where_that_is_asked_for() {
    let waiter = vec![Lock(0, Block, 0), Wait(1, 0, Block, 0), Wait(1, 0, Block, 0), Unlock(0)];
    let program = Program::flat(vec![Object::Mutex, Object::Condvar], vec![waiter]);
    let spurious = |spurious_max: u32| {
        let runs = all(&program, &Plan { spurious_max, ..everywhere() });
        let count = |run: &raddle_toy::ToyRun| {
            run.trace.events.iter().filter(|event| event.outcome == Outcome::Spurious).count()
        };
        (runs.iter().map(count).max(), runs.iter().any(|run| run.verdict == Verdict::Finished))
    };
    assert_eq!(spurious(0), (Some(0), false));
    assert_eq!(spurious(1), (Some(1), false));
    assert_eq!(spurious(2), (Some(2), true));
}

#[test]
fn every_value_is_chosen() {
    let program = Program { objects: vec![], tasks: vec![vec![Choose(3, 0), Choose(1, 0), Choose(2, 0)]] };
    let expected = (0..3).flat_map(|a| (0..2).map(move |b| vec![a, 0, b])).collect();
    assert_eq!(observed(&program, &everywhere(), 0), expected);
}

#[test]
fn anybody_may_be_the_last_at_a_barrier_and_the_first_at_a_once() {
    let program = Program::flat(vec![Object::Barrier(2)], vec![vec![Barrier(0, 0)]; 2]);
    assert_eq!(orders(&program, &[1, 2]), [[0, 1], [1, 0]].map(Vec::from).into());
    let once = vec![OnceEnter(0, 0), JumpIf(0, 1, 3), OnceDone(0, true)];
    let program = Program::flat(vec![Object::Once], vec![once; 2]);
    assert_eq!(orders(&program, &[1, 2]), [[0, 1], [1, 0]].map(Vec::from).into());
    // A once that was given up is for the next, and nobody gets past it while it runs.
    let gives_up = vec![OnceEnter(0, 0), JumpIf(0, 1, 3), OnceDone(0, false)];
    let program = Program::flat(vec![Object::Once], vec![gives_up; 2]);
    assert_eq!(orders(&program, &[1, 2]), [[0, 0]].map(Vec::from).into());
}

/// Two send a message each, the third receives twice.
fn received(capacity: Option<u32>) -> BTreeSet<Vec<u64>> {
    let sender = |value| vec![Send(0, Val::Const(value), Block, 0), DropSender(0)];
    let receiver = vec![Recv(0, Block, 0, 1), Recv(0, Block, 0, 1), Recv(0, Block, 0, 1)];
    let objects = vec![Object::Channel { capacity, senders: 2 }];
    observed(&Program::flat(objects, vec![sender(7), sender(8), receiver]), &everywhere(), 3)
}

#[test]
fn messages_come_in_any_order_of_sends_and_the_end_comes_last() {
    let expected: BTreeSet<Vec<u64>> =
        [[DONE, 7, DONE, 8, CLOSED], [DONE, 8, DONE, 7, CLOSED]].map(Vec::from).into();
    for capacity in [None, Some(0), Some(1), Some(2)] {
        assert_eq!(received(capacity), expected, "{capacity:?}");
    }
}

#[test]
fn a_full_channel_an_empty_one_and_a_closed_one() {
    let objects = |capacity| vec![Object::Channel { capacity, senders: 1 }];
    let tries = |capacity, receiver: Vec<Instr>| {
        observed(
            &Program::flat(objects(capacity), vec![vec![Send(0, Val::Const(7), Try, 0)], receiver]),
            &everywhere(),
            1,
        )
    };
    let set = |statuses: &[u64]| statuses.iter().map(|&status| vec![status]).collect::<BTreeSet<_>>();
    assert_eq!(tries(None, vec![]), set(&[DONE]));
    assert_eq!(tries(Some(1), vec![]), set(&[DONE]));
    assert_eq!(tries(Some(1), vec![DropReceiver(0)]), set(&[DONE, CLOSED]));
    // A rendezvous takes a message at once only if a receiver stands there.
    assert_eq!(tries(Some(0), vec![]), set(&[FAILED]));
    assert_eq!(tries(Some(0), vec![Recv(0, Try, 0, 1)]), set(&[FAILED]));
    assert_eq!(tries(Some(0), vec![Recv(0, Timed(5), 0, 1)]), set(&[DONE, FAILED]));
}

#[test]
fn a_token_is_kept_and_counted_once() {
    let program =
        Program::flat(vec![], vec![vec![Park(Block, 0), Park(Timed(5), 0)], vec![Unpark(1), Unpark(1)]]);
    let expected = BTreeSet::from([vec![DONE, DONE], vec![DONE, raddle_toy::status::TIMED_OUT]]);
    assert_eq!(observed(&program, &everywhere(), 1), expected);
}

#[test]
fn a_task_is_seen_alive_and_finished() {
    let program = Program {
        objects: vec![],
        tasks: vec![vec![Spawn(1), Finished(1, 0), Join(1), Finished(1, 0)], vec![]],
    };
    assert_eq!(observed(&program, &everywhere(), 0), BTreeSet::from([vec![0, 1], vec![1, 1]]));
}
