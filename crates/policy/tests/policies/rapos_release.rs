//! `rapos`: giving back a lock is no scheduling point and rides along with the point before it. Whoever that lets
//! go on was not enabled when the set was drawn, and depends on it: it may be in the next set.

use crate::support::{Ratio, for_each_draw};
use raddle_model::{Kind, Plan, Tail};
use raddle_policy::rapos::Rapos;
use raddle_toy::{How, Instr, Object, Program, ToyRun, Val};

const LOCK: usize = 0;
const INSIDE: usize = 1;
const AFTER: usize = 2;

fn program() -> Program {
    let lock = Instr::Lock(LOCK, How::Block, 0);
    let store = |object| Instr::Store(object, Val::Const(1));
    let first = vec![lock, store(INSIDE), Instr::Unlock(LOCK), store(AFTER)];
    let second = vec![lock, Instr::Unlock(LOCK), Instr::Load(AFTER, 0)];
    Program::flat(vec![Object::Mutex, Object::Atomic(0), Object::Atomic(0)], vec![first, second])
}

/// Whether the second task gets the lock from the first, and is past its load before the first goes on.
fn overtakes(run: &ToyRun) -> bool {
    let events = &run.trace.events;
    let at = |kind, task: u32| events.iter().position(|event| event.op.kind == kind && event.task.0 == task);
    let load = events.iter().position(|event| event.op.kind == Kind::Load);
    let store = events.iter().rposition(|event| event.op.kind == Kind::Store);
    at(Kind::Lock, 1) < at(Kind::Lock, 2) && load < store
}

#[test]
fn who_gets_a_lock_back_may_go_on_at_once() {
    let mut probability = Ratio::ZERO;
    for_each_draw(&program(), &Plan::new(0, Tail::Stay), Rapos::new, |run, p| {
        if overtakes(run) {
            probability = probability.plus(p);
        }
    });
    assert_ne!(probability, Ratio::ZERO);
}
