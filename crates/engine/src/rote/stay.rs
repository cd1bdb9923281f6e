//! The short way of a task that goes on in a run of a search. It is what nearly all steps are that such a run does not do
//! by rote, and nothing else: where a state is to be kept, a list must grow, or another task goes on, the general way is gone.

use crate::current::Current;
use crate::director::Engine;
use raddle_model::{Analysis, Plain, Policy, TaskId, Touch};

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// As [`Engine::arrive_in_writing`] if the task goes on. `Err(true)`: it does, and [`Engine::tell`] comes next.
    /// `Err(false)`: nothing has happened.
    #[inline(always)]
    pub fn stay_in_writing(&mut self, task: TaskId, plain: Plain) -> Result<(), bool> {
        self.catch_up();
        let Plain { kind, touch, object, site, .. } = plain;
        // Who looks may be spinning; who exits does not go on.
        let seldom = matches!(touch, Touch::Read | Touch::Exit);
        if seldom || self.steps >= self.few_until || !self.decisions.only_counts() {
            return Err(false);
        }
        let Some(rows) = self.search.next_rows() else { return Err(false) };
        let others = self.world.enabled_tasks().low();
        if !self.world.can(task, plain) || !self.rote.has_room(rows.picks(), &self.script) {
            return Err(false);
        }
        if !self.policy.stays_in_search(task, &self.world) {
            return Err(false);
        }
        // There is room for it, so that this is no call.
        self.script.write_stay(kind, task, object, site);
        self.quiet = 0;
        if others != 0 {
            self.decisions.count_one();
        }
        self.current = Current::of(task);
        let (able, objects) = (others | 1 << task.0, self.world.objects().len() as u32);
        let event = self.world.perform_plain::<true>(task, plain);
        let event = event.expect("raddle bug: what could be done did not happen");
        rows.write(self.steps as u32, objects, able, event);
        self.steps += 1;
        if self.analysis.plain_at_once(event, &self.world) { Ok(()) } else { Err(true) }
    }

    /// As [`Engine::close_section`], if the task gives back what its step has taken. `Err(true)`: it does, and
    /// [`Engine::tell`] comes next. `Err(false)`: nothing has happened.
    #[inline(always)]
    pub fn close_at_once(&mut self, task: TaskId, plain: Plain) -> Result<(), bool> {
        self.catch_up();
        let Plain { kind, object, site, .. } = plain;
        if self.steps >= self.few_until || !self.search.closes(task, kind, object) {
            return Err(false);
        }
        let Some(row) = self.search.next_event() else { return Err(false) };
        if !self.rote.can_write(&self.script) {
            return Err(false);
        }
        let event = self.world.perform_plain::<true>(task, plain);
        let event = event.expect("raddle bug: what was taken could not be given back");
        row.write(event);
        self.script.close(task, object, site);
        self.quiet += 1;
        self.steps += 1;
        if self.analysis.plain_at_once(event, &self.world) { Ok(()) } else { Err(true) }
    }
}
