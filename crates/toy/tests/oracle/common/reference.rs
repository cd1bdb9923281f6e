//! A second, plain account of what objects do, read off std's documentation and written without a
//! look at the world: who holds, who waits, what is queued. It judges every outcome of a run and who
//! can go on. Where the world keeps counters and tickets, this keeps lists of what happened.

use raddle_model::{Event, Kind, Mode, ObjectId, Op, Outcome, TaskId};
use raddle_toy::{Object, Program};
use std::collections::{HashMap, HashSet, VecDeque};

#[derive(Default, Clone)]
struct Lock {
    recursive: bool,
    held: Vec<TaskId>,
    reading: Vec<TaskId>,
}

#[derive(Default, Clone)]
struct Channel {
    capacity: Option<usize>,
    queue: VecDeque<(TaskId, u32)>,
    senders: u32,
    deaf: bool,
    standing: usize,
}

/// What has happened to every object.
#[derive(Default)]
pub(crate) struct Reference {
    spurious_max: u32,
    task_objects: Vec<ObjectId>,
    locks: HashMap<ObjectId, Lock>,
    waiting: HashMap<ObjectId, Vec<TaskId>>,
    /// How often a waiting task held its mutex.
    given: HashMap<TaskId, usize>,
    spurious: HashMap<TaskId, u32>,
    permits: HashMap<ObjectId, u64>,
    barriers: HashMap<ObjectId, (usize, Vec<TaskId>)>,
    onces: HashMap<ObjectId, (Option<TaskId>, bool)>,
    channels: HashMap<ObjectId, Channel>,
    /// Messages of a rendezvous that nobody has taken yet, and those that somebody has.
    sent: HashMap<TaskId, u32>,
    taken: HashSet<(TaskId, u32)>,
    tokens: HashSet<ObjectId>,
    exited: HashSet<ObjectId>,
}

impl Reference {
    pub(crate) fn new(program: &Program, task_objects: Vec<ObjectId>, spurious_max: u32) -> Reference {
        let mut reference = Reference { task_objects, spurious_max, ..Reference::default() };
        for (object, id) in program.objects.iter().zip((1..).map(ObjectId)) {
            match *object {
                Object::Mutex | Object::RwLock => drop(reference.locks.insert(id, Lock::default())),
                Object::Recursive => {
                    reference.locks.insert(id, Lock { recursive: true, ..Lock::default() });
                }
                Object::Semaphore(permits) => drop(reference.permits.insert(id, permits)),
                Object::Barrier(size) => drop(reference.barriers.insert(id, (size as usize, Vec::new()))),
                Object::Channel { capacity, senders } => {
                    let capacity = capacity.map(|capacity| capacity as usize);
                    reference.channels.insert(id, Channel { capacity, senders, ..Channel::default() });
                }
                _ => {}
            }
        }
        reference
    }

    fn free_for(&self, task: TaskId, mutex: ObjectId) -> bool {
        let lock = &self.locks[&mutex];
        lock.held.is_empty() || (lock.recursive && lock.held[0] == task)
    }

    fn notified(&self, task: TaskId, condvar: ObjectId) -> bool {
        !self.waiting.get(&condvar).is_some_and(|waiting| waiting.contains(&task))
    }

    /// Whether what is waited for is there.
    fn there(&self, task: TaskId, op: &Op) -> bool {
        let id = op.object;
        match op.kind {
            Kind::Lock => self.free_for(task, id),
            Kind::ReadLock => self.locks[&id].held.is_empty(),
            Kind::WriteLock => self.locks[&id].held.is_empty() && self.locks[&id].reading.is_empty(),
            Kind::Join => self.exited.contains(&id),
            Kind::Park => self.tokens.contains(&id),
            Kind::Acquire => self.permits[&id] >= if op.mode == Mode::Timed { 1 } else { op.arg },
            Kind::Leave => !self.barriers[&id].1.contains(&task),
            Kind::OnceEnter => self.onces.get(&id).is_none_or(|(running, _)| running.is_none()),
            Kind::Send => {
                let channel = &self.channels[&id];
                let room = match (channel.capacity, op.mode) {
                    (None, _) => true,
                    (Some(0), Mode::Try) => channel.queue.len() < channel.standing,
                    (Some(0), _) => channel.queue.is_empty(),
                    (Some(capacity), _) => channel.queue.len() < capacity,
                };
                channel.deaf || room
            }
            Kind::Handover => self.channels[&id].deaf || self.taken.contains(&(task, self.sent[&task])),
            Kind::Recv => !self.channels[&id].queue.is_empty() || self.channels[&id].senders == 0,
            _ => true,
        }
    }

    /// Whether the task can do this now, a failure or a time-out included.
    pub(crate) fn able(&self, task: TaskId, op: &Op) -> bool {
        if op.kind == Kind::Wake {
            let left = self.spurious_max > *self.spurious.get(&task).unwrap_or(&0);
            let may = self.notified(task, op.object) || op.mode == Mode::Timed || left;
            return may && self.free_for(task, op.second);
        }
        op.mode != Mode::Block || self.there(task, op)
    }

    /// Takes an event, and says how it should have ended if it should have ended otherwise. A choice
    /// is taken from the event: which waiter is woken, which value was chosen.
    pub(crate) fn event(&mut self, event: &Event) -> Result<(), String> {
        let Event { task, op, outcome, .. } = *event;
        if !self.able(task, &op) {
            return Err(format!("{event:?} could not happen"));
        }
        let expected = if op.kind == Kind::Wake {
            self.wake(task, &op)
        } else if self.there(task, &op) {
            self.happens(task, &op, outcome)
        } else if op.mode == Mode::Try {
            self.misses(&op);
            Outcome::Failed
        } else {
            self.misses(&op);
            Outcome::TimedOut
        };
        if expected == outcome { Ok(()) } else { Err(format!("{event:?} should have ended {expected:?}")) }
    }

