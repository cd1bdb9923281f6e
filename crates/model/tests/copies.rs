//! Objects are copied into others, whatever those were: searches keep whole worlds and use their memory again.

use raddle_model::objects::{Object, State, barrier, channel, condvar, mutex, once, rwlock, semaphore};
use raddle_model::{SiteId, TaskId, TaskSet};

fn sets() -> Vec<TaskSet> {
    let of = |tasks: &[u32]| tasks.iter().copied().map(TaskId).collect::<TaskSet>();
    vec![TaskSet::EMPTY, of(&[1, 3]), of(&[2, 70]), of(&[64, 200])]
}

fn states() -> Vec<State> {
    let held = mutex::Mutex { owner: Some(TaskId(2)), depth: 1, recursive: true };
    let waiters = vec![TaskId(1), TaskId(4)];
    vec![
        State::Task { task: TaskId(0), exited: false },
        State::Task { task: TaskId(1), exited: true },
        State::Token(true),
        State::Mutex(mutex::Mutex::default()),
        State::Mutex(held),
        State::RwLock(rwlock::RwLock::default()),
        State::Condvar(condvar::Condvar::default()),
        State::Condvar(condvar::Condvar { waiters }),
        State::Semaphore(semaphore::Semaphore::default()),
        State::Barrier(barrier::Barrier::new(2)),
        State::Once(once::Once::default()),
        State::Channel(channel::Channel::new(Some(1))),
        State::Atomic,
        State::Cell,
        State::Kernel("pipe"),
    ]
}

#[test]
fn an_object_becomes_any_other() {
    let mut objects: Vec<Object> = Vec::new();
    for state in states() {
        for waiting in sets() {
            let (waiting_other, number) = (sets().swap_remove(objects.len() % 4), objects.len() as u32);
            let (state, site) = (state.clone(), SiteId(number + 1));
            objects.push(Object { state, waiting, waiting_other, version: number, site });
        }
    }
    for old in &objects {
        for new in &objects {
            let mut object = old.clone();
            assert_eq!(&object, old);
            object.clone_from(new);
            assert_eq!(&object, new);
        }
    }
}
