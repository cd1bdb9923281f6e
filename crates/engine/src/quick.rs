//! The quick way: what nearly every step of a sampled run is, with nothing else in between.
//!
//! It may be taken while nothing unusual goes on: the run has not ended, no time passes, nobody
//! spins, and nobody checks or records a schedule; in a search nobody has failed or timed out. All of that, and the bound of steps, is one
//! comparison ([`Engine::look_around`] keeps it up to date). It does for plain operations
//! ([`Plain`]) exactly what the general way in `director` does, and hands over to it
//! whatever is not plain. A test runs programs both ways and compares.

use crate::current::Current;
use crate::director::{Engine, Next};
use raddle_model::world::Life;
use raddle_model::{
    Analysis, Decision, Kind, ObjectId, Op, Order, Outcome, Pick, Plain, PlainEvent, Policy, SiteId, TaskId,
    TimeMode, Touch, View,
};

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// Finds out whether the quick way may be taken from here on. Whatever could change the answer
    /// ends with this; on the quick way itself only a look can.
    #[inline]
    pub(crate) fn look_around(&mut self) {
        let calm = self.verdict.is_none()
            && self.time_mode == TimeMode::Any
            && !self.time.is_active()
            && !self.spin.is_alert()
            && !self.search.is_alert()
            && !self.check.is_active()
            && !self.is_led();
        self.calm_until = if calm { self.steps_max } else { 0 };
        self.few_until = if self.world.tasks().len() <= 64 { self.calm_until } else { 0 };
        self.blind_until = if self.policy.is_blind() { self.few_until } else { 0 };
    }

    /// As [`Engine::arrive`], for a plain operation.
    #[inline(always)]
    pub fn arrive_plain(&mut self, task: TaskId, plain: Plain) -> Next {
        self.catch_up();
        if self.steps >= self.calm_until {
            return self.arrive_slowly(task, plain);
        }
        self.quiet = 0;
        self.end_spell();
        let others = self.world.enabled_tasks();
        if self.world.can(task, plain) && self.policy.stays(task, others, &self.world) {
            return self.stay(task, plain);
        }
        if !self.world.announce_plain::<false>(task, plain) {
            return self.arrive_in_vain(task);
        }
        self.next_at_once()
    }

    /// The task goes on without having been announced to anybody.
    #[inline(always)]
    fn stay(&mut self, task: TaskId, plain: Plain) -> Next {
        self.goes_on(task);
        let event = self.world.perform_plain::<false>(task, plain);
        self.happened(event.expect("raddle bug: what could be done did not happen"));
        if plain.touch == Touch::Exit {
            return self.next_after_exit();
        }
        Next::Run(task)
    }

    /// The task cannot do what it was announced to be about to do: another goes on.
    #[inline(never)]
    fn arrive_in_vain(&mut self, task: TaskId) -> Next {
        self.waits(task);
        self.next_quickly()
    }

    /// A task cannot do the plain operation that it was announced to be about to do.
    #[inline]
    pub(crate) fn waits(&mut self, task: TaskId) {
        let waits = self.world.task(task).life == Life::Pending && !self.world.enabled_tasks().contains(task);
        assert!(waits, "raddle bug: a task that waits for nothing does not go on");
        if !self.world.is_owned_by_one_that_can(self.world.task(task).op.object) {
            self.blocked(task);
        }
    }

    /// As [`Engine::announce`], for a plain operation.
    #[inline(always)]
    pub fn announce_plain(&mut self, task: TaskId, plain: Plain) {
        self.catch_up();
        if self.steps >= self.calm_until {
            return self.announce_with_care(task, plain.op());
        }
        if self.rote.is_on() {
            self.announce_by_rote(task, Some(plain));
        }
        if !self.world.announce_plain::<false>(task, plain) {
            self.waits(task);
        }
    }

    /// The same, if nothing unusual goes on, there are few tasks and it can do that. Otherwise nothing has happened.
    #[inline(always)]
    pub fn announce_at_once(&mut self, task: TaskId, plain: Plain) -> bool {
        self.catch_up();
        if self.steps >= self.few_until || self.rote.is_on() || !self.world.can(task, plain) {
            return false;
        }
        self.world.announce_plain::<true>(task, plain)
    }

    /// Makes a task, which is no scheduling point. It must run to its first operation next.
    #[inline]
    pub fn spawn(&mut self, parent: TaskId, site: SiteId) -> TaskId {
        self.catch_up();
        if self.steps >= self.calm_until {
            return self.spawn_with_care(parent, site);
        }
        self.end_spell();
        self.quiet += 1;
        self.steps += 1;
        let child = self.world.perform_spawn_only(parent, site);
        if self.search.is_active() {
            self.search.event(&self.world.spawned(parent, child, site));
        }
        self.analysis.spawned(parent, child, site, &self.world);
        if child.0 >= 64 {
            self.look_around();
        }
        if self.rote.is_on() {
            self.write_spawn(site, child);
        }
        child
    }

    /// As [`Engine::arrive`], for a task's last operation.
    #[inline]
    pub fn arrive_at_exit(&mut self, task: TaskId, site: SiteId) -> Next {
        let plain = self.exit_of(task, site);
        if self.is_blind() { self.arrive_blindly(task, plain) } else { self.arrive_in_writing(task, plain) }
    }

    /// A task's last operation.
    #[inline(always)]
    pub(crate) fn exit_of(&self, task: TaskId, site: SiteId) -> Plain {
        let object = self.world.task(task).object;
        Plain { kind: Kind::Exit, touch: Touch::Exit, order: Order::SeqCst, object, site }
    }

    /// As [`Engine::arrive`], for the end of the process.
    #[inline]
    pub fn arrive_at_end(&mut self, task: TaskId, site: SiteId) -> Next {
        self.catch_up();
        self.leave_rote();
        self.end_spell();
        let others = self.world.enabled_tasks();
        let alone = self.steps < self.calm_until && others.is_empty();
        // A blind policy need not be asked: there is nothing to choose.
        if !alone || !(self.is_blind() || self.policy.stays(task, others, &self.world)) {
            return self.arrive_with_care(task, Op::new(Kind::End, ObjectId::NONE, site));
        }
        self.goes_on(task);
        self.world.perform_end(task);
        self.steps += 1;
        if self.search.is_active() {
            self.search.event(&self.world.ended(task, site));
        }
        self.analysis.ended(task, site, &self.world);
        self.finished();
        self.ended_calmly = self.has_just_finished() && !self.search.is_active();
        // As a look around would find: the run is over.
        (self.calm_until, self.few_until, self.blind_until) = (0, 0, 0);
        Next::Over
    }

    /// It is decided that a task goes on that was not announced to anybody.
    #[inline(always)]
    fn goes_on(&mut self, task: TaskId) {
        let others = self.world.enabled_tasks();
        if !others.is_empty() {
            self.decisions.push(Decision::Run(task));
        }
        self.search.point_beside(self.steps, task, others, &self.world);
        self.current = Current::of(task);
    }

    /// A task has exited: another goes on.
    #[inline(never)]
    pub(crate) fn next_after_exit(&mut self) -> Next {
        self.next_quickly()
    }

    /// As [`Engine::schedule_next`].
    fn next_quickly(&mut self) -> Next {
        if self.world.enabled_tasks().is_empty() || self.steps >= self.calm_until {
            return self.schedule_next();
        }
        if self.is_blind() {
            self.next_blindly(self.world.enabled_tasks().low())
        } else {
            self.next_at_once()
        }
    }

    /// As [`Engine::schedule_next`], where somebody can run.
    #[inline(always)]
    pub(crate) fn next_at_once(&mut self) -> Next {
        self.end_spell();
        let enabled = self.world.enabled_tasks();
        self.search.point(self.steps, enabled, &self.world);
        let view = View { step: self.steps, current: self.current.get(), enabled, world: &self.world };
        let task = match self.policy.pick(&view) {
            Pick::Run(task) => task,
            Pick::Cut => return self.refused(None),
            Pick::Diverged(divergence) => return self.refused(Some(divergence)),
        };
        assert!(enabled.contains(task), "raddle bug: the policy picked one that cannot run");
        if enabled.several() {
            self.decisions.push(Decision::Run(task));
        }
        self.current = Current::of(task);
        match self.world.step_plain::<false>(task) {
            Some(event) => {
                self.happened(event);
                if event.plain.touch == Touch::Exit {
                    return self.next_after_exit();
                }
            }
            None => return self.proceed(task),
        }
        Next::Run(task)
    }

    /// As [`Engine::perform`], for a plain operation.
    #[inline(always)]
    pub fn perform_plain(&mut self, task: TaskId, plain: Plain) -> Outcome {
        self.catch_up();
        if self.steps < self.calm_until
            && let Some(event) = self.world.perform_plain::<false>(task, plain)
        {
            self.quiet += 1;
            self.happened(event);
            return Outcome::Done;
        }
        self.perform_with_care(task, plain.op())
    }

    #[inline(always)]
    pub(crate) fn happened(&mut self, event: PlainEvent) {
        self.steps += 1;
        self.search.plain(event);
        self.analysis.plain(event, &self.world);
        if event.plain.touch == Touch::Read {
            self.looked(event.task, event.plain.object, event.plain.site);
        }
    }

    /// A task that only looks may be spinning.
    #[inline(never)]
    pub(crate) fn looked(&mut self, task: TaskId, object: ObjectId, site: SiteId) {
        self.spin.looked(task, object, site, &mut self.world);
        self.look_around();
    }
}
