//! The stories that the golden texts tell.

use crate::script::Script;
use raddle_model::objects::barrier::Barrier;
use raddle_model::objects::channel::Channel;
use raddle_model::objects::rwlock::RwLock;
use raddle_model::objects::{State, mutex::Mutex};
use raddle_model::{FailureKind, Kind, Mode, ObjectId, Op, Order, TaskId};
use raddle_report::Story;

const MAIN: TaskId = TaskId::MAIN;

/// Two tasks take two mutexes in opposite orders.
pub(crate) fn deadlock() -> Story {
    let mut run = Script::new();
    let a = run.spawn(MAIN, 30);
    run.name(a, "payer");
    let b = run.spawn(MAIN, 31);
    let left = run.object(State::Mutex(Mutex::default()), 12);
    let right = run.object(State::Mutex(Mutex::default()), 20);
    run.go(a, Kind::Lock, left, 12);
    run.go(b, Kind::Lock, right, 20);
    run.about(a, Kind::Lock, right, 13);
    run.about(b, Kind::Lock, left, 21);
    let joined = run.task(a);
    run.about(MAIN, Kind::Join, joined, 33);
    let message = format!(
        "main/0 waits for mutex {right:?} held by main/1; main/1 waits for mutex {left:?} held by main/0"
    );
    run.fails(FailureKind::Deadlock, &message, &[a, b], &[13, 21])
}

/// One task waits for two files that nobody writes to, another for being unparked.
pub(crate) fn files() -> Story {
    let mut run = Script::new();
    let a = run.spawn(MAIN, 30);
    let b = run.spawn(MAIN, 31);
    let [left, right, other] = [12, 12, 14].map(|line| run.object(State::Kernel("file"), line));
    run.go(a, Kind::Rmw, other, 14);
    let site = run.site(12);
    run.op(a, Op::new(Kind::Rmw, left, site).second(right));
    run.go(b, Kind::Rmw, other, 20);
    let token = run.token(a);
    run.go(b, Kind::Unpark, token, 20);
    // In vain: it waits for the same again.
    run.go(a, Kind::Park, token, 12);
    run.about(a, Kind::Park, token, 12);
    let token = run.token(b);
    run.about(b, Kind::Park, token, 21);
    let joined = run.task(a);
    run.about(MAIN, Kind::Join, joined, 33);
    let message = "main waits for main/0 to exit; main/0 is parked and nobody unparks it; \
                   main/1 is parked and nobody unparks it";
    run.fails(FailureKind::Deadlock, message, &[MAIN, a, b], &[33, 12, 21])
}

/// Calls on files: which one, and what the file is, has not always been told.
pub(crate) fn calls() -> Story {
    const READ: usize = 0;
    const WRITE: usize = 1;
    const ACCEPT: usize = 288;
    let mut run = Script::new();
    let a = run.spawn(MAIN, 30);
    let [pipe, socket, file] = [("pipe", 12), ("socket", 13), ("file", 14)]
        .map(|(noun, line)| run.object(State::Kernel(noun), line));
    for (task, number, object, line) in
        [(a, WRITE, pipe, 12), (MAIN, READ, pipe, 20), (a, ACCEPT, socket, 13)]
    {
        let site = run.site(line);
        run.op(task, Op::new(Kind::Rmw, object, site).arg(raddle_model::call::told(number)));
    }
    run.go(MAIN, Kind::Rmw, file, 21);
    run.fails(FailureKind::Assertion, "assertion `false` failed", &[MAIN], &[21])
}

/// Both tasks read before either writes; main finds one increment missing.
pub(crate) fn lost_update() -> Story {
    let mut run = Script::new();
    let counter = run.object(State::Atomic, 5);
    let a = run.spawn(MAIN, 8);
    let b = run.spawn(MAIN, 8);
    for task in [a, b] {
        let site = run.site(5);
        run.op(task, Op::new(Kind::Load, counter, site).order(Order::Relaxed));
    }
    for task in [a, b] {
        run.go(task, Kind::Store, counter, 6);
        let own = run.task(task);
        run.go(task, Kind::Exit, own, 8);
    }
    for task in [a, b] {
        let own = run.task(task);
        run.go(MAIN, Kind::Join, own, 10);
    }
    run.go(MAIN, Kind::Load, counter, 11);
    let message = "assertion `left == right` failed\n  left: 1\n right: 2";
    run.fails(FailureKind::Assertion, message, &[MAIN], &[11])
}

