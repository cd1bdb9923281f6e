//! The short way of a task that may not go on, where the policy can pick at once who does. What is drawn in `blind` is
//! picked here, by looking; all else is the same.

use crate::blind::{Halt, Inline};
use crate::director::Engine;
use crate::stay::Spell;
use raddle_model::{Analysis, Decision, Plain, Policy, SiteId, TaskId};

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// As [`Engine::arrive_plain`], while [`Engine::has_few`] and if the run is none of a search. Says who goes on, or where it has
    /// stopped; then [`Engine::go_on_after`] comes next. Calls `picked` as [`Engine::toss`] does.
    #[inline(always)]
    pub fn arrive_aside(
        &mut self,
        task: TaskId,
        plain: Plain,
        picked: impl FnMut(TaskId),
    ) -> Result<TaskId, Halt> {
        debug_assert!(!self.search.is_active(), "raddle bug: a run of a search is not written down");
        self.catch_up();
        self.quiet = 0;
        let enabled = self.announce_for_others(task, plain)?;
        self.pick_among(enabled, picked)
    }

    /// The same for a task's last operation. Where it goes on, nobody need hear of that before it is done.
    #[inline]
    pub fn exit_aside(
        &mut self,
        task: TaskId,
        site: SiteId,
        picked: impl FnMut(TaskId),
    ) -> Result<TaskId, Halt> {
        if !self.goes_on_at_once() {
            return self.arrive_aside(task, self.exit_of(task, site), picked);
        }
        let event = self.world.perform_plain::<true>(task, self.exit_of(task, site));
        self.went_on();
        if !self.analysis.plain_at_once(event.expect("raddle bug: a task cannot exit"), &self.world) {
            self.tell_exit(task, site);
        }
        let others = self.world.enabled_tasks().low();
        if others != 0 && self.has_few() { self.pick_among(others, picked) } else { Err(Halt::Nobody) }
    }

    // As [`Engine::tell`], for what is put together here: it need not be in memory where nobody is told.
    #[inline(never)]
    fn tell_exit(&mut self, task: TaskId, site: SiteId) {
        self.tell(task, self.exit_of(task, site));
    }

    /// The one of these that the policy picks does what it was about to do; if it exits, another one, too.
    #[inline(always)]
    pub(crate) fn pick_among(
        &mut self,
        mut enabled: u64,
        mut picked: impl FnMut(TaskId),
    ) -> Result<TaskId, Halt> {
        self.end_spell();
        loop {
            let Some((task, given)) = self.policy.pick_at_once(enabled, &self.world) else {
                self.world.keep_low(enabled);
                return Err(Halt::Undrawn);
            };
            assert!(enabled >> (task.0 & 63) & 1 == 1, "raddle bug: the policy picked one that cannot run");
            if enabled & (enabled - 1) != 0 {
                self.decisions.push(Decision::Run(task));
            }
            picked(task);
            match self.do_as_drawn(task, enabled, Inline::All)? {
                Some(others) => enabled = others,
                None => {
                    self.spell = Spell::new(given, enabled & !(1 << (task.0 & 63)));
                    return Ok(task);
                }
            }
        }
    }
}
