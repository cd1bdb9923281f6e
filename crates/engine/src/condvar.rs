//! Condition variables on the blind way: an untimed wait, its end, and a notification come in turns as mutexes do. What the
//! general way in `director` does besides (time, searches, spinning, checks of a schedule) is what does not go on here.

use crate::director::{Engine, Next};
use raddle_model::{Analysis, Event, Op, Policy, TaskId, World};

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// As [`Engine::arrive`], while [`Engine::is_blind`], for an operation on a condition variable.
    #[inline]
    pub(crate) fn arrive_at_condvar(&mut self, task: TaskId, op: Op) -> Next {
        if !self.world.announce_at_condvar(task, op) {
            self.blocked(task);
        }
        self.next_as_can_be()
    }

    /// A task that was drawn does what it was about to do, if that is such an operation. False, and nothing has happened, if
    /// it is not as simple.
    #[inline]
    pub(crate) fn step_at_condvar(&mut self, task: TaskId) -> bool {
        let op = self.world.task(task).op;
        if !self.is_blind() || self.search.is_active() || !World::is_at_condvar(&op) {
            return false;
        }
        // Which of several waiters is woken is a decision, and those are not made here.
        let Some(outcome) = self.world.step_at_condvar(task) else { return false };
        self.steps += 1;
        let index = self.world.task(task).events - 1;
        self.analysis.event(&Event { task, index, op, outcome }, &self.world);
        true
    }
}
