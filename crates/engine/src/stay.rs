//! The short way of a task that goes on: where the policy says that at once, nobody need hear what it was about to do.
//! Like the blind way, it is what nearly every step of such a run is, and nothing else.

use crate::director::Engine;
use raddle_model::{Analysis, Plain, Policy, TaskId, Touch};

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// As [`Engine::arrive_plain`] if the task goes on, where decisions are only counted
    /// ([`Engine::only_counts_decisions`]) and the run is none of a search. `Err(true)`: it goes on, and
    /// [`Engine::tell`] comes next. `Err(false)`: nothing has happened.
    #[inline(always)]
    pub fn stay_at_once(&mut self, task: TaskId, plain: Plain) -> Result<(), bool> {
        debug_assert!(!self.search.is_active(), "raddle bug: a run of a search is not written down");
        // Who looks may be spinning, and who exits does not go on.
        if self.steps >= self.few_until || matches!(plain.touch, Touch::Read | Touch::Exit) {
            return Err(false);
        }
        let (others, tasks) = (self.world.enabled_tasks().low(), self.world.tasks().len());
        if !self.world.can(task, plain) || !self.policy.stays_at_once(task, others, tasks) {
            return Err(false);
        }
        self.quiet = 0;
        if others != 0 {
            self.decisions.count_one();
        }
        self.current = Some(task);
        let event = self.world.perform_plain::<true>(task, plain);
        let event = event.expect("raddle bug: what could be done did not happen");
        self.steps += 1;
        if self.analysis.plain_at_once(event, &self.world) { Ok(()) } else { Err(true) }
    }
}
