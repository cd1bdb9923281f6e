//! Where there are few tasks, plain operations that nobody was told of have a way of their own. It does what the other way does;
//! what cannot be does not happen there, and is complained of in the other.

use raddle_model::objects::State;
use raddle_model::objects::mutex::Mutex;
use raddle_model::{Kind, ObjectId, Op, Order, Outcome, Plain, SiteId, TaskId, Touch, World};
use std::panic::{AssertUnwindSafe, catch_unwind};

const TOUCHES: [(Kind, Touch); 5] = [
    (Kind::Load, Touch::Read),
    (Kind::Rmw, Touch::Write),
    (Kind::Lock, Touch::Take),
    (Kind::Unlock, Touch::Give),
    (Kind::Join, Touch::Join),
];

/// An atomic, a mutex, and two tasks of which the first has exited.
fn world() -> (World, [ObjectId; 4]) {
    let mut world = World::default();
    world.begin(0);
    let tasks = [(); 2].map(|()| {
        assert!(world.announce(TaskId::MAIN, Op::new(Kind::Spawn, ObjectId::NONE, SiteId::UNKNOWN)));
        match world.step(TaskId::MAIN, 0) {
            Outcome::Spawned(task) => world.task(task).object,
            other => panic!("{other:?}"),
        }
    });
    assert!(world.announce(TaskId(1), Op::new(Kind::Exit, tasks[0], SiteId::UNKNOWN)));
    world.step(TaskId(1), 0);
    let atomic = world.create(State::Atomic, SiteId::UNKNOWN);
    let mutex = world.create(State::Mutex(Mutex::default()), SiteId::UNKNOWN);
    (world, [atomic, mutex, tasks[0], tasks[1]])
}

/// What comes of an operation in the way that complains, and the world after it; nothing if it has complained.
fn in_the_long_way(world: &World, task: TaskId, plain: Plain) -> Option<(String, World)> {
    let mut world = world.clone();
    let event = catch_unwind(AssertUnwindSafe(|| world.perform_plain::<false>(task, plain))).ok()?;
    Some((format!("{event:?}"), world))
}

/// Does everything that can be done, one operation after the other. How many were done, did not succeed, and cannot be.
fn all(world: &World, objects: &[ObjectId], left: u32, counts: &mut [u32; 3]) {
    for task in [TaskId::MAIN, TaskId(1), TaskId(2)] {
        for &object in objects {
            for (kind, touch) in TOUCHES {
                let plain = Plain { kind, touch, order: Order::SeqCst, object, site: SiteId(7) };
                let mut low = world.clone();
                let event = low.perform_low(task, plain);
                let Some((expected, after)) = in_the_long_way(world, task, plain) else {
                    assert!(event.is_none(), "nobody has complained: {task:?} {plain:?}");
                    assert_eq!(format!("{low:?}"), format!("{world:?}"), "{task:?} {plain:?}");
                    counts[2] += 1;
                    continue;
                };
                assert_eq!(format!("{event:?}"), expected, "{task:?} {plain:?}");
                assert_eq!(format!("{low:?}"), format!("{after:?}"), "{task:?} {plain:?}");
                counts[usize::from(event.is_none())] += 1;
                if event.is_some() && left > 0 {
                    all(&low, objects, left - 1, counts);
                }
            }
        }
    }
}

#[test]
fn both_ways_are_the_same_and_only_one_complains() {
    let (world, objects) = world();
    let nothing = ObjectId(world.objects().len() as u32);
    let objects = [&objects[..], &[nothing]].concat();
    let mut counts = [0; 3];
    all(&world, &objects, 1, &mut counts);
    assert!(counts.iter().all(|&count| count > 10), "not all of it was tried: {counts:?}");
}

#[test]
fn who_cannot_announce_says_nothing() {
    let (mut world, [atomic, ..]) = world();
    let plain =
        Plain { kind: Kind::Rmw, touch: Touch::Write, order: Order::SeqCst, object: atomic, site: SiteId(7) };
    // Main has just made a task, and leaves that behind.
    assert_eq!(world.announce_low(TaskId::MAIN, plain), Some(1), "main runs");
    assert_eq!(world.task(TaskId::MAIN).outcome, Outcome::Done, "what it has made is forgotten");
    let before = format!("{world:?}");
    for (task, why) in [(TaskId::MAIN, "announced"), (TaskId(1), "exited"), (TaskId(3), "never been")] {
        assert_eq!(world.announce_low(task, plain), None, "it has {why}");
    }
    assert_eq!(format!("{world:?}"), before);
}
