//! Mutexes, condition variables and readers-writer locks. A condition variable orders nothing by
//! itself: what its users see, they see through its mutex.

use super::{Carried, Clocks};
use crate::clocks::Epoch;
use raddle_model::{Event, Kind};

impl Clocks {
    /// Locks of all kinds.
    #[inline]
    pub(super) fn lock_event(&mut self, event: &Event) {
        let Event { task, op, .. } = *event;
        match op.kind {
            Kind::Lock | Kind::ReadLock => self.acquire_first(task, op.object),
            Kind::Unlock => self.release_first(event, op.object),
            Kind::Wait => self.release_first(event, op.second),
            Kind::Wake => self.acquire_first(task, op.second),
            Kind::WriteLock => {
                let Carried { first, other, .. } = *self.carried(op.object);
                self.acquire(task, first);
                self.acquire(task, other);
            }
            Kind::WriteUnlock | Kind::Downgrade => {
                // The writer has acquired what the readers released.
                self.carried(op.object).other.by = Epoch::NEVER;
                self.release_first(event, op.object);
            }
            _ => self.add_other(event),
        }
    }

    pub(super) fn add_other(&mut self, event: &Event) {
        let old = self.carried(event.op.object).other;
        self.objects[event.op.object.index()].other = self.added(event.task, old);
        self.tick(event);
    }
}
