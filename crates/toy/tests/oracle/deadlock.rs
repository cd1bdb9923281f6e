//! Deadlocks: a cycle of owners among untimed waits is reported the moment it closes, even if others
//! can run; and if nobody can run and somebody is alive, each task's wait is named with who could
//! have ended it.

use crate::common::{all, ends, everywhere};
use raddle_model::{Failure, FailureKind, Kind, Plan, TaskId, Verdict};
use raddle_toy::How::{Block, Timed, Try};
use raddle_toy::Instr::*;
use raddle_toy::{Instr, Object, Program, ToyRun, Val};

const ONE: Val = Val::Const(1);

fn lock(mutex: usize) -> Instr {
    Lock(mutex, Block, 0)
}

/// The deadlocks among all runs; every other run must finish.
fn deadlocks(program: &Program) -> Vec<(Failure, ToyRun)> {
    let mut deadlocks = Vec::new();
    for run in all(program, &everywhere()) {
        match run.verdict.clone() {
            Verdict::Finished => {}
            Verdict::Failed(failure) if failure.kind == FailureKind::Deadlock => {
                deadlocks.push((failure, run))
            }
            other => panic!("{other:?}"),
        }
    }
    deadlocks
}

fn nested(first: usize, second: usize) -> Vec<Instr> {
    vec![lock(first), lock(second), Unlock(second), Unlock(first)]
}

#[test]
fn a_cycle_is_reported_at_once_although_others_can_run() {
    let bystander = vec![Store(2, ONE), Store(2, ONE)];
    let tasks = vec![nested(0, 1), nested(1, 0), bystander];
    let program = Program::flat(vec![Object::Mutex, Object::Mutex, Object::Atomic(0)], tasks);
    let found = deadlocks(&program);
    let message = "main/0 waits for mutex o2 held by main/1; main/1 waits for mutex o1 held by main/0";
    let turned = "main/1 waits for mutex o1 held by main/0; main/0 waits for mutex o2 held by main/1";
    assert!(found.iter().all(|(failure, _)| failure.message == message || failure.message == turned));
    assert!(found.iter().all(|(failure, _)| failure.tasks.len() == 2), "only those in the cycle");
    // The bystander had not begun, was at its second store, at its exit, or gone.
    let left = |kind| found.iter().any(|(_, run)| run.trace.pending.iter().any(|(_, op)| op.kind == kind));
    assert!(left(Kind::Store) && left(Kind::Exit));
    for (_, run) in &found {
        let locked = run.trace.events.iter().filter(|event| event.op.kind == Kind::Lock).count();
        assert_eq!(locked, 2, "each has its first lock, and nobody gets another");
    }
}

#[test]
fn three_in_a_ring() {
    let tasks = vec![nested(0, 1), nested(1, 2), nested(2, 0)];
    let plan = Plan { points: Default::default(), ..everywhere() };
    let program = Program::flat(vec![Object::Mutex; 3], tasks);
    let ends = ends(&program, &plan);
    assert!(ends.keys().eq(["deadlock", "finished"]));
    assert!(
        ends["deadlock"].iter().all(|message| message.matches("waits for mutex").count() == 3),
        "{ends:?}"
    );
}

#[test]
fn a_lock_that_its_owner_takes_again() {
    let program = Program { objects: vec![Object::Mutex], tasks: vec![vec![lock(0), lock(0)]] };
    let found = deadlocks(&program);
    assert_eq!(found[0].0.message, "main waits for mutex o1 held by main and holds it itself");
    let program = Program {
        objects: vec![Object::Recursive],
        tasks: vec![vec![lock(0), lock(0), Unlock(0), Unlock(0)]],
    };
    assert!(deadlocks(&program).is_empty());
}

#[test]
fn a_reader_that_wants_to_write() {
    let upgrade = vec![ReadLock(0, Block, 0), WriteLock(0, Block, 0)];
    let program = Program::flat(vec![Object::RwLock], vec![upgrade.clone()]);
    assert!(deadlocks(&program)[0].0.message.contains("main/0 waits for rwlock o1 held by main/0"));
    let program = Program::flat(vec![Object::RwLock], vec![upgrade.clone(), upgrade]);
    let runs = all(&program, &everywhere());
    assert!(runs.iter().all(|run| run.finals.end == "deadlock"), "no run gets through");
}

#[test]
fn a_once_that_enters_itself() {
    let program =
        Program { objects: vec![Object::Once], tasks: vec![vec![OnceEnter(0, 0), OnceEnter(0, 0)]] };
    assert!(deadlocks(&program)[0].0.message.contains("once o1 held by main and holds it itself"));
}

