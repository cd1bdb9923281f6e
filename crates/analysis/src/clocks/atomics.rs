//! Atomics and fences: which loads acquire what which stores released.
//!
//! An atomic carries what its current value releases: the clocks of its release sequence so far. A
//! fence works at a distance: a release fence is remembered for the task's later relaxed stores,
//! and what relaxed loads have read is kept until an acquire fence takes it.

use super::{Clocks, Released};
use crate::clocks::Epoch;
use raddle_model::{Event, Kind, ObjectId, Order, TaskId};

impl Clocks {
    /// A load, a store or a read-modify-write.
    #[inline]
    pub(crate) fn atomic(&mut self, event: &Event) {
        match event.op.kind {
            Kind::Load => self.load(event.task, event.op.object, event.op.order),
            Kind::Store => self.store(event),
            _ => self.rmw(event),
        }
    }

    #[inline]
    fn load(&mut self, task: TaskId, object: ObjectId, order: Order) {
        let released = self.carried(object).first;
        if order.acquires() {
            self.acquire(task, released);
        } else if !self.knows(task, released) {
            let read = self.tasks[task.index()].read;
            self.tasks[task.index()].read = self.merged(read, released);
        }
    }

    /// A store ends the release sequence; what it releases itself, if anything, begins a new one.
    #[inline]
    fn store(&mut self, event: &Event) {
        let Event { task, op, .. } = *event;
        if op.order.releases() {
            return self.release_first(event, op.object);
        }
        let old = Released { by: Epoch::NEVER, ..self.carried(op.object).first };
        let fence = self.tasks[task.index()].fence;
        self.objects[op.object.index()].first = self.merged(old, fence);
    }

    /// A read-modify-write goes on with the release sequence that it reads from.
    #[inline]
    fn rmw(&mut self, event: &Event) {
        let Event { task, op, .. } = *event;
        self.load(task, op.object, op.order);
        match (op.order.acquires(), op.order.releases()) {
            // What has been acquired is known, and need not be added to.
            (true, true) => return self.release_first(event, op.object),
            (false, true) => return self.add_first(event, op.object),
            _ => {}
        }
        let fence = self.tasks[task.index()].fence;
        if fence.by.time != 0 {
            let old = self.carried(op.object).first;
            self.objects[op.object.index()].first = self.merged(old, fence);
        }
    }

    pub(super) fn fence(&mut self, event: &Event) {
        let task = event.task;
        if event.op.order.acquires() {
            let read = self.tasks[task.index()].read;
            self.acquire(task, read);
            self.tasks[task.index()].read.by = Epoch::NEVER;
        }
        if event.op.order.releases() {
            let fence = self.tasks[task.index()].fence;
            self.tasks[task.index()].fence = self.replaced(task, fence);
            self.tick(event);
        }
    }
}
