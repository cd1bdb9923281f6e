//! How a run of a search came to be what it is, version 2 of the report of a run.

use crate::report::Since;
use crate::v1::Misfit;
use alloc::vec::Vec;
use raddle_model::objects::{self, barrier, channel, condvar, mutex, once, rwlock, semaphore};
use raddle_model::trace::{self, Chosen, Picked, Reached};
use raddle_model::{ObjectId, TaskId, TaskSet};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Log {
    /// Events and objects before it, who could be picked.
    picks: Vec<(u32, u32, Vec<u32>)>,
    /// Picks before it, number of values, value.
    chosen: Vec<(u32, u32, u32)>,
    objects: Vec<State>,
    /// For each task its object and its token, shifted by one so that none takes one byte.
    task_objects: Vec<(u32, u32)>,
    failed_at: Option<u32>,
    cut: bool,
    spin: bool,
    timeouts: bool,
}

/// What an object was when it was registered.
#[derive(Serialize, Deserialize)]
enum State {
    Task {
        task: u32,
        exited: bool,
    },
    Token(bool),
    Mutex {
        owner: Option<u32>,
        depth: u32,
        recursive: bool,
    },
    RwLock {
        writer: Option<u32>,
        readers: Vec<u32>,
    },
    Condvar {
        waiters: Vec<u32>,
    },
    Semaphore {
        permits: u64,
    },
    Barrier {
        size: u32,
        arrived: u32,
        round: u32,
    },
    OnceIncomplete,
    OnceRunning(u32),
    OnceComplete,
    OncePoisoned,
    Channel {
        capacity: Option<u32>,
        len: u32,
        sent: u32,
        taken: u32,
        senders: u32,
        receiver: bool,
        ready: u32,
    },
    Atomic,
    Cell,
}

fn numbers(tasks: &[TaskId]) -> Vec<u32> {
    tasks.iter().map(|task| task.0).collect()
}

impl From<&objects::State> for State {
    fn from(state: &objects::State) -> State {
        use objects::State as Model;
        match state {
            Model::Task { task, exited } => State::Task { task: task.0, exited: *exited },
            Model::Token(there) => State::Token(*there),
            Model::Mutex(mutex::Mutex { owner, depth, recursive }) => {
                State::Mutex { owner: owner.map(|task| task.0), depth: *depth, recursive: *recursive }
            }
            Model::RwLock(rwlock::RwLock { writer, readers }) => {
                State::RwLock { writer: writer.map(|task| task.0), readers: numbers(readers) }
            }
            Model::Condvar(condvar::Condvar { waiters }) => State::Condvar { waiters: numbers(waiters) },
            Model::Semaphore(semaphore::Semaphore { permits }) => State::Semaphore { permits: *permits },
            Model::Barrier(barrier::Barrier { size, arrived, round }) => {
                State::Barrier { size: *size, arrived: *arrived, round: *round }
            }
            Model::Once(once::Once::Incomplete) => State::OnceIncomplete,
            Model::Once(once::Once::Running(task)) => State::OnceRunning(task.0),
            Model::Once(once::Once::Complete) => State::OnceComplete,
            Model::Once(once::Once::Poisoned) => State::OncePoisoned,
            Model::Channel(channel) => {
                let channel::Channel { capacity, len, sent, taken, senders, receiver, ready } = *channel;
                State::Channel { capacity, len, sent, taken, senders, receiver, ready }
            }
            // What it is called is told elsewhere; searches take one for the other.
            Model::Atomic | Model::Kernel(_) => State::Atomic,
            Model::Cell => State::Cell,
        }
    }
}

