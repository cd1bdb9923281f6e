//! `walks` where tasks wait for notifications: how often each gets at the monitor differs from run to run, so what one
//! run had left says nothing. Each task's first access is learned, and after that all who stand there are alike.

use crate::support::{Ratio, for_each_draw};
use raddle_model::{Kind, Plan, Tail, TaskId};
use raddle_policy::walks::Walks;
use raddle_policy::weights;
use raddle_toy::{How, Instr, Object, Program, ToyRun, enumerate};

const MUTEX: usize = 0;
const CONDVAR: usize = 1;

/// Two tasks that enter a monitor twice and once; the second time the first one waits, if the other is yet to come.
fn program() -> Program {
    let lock = Instr::Lock(MUTEX, How::Block, 0);
    let section = [lock, Instr::Unlock(MUTEX)];
    let wait = [lock, Instr::Wait(CONDVAR, MUTEX, How::Timed(1), 0), Instr::Unlock(MUTEX)];
    let notify = [lock, Instr::NotifyOne(CONDVAR), Instr::Unlock(MUTEX)];
    let tasks = vec![[&section[..], &wait[..]].concat(), notify.to_vec()];
    Program::flat(vec![Object::Mutex, Object::Condvar], tasks)
}

fn first_in(run: &ToyRun) -> Option<TaskId> {
    run.trace.events.iter().find(|event| event.op.kind == Kind::Lock).map(|event| event.task)
}

#[test]
fn only_the_first_access_of_each_task_is_learned() {
    let plan = Plan::new(1, Tail::Random);
    let runs = enumerate(&program(), &plan, 10_000).expect("a small program");
    assert!(!runs.is_empty());
    for run in runs {
        let learned = weights::learn(&run.trace, &plan.points);
        let accesses: Vec<usize> = learned.tasks.iter().map(|task| task.accesses.len()).collect();
        assert_eq!(accesses, [1, 1], "{:?}", run.trace);
    }
}

/// The first task has most accesses, but nobody is more likely than another to be the first.
#[test]
fn who_stands_there_is_drawn_alike() {
    let plan = Plan::new(1, Tail::Random);
    let learned = weights::learn(&raddle_toy::run(&program(), &plan).trace, &plan.points);
    let mut first = Ratio::ZERO;
    for_each_draw(
        &program(),
        &plan,
        |dice| Walks::new(dice, learned.clone()),
        |run, probability| {
            if first_in(run) == Some(TaskId(1)) {
                first = first.plus(probability);
            }
        },
    );
    assert_eq!(first, Ratio::new(1, 2));
}