#[test]
fn a_join_of_one_who_waits_for_the_joiner() {
    let main = vec![lock(0), Spawn(1), Join(1), Unlock(0)];
    let spinner = vec![Load(1, 0), JumpIf(0, 0, 0)];
    let tasks = vec![vec![Spawn(2)].into_iter().chain(main).collect(), vec![lock(0), Unlock(0)], spinner];
    let program = Program { objects: vec![Object::Mutex, Object::Atomic(0)], tasks };
    for seed in 0..20 {
        let Verdict::Failed(failure) = raddle_toy::run(&program, &Plan { seed, ..everywhere() }).verdict
        else {
            panic!("it cannot finish")
        };
        // Which of the two closes the cycle depends on who comes last.
        assert!(failure.message.contains("main waits for main/1 to exit"), "{}", failure.message);
        assert!(failure.message.contains("main/1 waits for mutex o1 held by main"), "{}", failure.message);
        assert_eq!(failure.kind, FailureKind::Deadlock, "though somebody spins for ever");
    }
}

/// Who waits at a condition variable needs its mutex to go on, notified or not.
#[test]
fn a_wait_that_holds_another_lock() {
    for how in [Block, Timed(5)] {
        let waiter = vec![lock(0), lock(1), Wait(2, 1, how, 0), Unlock(1), Unlock(0)];
        let taker = vec![lock(1), lock(0), Unlock(0), Unlock(1)];
        let notifier = vec![NotifyAll(2), NotifyAll(2)];
        let objects = vec![Object::Mutex, Object::Mutex, Object::Condvar];
        let program = Program::flat(objects, vec![waiter, taker, notifier]);
        let through_wait = |(failure, run): &(Failure, ToyRun)| {
            let waits = run.trace.pending.iter().any(|(_, op)| op.kind == Kind::Wake);
            waits && !failure.tasks.contains(&TaskId::MAIN)
        };
        let found = deadlocks(&program);
        let cycles: Vec<_> = found.iter().filter(|found| through_wait(found)).collect();
        assert!(!cycles.is_empty(), "{how:?}");
        for (failure, _) in &cycles {
            assert!(
                failure.message.contains("main/0 waits for mutex o2 held by main/1"),
                "{}",
                failure.message
            );
            assert!(
                failure.message.contains("main/1 waits for mutex o1 held by main/0"),
                "{}",
                failure.message
            );
        }
        // At once: there are runs in which the notifier had not even begun.
        let early = |run: &ToyRun| run.trace.pending.iter().any(|(_, op)| op.kind == Kind::NotifyAll);
        assert!(cycles.iter().any(|(_, run)| early(run)), "{how:?}");
    }
}

#[test]
fn a_lost_wake_up_names_every_wait() {
    let waiter = vec![lock(0), Wait(1, 0, Block, 0), Unlock(0)];
    let program = Program::flat(vec![Object::Mutex, Object::Condvar], vec![waiter, vec![NotifyOne(1)]]);
    let found = deadlocks(&program);
    assert!(!found.is_empty());
    for (failure, _) in found {
        let expected = "main waits for main/0 to exit; main/0 waits for condvar o2 and nobody notifies it";
        assert_eq!(failure.message, expected);
    }
}

#[test]
fn nobody_can_run_and_each_wait_is_named() {
    let channel = |capacity| Object::Channel { capacity, senders: 1 };
    let examples: [(Vec<Object>, Vec<Instr>, &str); 7] = [
        (vec![], vec![Park(Block, 0)], "main/0 is parked and nobody unparks it"),
        (
            vec![Object::Semaphore(1)],
            vec![Acquire(0, 2, Block, 0)],
            "semaphore o1 and nobody releases a permit",
        ),
        (vec![Object::Barrier(2)], vec![Barrier(0, 0)], "barrier o1 and not enough tasks arrive"),
        (vec![channel(None)], vec![Recv(0, Block, 0, 1)], "channel o1 and nobody sends"),
        (vec![channel(Some(0))], vec![Send(0, ONE, Block, 0)], "channel o1 and nobody receives"),
        (
            vec![channel(Some(1))],
            vec![Send(0, ONE, Block, 0), Send(0, ONE, Block, 0)],
            "channel o1 and nobody receives",
        ),
        (vec![Object::Mutex], vec![Spawn(2), lock(0), Join(2), lock(0)], "mutex o1"),
    ];
    for (objects, code, expected) in examples {
        let mut program = Program::flat(objects, vec![code]);
        program.tasks.push(vec![]);
        let found = deadlocks(&program);
        assert!(!found.is_empty(), "{program:?}");
        for (failure, _) in found {
            assert!(failure.message.contains(expected), "{} does not say {expected}", failure.message);
        }
    }
}

#[test]
fn a_lock_whose_holder_has_exited() {
    let program = Program::flat(vec![Object::Mutex], vec![vec![lock(0)], vec![lock(0)]]);
    for (failure, _) in deadlocks(&program) {
        assert!(failure.message.contains(", which has exited"), "{}", failure.message);
    }
}

#[test]
fn who_tries_or_waits_for_a_while_is_in_no_deadlock() {
    for how in [Try, Timed(5)] {
        let polite = vec![lock(1), Lock(0, how, 0), JumpUnless(0, 0, 4), Unlock(0), Unlock(1)];
        let program = Program::flat(vec![Object::Mutex; 2], vec![nested(0, 1), polite]);
        assert!(deadlocks(&program).is_empty(), "{how:?}");
    }
}
