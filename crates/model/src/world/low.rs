//! The most frequent plain operations where there are few tasks: those who can run are one word, which travels in a
//! register from the announcement to the step and is written once.

use super::plain::{fits, happen};
use super::{Life, World};
use crate::ids::{ObjectId, TaskId};
use crate::op::{Op, Plain, Touch};
use crate::taskset::TaskSet;
use crate::trace::PlainEvent;

impl World {
    /// As [`World::announce_plain`], while there are no more tasks than a word has bits. Says who can run then, one bit
    /// each; nothing if the task cannot. They must be handed to [`World::step_low`] or [`World::keep_low`] next.
    #[inline(always)]
    pub fn announce_low(&mut self, task: TaskId, plain: Plain) -> Option<u64> {
        let can = self.tell::<true>(task, plain);
        can.then(|| self.enabled.low() | 1 << (task.0 & 63))
    }

    /// These are the ones who can run.
    #[inline(always)]
    pub fn keep_low(&mut self, enabled: u64) {
        self.enabled.set_low(enabled);
    }

    /// The task does the plain operation that it was about to do, which gives nothing back. Those who can run
    /// are `others` from now on, unless that changes it. Nothing has happened if it does not succeed.
    #[inline(always)]
    pub fn step_low(&mut self, task: TaskId, touch: Touch, others: u64) -> Option<PlainEvent> {
        debug_assert!(touch != Touch::Give, "raddle bug: what is given back at a point goes the long way");
        // What cannot be is not complained of here, as in `tell`.
        let writes = touch == Touch::Write;
        let entry = if writes { self.tasks.get_mut(task.index())? } else { &mut self.tasks[task.index()] };
        debug_assert!(entry.touch == Some(touch), "raddle bug: a step that was not announced");
        let object = entry.op.object;
        let mut able = TaskSet::of_low(others);
        let happens_to = match self.objects.get_mut(object.index()) {
            None if writes => return None,
            happens_to => happens_to.expect("raddle bug: an operation on nothing"),
        };
        happen::<true>(happens_to, &mut able, task, touch)?;
        self.enabled.set_low(able.low());
        entry.touch = None;
        entry.life = if touch == Touch::Exit { Life::Exited } else { Life::Running };
        // As the announcement has left them: so all of it is one word.
        debug_assert!(
            entry.bare && entry.told == (touch != Touch::Read),
            "raddle bug: a step that was not told"
        );
        entry.bare = true;
        entry.told = touch != Touch::Read;
        let Op { kind, order, site, .. } = entry.op;
        let event = entry.plain_event::<true>(task, Plain { kind, touch, order, object, site });
        if touch == Touch::Exit {
            self.live.remove_from::<true>(task);
        }
        Some(event)
    }

    /// As [`World::perform_plain`], while there are no more tasks than a word has bits. What cannot be does not succeed
    /// either, and is complained of where it is done in the general way.
    #[inline(always)]
    pub fn perform_low(&mut self, task: TaskId, plain: Plain) -> Option<PlainEvent> {
        debug_assert!(plain.touch != Touch::Exit, "raddle bug: a task's last operation takes longer");
        let entry = self.tasks.get_mut(task.index())?;
        if entry.life != Life::Running {
            return None;
        }
        let object = self.objects.get_mut(plain.object.index())?;
        if !fits(object, plain.touch) {
            return None;
        }
        happen::<true>(object, &mut self.enabled, task, plain.touch)?;
        Some(entry.plain_event::<false>(task, plain))
    }

    /// A task does once more what it has just done, which takes so many events in all: an access, or a mutex that is taken and
    /// given back. All else stays as it is.
    pub fn again(&mut self, task: TaskId, object: ObjectId, events: u32) {
        self.tasks[task.index()].events += events;
        let object = &mut self.objects[object.index()];
        object.version = object.version.wrapping_add(events);
    }

    /// What a task has just done after it had announced it, if that was plain and succeeded.
    pub fn last_step(&self, task: TaskId) -> PlainEvent {
        let entry = self.task(task);
        let plain = entry.op.plain().expect("raddle bug: what was done is not plain");
        PlainEvent { task, index: entry.events - 1, plain }
    }
}
