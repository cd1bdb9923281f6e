//! A task that is taken out of what it waits for: it waits nowhere else any more, and what it would have been given goes
//! to others.

use raddle_model::objects::State;
use raddle_model::objects::condvar::Condvar;
use raddle_model::objects::mutex::Mutex;
use raddle_model::objects::semaphore::Semaphore;
use raddle_model::{Kind, Mode, ObjectId, Op, Outcome, SiteId, TaskId, World};

fn op(kind: Kind, object: ObjectId) -> Op {
    Op::new(kind, object, SiteId::UNKNOWN)
}

/// Main does something at once.
fn does(world: &mut World, task: TaskId, op: Op) -> Outcome {
    assert!(world.announce(task, op), "it would have to wait: {op:?}");
    world.step(task, 0)
}

fn world() -> (World, [TaskId; 2]) {
    let mut world = World::default();
    world.begin(0);
    let tasks = [(); 2].map(|()| match does(&mut world, TaskId::MAIN, op(Kind::Spawn, ObjectId::NONE)) {
        Outcome::Spawned(task) => task,
        other => panic!("{other:?}"),
    });
    (world, tasks)
}

#[test]
fn a_permit_goes_to_who_still_waits() {
    let (mut world, [first, second]) = world();
    let permits = world.create(State::Semaphore(Semaphore { permits: 0 }), SiteId::UNKNOWN);
    let token = world.create(State::Token(true), SiteId::UNKNOWN);
    for task in [first, second] {
        assert!(!world.announce(task, op(Kind::Acquire, permits).arg(1)));
    }
    assert!(world.amend(first, op(Kind::Park, token)), "the token is there");
    does(&mut world, TaskId::MAIN, op(Kind::Release, permits).arg(1));
    assert_eq!(world.step(first, 0), Outcome::Done);
    assert!(world.enabled_tasks().contains(second));
    assert_eq!(world.step(second, 0), Outcome::Done);
}

#[test]
fn a_notification_goes_to_who_still_waits() {
    let (mut world, [first, second]) = world();
    let mutex = world.create(State::Mutex(Mutex::default()), SiteId::UNKNOWN);
    let condvar = world.create(State::Condvar(Condvar::default()), SiteId::UNKNOWN);
    let wait = |kind: Kind| op(kind, condvar).second(mutex);
    for task in [first, second] {
        does(&mut world, task, op(Kind::Lock, mutex));
        does(&mut world, task, wait(Kind::Wait));
        assert!(!world.announce(task, wait(Kind::Wake)));
    }
    // The first is to leave with its mutex, as if its time were over.
    does(&mut world, TaskId::MAIN, op(Kind::Lock, mutex));
    assert!(!world.amend(first, wait(Kind::Wake).mode(Mode::Timed)), "main has the mutex");
    assert_eq!(does(&mut world, TaskId::MAIN, op(Kind::NotifyOne, condvar)), Outcome::Woke(second));
    does(&mut world, TaskId::MAIN, op(Kind::Unlock, mutex));
    assert_eq!(world.step(first, 0), Outcome::TimedOut);
    does(&mut world, first, op(Kind::Unlock, mutex));
    assert_eq!(world.step(second, 0), Outcome::Done);
}

#[test]
fn a_lock_is_not_kept_for_who_left() {
    let (mut world, [first, second]) = world();
    let mutex = world.create(State::Mutex(Mutex::default()), SiteId::UNKNOWN);
    let token = world.create(State::Token(false), SiteId::UNKNOWN);
    does(&mut world, TaskId::MAIN, op(Kind::Lock, mutex));
    for task in [first, second] {
        assert!(!world.announce(task, op(Kind::Lock, mutex)));
    }
    assert!(!world.amend(first, op(Kind::Park, token)), "nobody has given the token");
    does(&mut world, TaskId::MAIN, op(Kind::Unlock, mutex));
    assert!(!world.enabled_tasks().contains(first) && world.enabled_tasks().contains(second));
    does(&mut world, TaskId::MAIN, op(Kind::Unpark, token));
    assert_eq!(world.step(first, 0), Outcome::Done);
}
