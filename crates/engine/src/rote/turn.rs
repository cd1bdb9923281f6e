//! The short way of a task that does not go on in a run of a search, though it could, and of one that exits: who is next is
//! mostly a step of the plan, or the next in turn. All else goes the general way.

use super::script::{Call, Line};
use crate::current::Current;
use crate::director::{Engine, Next};
use raddle_model::{Analysis, Plain, PlainEvent, Policy, SiteId, TaskId, Touch};

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// As [`Engine::arrive_in_writing`] if the policy says at once that another goes on. None, and nothing has happened, if not.
    #[inline]
    pub fn turn_in_writing(&mut self, task: TaskId, plain: Plain) -> Option<Next> {
        self.catch_up();
        let picks = self.search.progress().0;
        let room = self.rote.has_room(picks, &self.script) && self.search.next_rows().is_some();
        if self.steps >= self.few_until || !self.decisions.only_counts() || !room {
            return None;
        }
        if !self.world.can(task, plain) {
            return None;
        }
        let enabled = self.world.enabled_tasks().low() | 1 << task.0;
        let next = self.policy.next_in_search(enabled, task, &self.world).filter(|next| *next != task)?;
        self.quiet = 0;
        self.world.announce_plain::<true>(task, plain);
        Some(self.turn_to(next, enabled, task, plain))
    }

    /// As [`Engine::arrive_at_exit`], if the policy lets the task exit at once. None, and nothing has happened, if not.
    #[inline]
    pub fn exit_in_writing(&mut self, task: TaskId, site: SiteId) -> Option<Next> {
        self.catch_up();
        let plain = self.exit_of(task, site);
        // There is another point after this one.
        let room = self.rote.has_room(self.search.progress().0 + 1, &self.script);
        if self.steps + 1 >= self.few_until || !self.decisions.only_counts() || !room {
            return None;
        }
        let rows = self.search.next_rows()?;
        if !self.world.can(task, plain) || !self.policy.stays_in_search(task, &self.world) {
            return None;
        }
        self.quiet = 0;
        let others = self.world.enabled_tasks().low();
        if others != 0 {
            self.decisions.count_one();
        }
        self.current = Current::of(task);
        let objects = self.world.objects().len() as u32;
        let event = self.world.perform_plain::<true>(task, plain);
        let event = event.expect("raddle bug: what could be done did not happen");
        rows.write(self.steps as u32, objects, others | 1 << task.0, event);
        self.tell_at_once(event);
        // Others may have waited for it.
        let enabled = self.world.enabled_tasks().low();
        let next = self.policy.next_in_search(enabled, task, &self.world);
        let Some(next) = next.filter(|_| self.search.next_rows().is_some()) else {
            let next = self.next_after_exit();
            self.write_arrival(task, plain, next);
            return Some(next);
        };
        Some(self.turn_to(next, enabled, task, plain))
    }

    /// One of those who can run goes on after a task's arrival, as the policy has said it would.
    #[inline(always)]
    fn turn_to(&mut self, next: TaskId, enabled: u64, task: TaskId, plain: Plain) -> Next {
        assert!(enabled >> (next.0 & 63) & 1 == 1, "raddle bug: the policy picked one that cannot run");
        self.policy.goes_on_in_search();
        if enabled & (enabled - 1) != 0 {
            self.decisions.count_one();
        }
        self.current = Current::of(next);
        let objects = self.world.objects().len() as u32;
        let rows = self.search.next_rows().expect("raddle bug: there was room for one more");
        let seldom = match self.world.step_plain::<true>(next) {
            Some(event) => {
                rows.write(self.steps as u32, objects, enabled, event);
                self.tell_at_once(event);
                match event.plain.touch {
                    Touch::Read => Some(self.looks(event)),
                    Touch::Exit => Some(self.next_after_exit()),
                    _ => None,
                }
            }
            None => {
                rows.write_point(self.steps as u32, objects, enabled);
                Some(self.proceed(next))
            }
        };
        if let Some(next) = seldom {
            self.write_arrival(task, plain, next);
            return next;
        }
        let Plain { kind, object, site, .. } = plain;
        self.script.write(Line::new(Call::Arrive, kind, object, site, next.0));
        Next::Run(next)
    }

    #[inline(never)]
    fn looks(&mut self, event: PlainEvent) -> Next {
        self.looked(event.task, event.plain.object, event.plain.site);
        Next::Run(event.task)
    }

    /// An event whose row is written.
    #[inline(always)]
    fn tell_at_once(&mut self, event: PlainEvent) {
        self.steps += 1;
        if !self.analysis.plain_at_once(event, &self.world) {
            self.tell(event.task, event.plain);
        }
    }
}
