//! `rapos`: who is made during a run sleeps until something that conflicts with it has run, or until nobody else is
//! schedulable (§3.4 of the paper); but not in every run, or theorem 1 would be lost.

use crate::support::{Ratio, for_each_draw};
use raddle_model::{Kind, Plan, Tail, TaskId};
use raddle_policy::rapos::{EARLY_ONE_IN, Rapos};
use raddle_toy::{Instr, Object, Program, ToyRun, Val};

const BEFORE: usize = 0;
const SHARED: usize = 1;
const ALONE: usize = 2;

fn store(object: usize) -> Instr {
    Instr::Store(object, Val::Const(1))
}

/// Main does something, makes two tasks, and does what `main` says; each of the tasks stores to what it shares.
fn program(main: &[Instr]) -> Program {
    let begin = [store(BEFORE), Instr::Spawn(1), Instr::Spawn(2)];
    let end = [Instr::Join(1), Instr::Join(2)];
    let main = [&begin[..], main, &end[..]].concat();
    Program {
        objects: vec![Object::Atomic(0); 3],
        tasks: vec![main, vec![store(SHARED)], vec![store(SHARED)]],
    }
}

/// The probability of the runs of which `which` holds.
fn probability(program: &Program, which: impl Fn(&ToyRun) -> bool) -> Ratio {
    let mut sum = Ratio::ZERO;
    for_each_draw(program, &Plan::new(0, Tail::Stay), Rapos::new, |run, p| {
        if which(run) {
            sum = sum.plus(p);
        }
    });
    sum
}

/// The tasks in the order of their stores, without main's first.
fn order(run: &ToyRun) -> Vec<TaskId> {
    let stores = run.trace.events.iter().filter(|event| event.op.kind == Kind::Store);
    stores.skip(1).map(|event| event.task).collect()
}

const MAIN: TaskId = TaskId(0);

/// Main's own store comes first in all runs but those in which new tasks do not sleep: there it is one of three that
/// conflict, and each is as likely to be the first.
#[test]
fn a_new_task_can_come_before_what_its_maker_does_next() {
    let found = probability(&program(&[store(SHARED)]), |run| order(run)[0] != MAIN);
    assert_eq!(found, Ratio::new(2, 3 * u128::from(EARLY_ONE_IN)));
}

/// What main does alone wakes nobody. When main waits for them, one of the two is as likely to begin as the other.
#[test]
fn new_tasks_wait_for_their_maker_and_then_are_equal() {
    let program = program(&[store(ALONE), store(ALONE)]);
    let all_runs = probability(&program, |_| true);
    assert_eq!(all_runs, Ratio::ONE);
    let waited = probability(&program, |run| order(run)[..2] == [MAIN, MAIN]);
    assert!(waited.at_least(Ratio::new(u128::from(EARLY_ONE_IN) - 1, EARLY_ONE_IN.into())), "{waited:?}");
    let then = |task| probability(&program, move |run| order(run)[..3] == [MAIN, MAIN, TaskId(task)]);
    assert_eq!(then(1), then(2));
}
