//! What comes of each operation: the transitions of the objects that are not on the common path.

use super::{Life, Task, World, miss, wrong};
use crate::ids::{ObjectId, TaskId};
use crate::objects::State;
use crate::objects::channel::Channel;
use crate::objects::once::Once;
use crate::op::{Access, Kind, Mode, Op};
use crate::trace::Outcome;

impl World {
    pub(super) fn step_other(&mut self, task: TaskId, pick: u32) -> Outcome {
        let Op { kind, site, .. } = self.tasks[task.index()].op;
        match kind {
            // What every run has, at once.
            Kind::Spawn => return Outcome::Spawned(self.add_child(task, site)),
            Kind::Yield | Kind::End => return Outcome::Done,
            _ => {}
        }
        let op = self.tasks[task.index()].op;
        let outcome = self.route(task, &op, pick);
        // Readers of a lock change what a writer finds, although they commute with each other.
        let changes = op.access() == Access::Write || matches!(op.kind, Kind::ReadLock | Kind::ReadUnlock);
        if changes && !matches!(outcome, Outcome::Failed | Outcome::TimedOut) {
            self.changed(op.object);
            self.changed(op.second);
        }
        outcome
    }

    fn route(&mut self, task: TaskId, op: &Op, pick: u32) -> Outcome {
        let succeeds = self.succeeds(task, op);
        if op.object.is_some() && op.kind != Kind::Wake {
            let object = &mut self.objects[op.object.index()];
            object.waiting.remove(task);
            object.waiting_other.remove(task);
        }
        match op.kind {
            Kind::Finished => Outcome::Value(u32::from(matches!(
                self.object(op.object).state,
                State::Task { exited: true, .. }
            ))),
            Kind::Choose => Outcome::Value(pick),
            Kind::Unpark => self.change(op.object, |state| *state = State::Token(true), Outcome::Done),
            Kind::Park if succeeds => {
                self.change(op.object, |state| *state = State::Token(false), Outcome::Done)
            }
            Kind::ReadLock | Kind::WriteLock | Kind::ReadUnlock | Kind::WriteUnlock | Kind::Downgrade => {
                self.rwlock(task, op, succeeds)
            }
            Kind::Wait => self.wait(task, op),
            Kind::Wake => self.wake(task, op),
            Kind::NotifyOne => self.notify_one(op.object, pick),
            Kind::NotifyAll => self.notify_all(op.object),
            Kind::Acquire if succeeds => self.permits(op.object, 0, op.permits()),
            Kind::Release => self.permits(op.object, op.arg, 0),
            Kind::Arrive => self.arrive(task, op.object),
            Kind::OnceGet => Outcome::Value(self.once(op.object).number()),
            Kind::OnceEnter if succeeds => self.once_enter(task, op),
            Kind::OnceDone => {
                let next = State::Once(Once::left(op.arg));
                self.change(op.object, |state| *state = next, Outcome::Done)
            }
            Kind::Send
            | Kind::RecvReady
            | Kind::Recv
            | Kind::DropSender
            | Kind::DropReceiver
            | Kind::Handover => self.channel_step(task, op, succeeds),
            Kind::Lock if succeeds => {
                let take = |state: &mut State| match state {
                    State::Mutex(mutex) => mutex.take(task, 1),
                    other => wrong(Kind::Lock, other),
                };
                self.change(op.object, take, Outcome::Done)
            }
            Kind::Unlock => Outcome::Misuse,
            _ if succeeds => Outcome::Done,
            _ => miss(op),
        }
    }

    /// Changes an object's state and re-asks those who wait for it.
    pub(super) fn change(
        &mut self,
        id: ObjectId,
        change: impl FnOnce(&mut State),
        outcome: Outcome,
    ) -> Outcome {
        change(&mut self.objects[id.index()].state);
        self.refresh(id);
        outcome
    }

    /// Re-asks all who wait for an object whether they can go on.
    pub(super) fn refresh(&mut self, id: ObjectId) {
        let object = &mut self.objects[id.index()];
        if object.waiting.is_empty() && object.waiting_other.is_empty() {
            return;
        }
        let sides = [core::mem::take(&mut object.waiting), core::mem::take(&mut object.waiting_other)];
        for side in &sides {
            side.for_each(|task| {
                let enabled = self.enabled(task, &self.tasks[task.index()].op);
                self.enabled.set(task, enabled);
            });
        }
        let [waiting, waiting_other] = sides;
        let object = &mut self.objects[id.index()];
        object.waiting = waiting;
        object.waiting_other = waiting_other;
    }

    fn rwlock(&mut self, task: TaskId, op: &Op, succeeds: bool) -> Outcome {
        let State::RwLock(lock) = &mut self.objects[op.object.index()].state else {
            panic!("raddle bug: {op:?} on another object")
        };
        let done = match op.kind {
            Kind::ReadLock | Kind::WriteLock if !succeeds => return miss(op),
            Kind::ReadLock => {
                lock.add_reader(task);
                true
            }
            Kind::WriteLock => lock.writer.replace(task).is_none(),
            Kind::ReadUnlock => lock.remove_reader(task),
            Kind::Downgrade => {
                let held = lock.remove_writer(task);
                lock.add_reader(task);
                held
            }
            _ => lock.remove_writer(task),
        };
        self.refresh(op.object);
        if done { Outcome::Done } else { Outcome::Misuse }
    }