impl State {
    fn into_model(self, task: impl Fn(u32) -> Result<TaskId, Misfit>) -> Result<objects::State, Misfit> {
        use objects::State as Model;
        let all = |tasks: Vec<u32>| tasks.into_iter().map(&task).collect::<Result<Vec<_>, _>>();
        Ok(match self {
            State::Task { task: number, exited } => Model::Task { task: task(number)?, exited },
            State::Token(there) => Model::Token(there),
            State::Mutex { owner, depth, recursive } => {
                Model::Mutex(mutex::Mutex { owner: owner.map(&task).transpose()?, depth, recursive })
            }
            State::RwLock { writer, readers } => Model::RwLock(rwlock::RwLock {
                writer: writer.map(&task).transpose()?,
                readers: all(readers)?,
            }),
            State::Condvar { waiters } => Model::Condvar(condvar::Condvar { waiters: all(waiters)? }),
            State::Semaphore { permits } => Model::Semaphore(semaphore::Semaphore { permits }),
            State::Barrier { size, arrived, round } => {
                Model::Barrier(barrier::Barrier { size, arrived, round })
            }
            State::OnceIncomplete => Model::Once(once::Once::Incomplete),
            State::OnceRunning(number) => Model::Once(once::Once::Running(task(number)?)),
            State::OnceComplete => Model::Once(once::Once::Complete),
            State::OncePoisoned => Model::Once(once::Once::Poisoned),
            State::Channel { capacity, len, sent, taken, senders, receiver, ready } => {
                Model::Channel(channel::Channel { capacity, len, sent, taken, senders, receiver, ready })
            }
            State::Atomic => Model::Atomic,
            State::Cell => Model::Cell,
        })
    }
}

impl From<&trace::Log> for Log {
    fn from(log: &trace::Log) -> Log {
        let Reached { cut, spin, timeouts, hidden: _ } = log.reached;
        let pick =
            |pick: &Picked| (pick.event, pick.objects, pick.enabled.iter().map(|task| task.0).collect());
        let shifted = |object: ObjectId| object.0.wrapping_add(1);
        Log {
            picks: log.picks.iter().map(pick).collect(),
            chosen: log.chosen.iter().map(|chosen| (chosen.pick, chosen.arity, chosen.value)).collect(),
            objects: log.objects.iter().map(State::from).collect(),
            task_objects: log.task_objects.iter().map(|&[a, b]| (shifted(a), shifted(b))).collect(),
            failed_at: log.failed_at,
            cut,
            spin,
            timeouts,
        }
    }
}

impl Log {
    /// Everything that indexes something is checked here: whoever reads a log may rely on it.
    pub(crate) fn into_model(self, tasks: usize, events: usize, since: &Since) -> Result<trace::Log, Misfit> {
        let task = |number: u32| {
            let known = (number as usize) < tasks;
            known.then_some(TaskId(number)).ok_or(Misfit("its log names a task that the run did not have"))
        };
        let count = since.objects.saturating_add(self.objects.len() as u32);
        let first = since.events();
        let mut picks = Vec::new();
        for (event, objects, enabled) in self.picks {
            let last = picks.last().map_or(first, |last: &Picked| u64::from(last.event));
            if u64::from(event) < last || u64::from(event) > first + events as u64 || objects > count {
                return Err(Misfit("its log has a scheduling point that is nowhere in the run"));
            }
            let enabled = enabled.into_iter().map(task).collect::<Result<TaskSet, _>>()?;
            picks.push(Picked { event, objects, enabled });
        }
        if self.task_objects.len() > tasks {
            return Err(Misfit("its log has more tasks than the run"));
        }
        let object = |number: u32| {
            let object = ObjectId(number.wrapping_sub(1));
            let known = !object.is_some() || object.0 < count;
            known.then_some(object).ok_or(Misfit("its log names an object that is not there"))
        };
        let task_objects = self.task_objects.into_iter().map(|(a, b)| Ok([object(a)?, object(b)?]));
        Ok(trace::Log {
            task_objects: task_objects.collect::<Result<_, Misfit>>()?,
            picks,
            chosen: self
                .chosen
                .into_iter()
                .map(|(pick, arity, value)| Chosen { pick, arity, value })
                .collect(),
            objects: self
                .objects
                .into_iter()
                .map(|state| state.into_model(task))
                .collect::<Result<_, _>>()?,
            failed_at: self.failed_at,
            reached: Reached {
                cut: self.cut,
                spin: self.spin,
                timeouts: self.timeouts,
                ..Reached::default()
            },
        })
    }
}
