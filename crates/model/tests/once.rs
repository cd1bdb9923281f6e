//! A once in the world: who may enter, who waits, and what a panic leaves behind.

use raddle_model::objects::State;
use raddle_model::objects::once::Once;
use raddle_model::{Kind, ObjectId, Op, Outcome, SiteId, TaskId, World};

const FIRST: TaskId = TaskId::MAIN;

/// A world with two tasks and a once.
fn world() -> (World, TaskId, ObjectId) {
    let mut world = World::default();
    world.begin(0);
    let once = world.create(State::Once(Once::default()), SiteId::UNKNOWN);
    let Outcome::Spawned(second) = step(&mut world, FIRST, Op::new(Kind::Spawn, ObjectId::NONE, SITE)) else {
        panic!("no task")
    };
    (world, second, once)
}

const SITE: SiteId = SiteId::UNKNOWN;

fn step(world: &mut World, task: TaskId, op: Op) -> Outcome {
    assert!(world.announce(task, op), "{op:?} must wait");
    world.step(task, 0)
}

#[test]
fn who_waits_for_completion_goes_on_after_it() {
    let (mut world, second, once) = world();
    let on = |kind, arg| Op::new(kind, once, SITE).arg(arg);
    assert_eq!(step(&mut world, FIRST, on(Kind::OnceGet, 0)), Outcome::Value(0));
    assert!(!world.announce(second, on(Kind::OnceGet, 2)));
    assert_eq!(step(&mut world, FIRST, on(Kind::OnceEnter, 0)), Outcome::Value(0));
    let mut owners = Vec::new();
    world.owners(second, |owner| owners.push(owner));
    assert_eq!(owners, [FIRST]);
    assert_eq!(step(&mut world, FIRST, on(Kind::OnceDone, 1)), Outcome::Done);
    assert!(world.enabled_tasks().contains(second));
    assert_eq!(world.step(second, 0), Outcome::Value(1));
}

#[test]
fn poison_ends_a_plain_wait_and_not_a_forced_one() {
    let (mut world, second, once) = world();
    let on = |kind, arg| Op::new(kind, once, SITE).arg(arg);
    assert_eq!(step(&mut world, FIRST, on(Kind::OnceEnter, 0)), Outcome::Value(0));
    assert!(!world.announce(second, on(Kind::OnceGet, 1)));
    assert_eq!(step(&mut world, FIRST, on(Kind::OnceDone, 2)), Outcome::Done);
    assert_eq!(world.step(second, 0), Outcome::Value(2));
    assert!(!world.announce(second, on(Kind::OnceGet, 2)));
    assert_eq!(step(&mut world, FIRST, on(Kind::OnceEnter, 0)), Outcome::Value(2));
    assert_eq!(step(&mut world, FIRST, on(Kind::OnceEnter, 1)), Outcome::Value(0));
    assert_eq!(step(&mut world, FIRST, on(Kind::OnceDone, 1)), Outcome::Done);
    assert_eq!(world.step(second, 0), Outcome::Value(1));
}