    fn wait(&mut self, task: TaskId, op: &Op) -> Outcome {
        let State::Mutex(mutex) = &mut self.objects[op.second.index()].state else {
            panic!("raddle bug: a wait without a mutex")
        };
        if mutex.owner != Some(task) {
            return Outcome::Misuse;
        }
        // A recursive mutex is given back whole, and taken again as often when the wait ends.
        self.tasks[task.index()].ticket = core::mem::take(&mut mutex.depth);
        mutex.owner = None;
        self.tasks[task.index()].woken = false;
        let State::Condvar(condvar) = &mut self.objects[op.object.index()].state else {
            panic!("raddle bug: a wait on another object")
        };
        condvar.waiters.push(task);
        self.refresh(op.second);
        Outcome::Done
    }

    fn wake(&mut self, task: TaskId, op: &Op) -> Outcome {
        let Task { woken, ticket, .. } = self.tasks[task.index()];
        let outcome = if woken {
            Outcome::Done
        } else {
            if let State::Condvar(condvar) = &mut self.objects[op.object.index()].state {
                condvar.leave(task);
            }
            if op.mode == Mode::Timed {
                Outcome::TimedOut
            } else {
                self.tasks[task.index()].spurious_left -= 1;
                Outcome::Spurious
            }
        };
        let mutex = &mut self.objects[op.second.index()];
        mutex.waiting.remove(task);
        if let State::Mutex(mutex) = &mut mutex.state {
            mutex.take(task, ticket);
        }
        self.refresh(op.second);
        outcome
    }

    fn notify_one(&mut self, id: ObjectId, pick: u32) -> Outcome {
        let State::Condvar(condvar) = &mut self.objects[id.index()].state else {
            panic!("raddle bug: a notification of another object")
        };
        if condvar.waiters.is_empty() {
            return Outcome::Done;
        }
        let task = condvar.waiters.remove(pick as usize);
        self.rouse(task);
        Outcome::Woke(task)
    }

    fn notify_all(&mut self, id: ObjectId) -> Outcome {
        let State::Condvar(condvar) = &mut self.objects[id.index()].state else {
            panic!("raddle bug: a notification of another object")
        };
        let waiters = core::mem::take(&mut condvar.waiters);
        let count = waiters.len() as u32;
        waiters.into_iter().for_each(|task| self.rouse(task));
        Outcome::Value(count)
    }

    /// A waiter is notified: from now on it waits for the mutex only.
    pub(super) fn rouse(&mut self, task: TaskId) {
        let entry = &mut self.tasks[task.index()];
        entry.woken = true;
        // A task that has queued but not yet announced its wake-up registers itself then.
        if entry.life == Life::Pending && entry.op.kind == Kind::Wake {
            let op = entry.op;
            self.objects[op.second.index()].waiting.insert(task);
            let enabled = self.enabled(task, &op);
            self.enabled.set(task, enabled);
        }
    }

    fn permits(&mut self, id: ObjectId, more: u64, less: u64) -> Outcome {
        let change = |state: &mut State| {
            if let State::Semaphore(semaphore) = state {
                semaphore.permits = semaphore.permits + more - less;
            }
        };
        self.change(id, change, Outcome::Done)
    }

    fn arrive(&mut self, task: TaskId, id: ObjectId) -> Outcome {
        let State::Barrier(barrier) = &mut self.objects[id.index()].state else {
            panic!("raddle bug: an arrival at another object")
        };
        self.tasks[task.index()].ticket = barrier.round;
        let last = barrier.arrive();
        if last {
            self.refresh(id);
        }
        Outcome::Value(u32::from(last))
    }

    pub(super) fn once(&self, id: ObjectId) -> Once {
        match self.object(id).state {
            State::Once(once) => once,
            ref other => panic!("raddle bug: a {} is no once", other.noun()),
        }
    }

    fn once_enter(&mut self, task: TaskId, op: &Op) -> Outcome {
        match self.once(op.object) {
            Once::Complete => Outcome::Value(1),
            Once::Poisoned if op.arg != 1 => Outcome::Value(2),
            _ => self.change(op.object, |state| *state = State::Once(Once::Running(task)), Outcome::Value(0)),
        }
    }

    pub(super) fn channel(&mut self, id: ObjectId) -> &mut Channel {
        match &mut self.objects[id.index()].state {
            State::Channel(channel) => channel,
            other => panic!("raddle bug: a {} is no channel", other.noun()),
        }
    }

    fn channel_step(&mut self, task: TaskId, op: &Op, succeeds: bool) -> Outcome {
        let channel = self.channel(op.object);
        let outcome = match op.kind {
            Kind::Send if !channel.receiver => Outcome::Closed,
            Kind::Send if !succeeds => miss(op),
            Kind::Send => {
                let number = channel.sent;
                channel.sent += 1;
                channel.len += 1;
                self.tasks[task.index()].ticket = number;
                Outcome::Done
            }
            Kind::RecvReady => {
                channel.ready += 1;
                Outcome::Done
            }
            Kind::Recv => {
                // Whatever comes of it, this receiver no longer stands there.
                channel.ready = channel.ready.saturating_sub(1);
                if channel.len > 0 {
                    channel.len -= 1;
                    channel.taken += 1;
                    Outcome::Done
                } else if channel.senders == 0 {
                    Outcome::Closed
                } else {
                    miss(op)
                }
            }
            Kind::DropSender => {
                channel.senders -= 1;
                Outcome::Done
            }
            Kind::DropReceiver => {
                channel.receiver = false;
                Outcome::Done
            }
            _ if succeeds => {
                let taken = channel.taken > self.tasks[task.index()].ticket;
                if taken { Outcome::Done } else { Outcome::Closed }
            }
            _ => miss(op),
        };
        self.refresh(op.object);
        outcome
    }
}