/// A notification that comes before the wait, with a timed wait, a spurious-free wake-up and a
/// chosen waiter on the way.
pub(crate) fn condvar() -> Story {
    let mut run = Script::new();
    let mutex = run.object(State::Mutex(Mutex::default()), 4);
    let ready = run.object(State::Condvar(Default::default()), 6);
    let tasks = [run.spawn(MAIN, 20), run.spawn(MAIN, 20), run.spawn(MAIN, 21)];
    let site = run.site(6);
    let wait = Op::new(Kind::Wait, ready, site).second(mutex);
    let wake = Op::new(Kind::Wake, ready, site).second(mutex);
    for task in &tasks[..2] {
        run.go(*task, Kind::Lock, mutex, 4);
        run.op(*task, wait);
    }
    let notify = Op::new(Kind::NotifyOne, ready, site);
    run.go(MAIN, Kind::Lock, mutex, 23);
    run.picking(MAIN, notify, 1);
    run.go(MAIN, Kind::Unlock, mutex, 24);
    run.op(tasks[1], wake);
    run.go(tasks[1], Kind::Unlock, mutex, 7);
    let third = run.site(15);
    let choose = Op::new(Kind::Choose, ObjectId::NONE, third).arg(5);
    run.picking(tasks[2], choose, 3);
    let try_lock = Op::new(Kind::Lock, mutex, third).mode(Mode::Try);
    run.op(tasks[2], try_lock);
    let timed = Op::new(Kind::Wait, ready, third).second(mutex);
    run.op(tasks[2], timed);
    let timed = Op::new(Kind::Wake, ready, third).second(mutex);
    run.op(tasks[2], timed.mode(Mode::Timed).arg(10_000_000));
    let sleep = Op::new(Kind::Sleep, ObjectId::NONE, third).arg(1_000);
    run.op(tasks[2], sleep);
    run.go(tasks[2], Kind::NotifyAll, ready, 16);
    for task in &tasks[1..] {
        let own = run.task(*task);
        if *task == tasks[2] {
            run.go(*task, Kind::Unlock, mutex, 17);
        }
        run.go(*task, Kind::Exit, own, 20);
    }
    run.op(tasks[0], wake);
    run.op(tasks[0], wait);
    run.about_op(tasks[0], wake);
    let own = run.task(tasks[0]);
    run.about(MAIN, Kind::Join, own, 26);
    let message =
        format!("main waits for main/0 to exit; main/0 waits for condvar {ready:?} and nobody notifies it");
    run.fails(FailureKind::Deadlock, &message, &[MAIN, tasks[0]], &[26, 6])
}

/// Five tasks in two files, with a channel, a barrier and a readers-writer lock.
pub(crate) fn five() -> Story {
    let mut run = Script::new();
    let table = run.object(State::RwLock(RwLock::default()), 1_040);
    let queue = run.object(State::Channel(Channel::new(Some(1))), 1_060);
    let gate = run.object(State::Barrier(Barrier::new(3)), 70);
    let tasks: Vec<TaskId> = (0..4).map(|line| run.spawn(MAIN, 100 + line)).collect();
    run.name(tasks[0], "leser-日本");
    run.name(tasks[3], "writer of all the tables there are");
    run.go(tasks[0], Kind::ReadLock, table, 1_040);
    run.go(tasks[1], Kind::ReadLock, table, 1_041);
    run.go(tasks[2], Kind::Send, queue, 1_060);
    run.go(tasks[2], Kind::Arrive, gate, 70);
    run.go(tasks[0], Kind::Arrive, gate, 71);
    let site = run.site(1_062);
    run.op(tasks[3], Op::new(Kind::Recv, queue, site).mode(Mode::Timed).arg(2_000_000));
    run.op(tasks[3], Op::new(Kind::WriteLock, table, site).mode(Mode::Try));
    run.go(tasks[1], Kind::ReadUnlock, table, 1_043);
    run.about(tasks[0], Kind::Leave, gate, 71);
    run.about(tasks[1], Kind::Recv, queue, 1_061);
    run.about(tasks[2], Kind::Leave, gate, 70);
    run.about(tasks[3], Kind::WriteLock, table, 1_042);
    let own = run.task(tasks[0]);
    run.about(MAIN, Kind::Join, own, 105);
    let all = [MAIN, tasks[0], tasks[1], tasks[2], tasks[3]];
    let message = "main waits for main/0 to exit; main/0 waits for barrier and not enough tasks arrive";
    run.fails(FailureKind::Deadlock, message, &all, &[105, 71, 1_061, 70, 1_042])
}

