//! Operations in two parts, where what is acquired is not what the object carried last: a barrier
//! (arrive, leave) and a channel (send, receive, and the sender's return from a rendezvous).

use super::{Clocks, NOTHING, Released};
use crate::clocks::Epoch;
use alloc::collections::VecDeque;
use raddle_model::objects::State;
use raddle_model::world::Life;
use raddle_model::{Event, Kind, ObjectId, Outcome, TaskId, World};

impl Clocks {
    pub(super) fn arrive(&mut self, event: &Event, world: &World) {
        let Event { task, op, .. } = *event;
        let old = self.carried(op.object).first;
        let all = self.added(task, old);
        self.objects[op.object.index()].first = all;
        self.tasks[task.index()].gate.by = Epoch::NEVER;
        if event.outcome == Outcome::Value(1) {
            self.acquire(task, all);
            self.open(op.object, all, world);
        }
        self.tick(event);
    }

    /// Each of those who wait keeps the clock of its own round: a later round may open before it
    /// has left.
    fn open(&mut self, object: ObjectId, all: Released, world: &World) {
        let State::Barrier(barrier) = &world.object(object).state else {
            panic!("raddle bug: an arrival at another object")
        };
        let round = barrier.round.wrapping_sub(1);
        for (index, waiter) in world.tasks().iter().enumerate() {
            let waits = waiter.life == Life::Pending
                && waiter.op.kind == Kind::Leave
                && waiter.op.object == object
                && waiter.ticket == round;
            if waits {
                let gate = Released { by: Epoch::NEVER, ..self.tasks[index].gate };
                self.tasks[index].gate = self.merged(gate, all);
            }
        }
        self.objects[object.index()].first.by = Epoch::NEVER;
    }

    fn queue(&mut self, object: ObjectId) -> &mut VecDeque<(Released, TaskId)> {
        let mut place = self.carried(object).queue;
        if place == u32::MAX {
            place = self.queues_used as u32;
            self.objects[object.index()].queue = place;
            self.queues_used += 1;
            if self.queues.len() < self.queues_used {
                self.queues.push(VecDeque::new());
            }
        }
        &mut self.queues[place as usize]
    }

    pub(super) fn send(&mut self, event: &Event) {
        let message = self.replaced(event.task, NOTHING);
        self.queue(event.op.object).push_back((message, event.task));
        self.tasks[event.task.index()].gate.by = Epoch::NEVER;
        self.tick(event);
    }

    pub(super) fn receive(&mut self, event: &Event, world: &World) {
        let object = event.op.object;
        let Some((message, sender)) = self.queue(object).pop_front() else {
            return;
        };
        self.acquire(event.task, message);
        self.bank.give(message.row);
        let waiter = world.task(sender);
        let State::Channel(channel) = &world.object(object).state else {
            panic!("raddle bug: a receive from another object")
        };
        // A sender whose wait timed out does something else by now.
        if channel.capacity == Some(0) && waiter.op.kind == Kind::Handover && waiter.op.object == object {
            let gate = self.tasks[sender.index()].gate;
            self.tasks[sender.index()].gate = self.replaced(event.task, gate);
            self.tick(event);
        }
    }
}