    /// A receiver that leaves without a message no longer stands there.
    fn misses(&mut self, op: &Op) {
        if op.kind == Kind::Recv {
            let channel = self.channels.get_mut(&op.object).expect("it is known");
            channel.standing = channel.standing.saturating_sub(1);
        }
    }

    fn wake(&mut self, task: TaskId, op: &Op) -> Outcome {
        let depth = self.given.remove(&task).expect("it has waited");
        self.locks.get_mut(&op.second).expect("it is known").held = vec![task; depth];
        if self.notified(task, op.object) {
            return Outcome::Done;
        }
        self.waiting.entry(op.object).or_default().retain(|&other| other != task);
        if op.mode == Mode::Timed {
            return Outcome::TimedOut;
        }
        *self.spurious.entry(task).or_default() += 1;
        Outcome::Spurious
    }

    fn happens(&mut self, task: TaskId, op: &Op, outcome: Outcome) -> Outcome {
        let id = op.object;
        match op.kind {
            Kind::Spawn | Kind::Choose => return outcome,
            Kind::Exit => drop(self.exited.insert(self.task_objects[task.index()])),
            Kind::Finished => return Outcome::Value(u32::from(self.exited.contains(&id))),
            Kind::Unpark => drop(self.tokens.insert(id)),
            Kind::Park => drop(self.tokens.remove(&id)),
            Kind::Release => *self.permits.entry(id).or_default() += op.arg,
            Kind::Acquire => {
                *self.permits.entry(id).or_default() -= if op.mode == Mode::Timed { 1 } else { op.arg };
            }
            Kind::Wait | Kind::NotifyOne | Kind::NotifyAll => return self.condvar(task, op, outcome),
            Kind::Arrive => {
                let (size, here) = self.barriers.get_mut(&id).expect("it is known");
                here.push(task);
                let last = here.len() == *size;
                if last {
                    here.clear();
                }
                return Outcome::Value(u32::from(last));
            }
            Kind::OnceGet => {
                return Outcome::Value(u32::from(self.onces.get(&id).is_some_and(|once| once.1)));
            }
            Kind::OnceEnter => {
                let (running, complete) = self.onces.entry(id).or_default();
                *running = (!*complete).then_some(task);
                return Outcome::Value(u32::from(*complete));
            }
            Kind::OnceDone => drop(self.onces.insert(id, (None, op.arg == 1))),
            Kind::Send | Kind::Handover | Kind::Recv | Kind::RecvReady => return self.channel(task, op),
            Kind::DropSender => self.channels.get_mut(&id).expect("it is known").senders -= 1,
            Kind::DropReceiver => self.channels.get_mut(&id).expect("it is known").deaf = true,
            _ => self.lock(task, op),
        }
        Outcome::Done
    }

    fn condvar(&mut self, task: TaskId, op: &Op, outcome: Outcome) -> Outcome {
        let waiting = self.waiting.entry(op.object).or_default();
        match (op.kind, outcome) {
            (Kind::Wait, _) => {
                waiting.push(task);
                let held = core::mem::take(&mut self.locks.get_mut(&op.second).expect("it is known").held);
                self.given.insert(task, held.len());
                Outcome::Done
            }
            (Kind::NotifyAll, _) => Outcome::Value(core::mem::take(waiting).len() as u32),
            (_, Outcome::Woke(woken)) if waiting.contains(&woken) => {
                waiting.retain(|&other| other != woken);
                outcome
            }
            _ => waiting.first().map_or(Outcome::Done, |&waiter| Outcome::Woke(waiter)),
        }
    }

    fn channel(&mut self, task: TaskId, op: &Op) -> Outcome {
        let channel = self.channels.get_mut(&op.object).expect("it is known");
        match op.kind {
            Kind::Send if channel.deaf => return Outcome::Closed,
            Kind::Send => {
                let number = self.sent.entry(task).or_default();
                *number += 1;
                channel.queue.push_back((task, *number));
            }
            Kind::RecvReady => channel.standing += 1,
            Kind::Recv => {
                channel.standing = channel.standing.saturating_sub(1);
                match channel.queue.pop_front() {
                    Some(message) => drop(self.taken.insert(message)),
                    None => return Outcome::Closed,
                }
            }
            _ if self.taken.contains(&(task, self.sent[&task])) => {}
            _ => return Outcome::Closed,
        }
        Outcome::Done
    }

    fn lock(&mut self, task: TaskId, op: &Op) {
        let Some(lock) = self.locks.get_mut(&op.object) else { return };
        let leave = |readers: &mut Vec<TaskId>| {
            readers.remove(readers.iter().position(|&reader| reader == task).expect("it reads"));
        };
        match op.kind {
            Kind::Lock | Kind::WriteLock => lock.held.push(task),
            Kind::Unlock | Kind::WriteUnlock => assert_eq!(lock.held.pop(), Some(task)),
            Kind::ReadLock => lock.reading.push(task),
            Kind::ReadUnlock => leave(&mut lock.reading),
            Kind::Downgrade => {
                assert_eq!(lock.held.pop(), Some(task));
                lock.reading.push(task);
            }
            _ => {}
        }
    }
}