/// Two plain accesses that nothing orders.
pub(crate) fn race() -> Story {
    let mut run = Script::new();
    let cell = run.object(State::Cell, 5);
    let a = run.spawn(MAIN, 8);
    run.go(a, Kind::CellWrite, cell, 5);
    run.go(MAIN, Kind::CellRead, cell, 9);
    let own = run.task(a);
    run.go(a, Kind::Exit, own, 8);
    let message = format!("cell {cell:?} is written and read without order");
    run.fails(FailureKind::Race, &message, &[a, MAIN], &[5, 9])
}

/// Two plain accesses that are no scheduling points, told at places where there are others: of an atomic, and of another cell
/// for which nobody races.
pub(crate) fn race_without_events() -> Story {
    let mut run = Script::new();
    let atomic = run.object(State::Atomic, 5);
    let [mine, theirs] = [5, 9].map(|line| run.object(State::Cell, line));
    let a = run.spawn(MAIN, 8);
    run.go(a, Kind::Rmw, atomic, 5);
    run.go(a, Kind::CellWrite, mine, 5);
    run.go(MAIN, Kind::CellRead, theirs, 9);
    run.go(MAIN, Kind::Rmw, atomic, 9);
    let own = run.task(a);
    run.go(a, Kind::Exit, own, 8);
    run.fails(FailureKind::Race, "main/0 writes `there`, then main reads it", &[], &[5, 9])
}

/// Ten thousand events of three tasks, the first of which keeps a mutex from the start.
pub(crate) fn long() -> Story {
    let mut run = Script::new();
    let tasks = [run.spawn(MAIN, 30), run.spawn(MAIN, 31), run.spawn(MAIN, 32)];
    let early = run.object(State::Mutex(Mutex::default()), 12);
    let late = run.object(State::Mutex(Mutex::default()), 20);
    let counter = run.object(State::Atomic, 40);
    run.go(tasks[0], Kind::Lock, early, 12);
    for round in 0..9_980u32 {
        let task = tasks[(round / 10 % 3) as usize];
        run.go(task, Kind::Rmw, counter, 40 + round % 3);
    }
    run.go(tasks[1], Kind::Lock, late, 20);
    run.go(tasks[2], Kind::Rmw, counter, 40);
    run.about(tasks[0], Kind::Lock, late, 13);
    run.about(tasks[1], Kind::Lock, early, 21);
    run.about(tasks[2], Kind::Rmw, counter, 41);
    let own = run.task(tasks[0]);
    run.about(MAIN, Kind::Join, own, 35);
    let message = format!(
        "main/0 waits for mutex {late:?} held by main/1; main/1 waits for mutex {early:?} held by main/0"
    );
    run.fails(FailureKind::Deadlock, &message, &tasks[..2], &[13, 21])
}

/// Thirty tasks, most of which have nothing to do with it.
pub(crate) fn many() -> Story {
    let mut run = Script::new();
    let lock = run.object(State::Mutex(Mutex::default()), 12);
    let tasks: Vec<TaskId> = (0..29).map(|_| run.spawn(MAIN, 30)).collect();
    run.go(tasks[7], Kind::Lock, lock, 12);
    for task in &tasks[10..20] {
        run.go(*task, Kind::Yield, ObjectId::NONE, 14);
    }
    run.about(tasks[7], Kind::Lock, lock, 13);
    for task in tasks.iter().filter(|task| **task != tasks[7]) {
        run.about(*task, Kind::Yield, ObjectId::NONE, 14);
    }
    let own = run.task(tasks[0]);
    run.about(MAIN, Kind::Join, own, 35);
    let message = format!("main/7 waits for mutex {lock:?} held by main/7 and holds it itself");
    run.fails(FailureKind::Deadlock, &message, &[tasks[7]], &[13])
}
