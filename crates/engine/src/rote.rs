//! By rote: the runs of a search begin alike, mostly for most of their way. Where a run does what the one before it
//! did, there is nothing to find out: who goes on is known, and so is what the world, the analyses and the log are
//! afterwards.
//!
//! While a run of a search goes on the engine writes down what its front end asks, a line for each call, and every few
//! scheduling points keeps what it is itself. A run that begins with the same steps starts out as the latest of these; until
//! the program has come as far, its calls are held against the lines and answered from them. So the program runs
//! again, and the engine does not.
//!
//! A program that asks for something else than before is not deterministic under its plan. Its run has *strayed*: it ends
//! there and is done again with care, which tells what is wrong ([`Engine::has_strayed`]).
//!
//! Lines answer who goes on, and nothing else. Operations that can end in several ways, choices, readings of the clock,
//! failures and whatever else a front end asks about the run end the writing: nothing is kept from there on.

mod kept;
mod script;
mod stay;
mod turn;

pub(crate) use self::kept::Rote;
use self::kept::{KEPT_MAX, Kept, Phase};
use self::script::{Call, Line};
pub(crate) use self::script::{IDS, Script};
use crate::director::{Engine, Next};
use raddle_model::objects::State;
use raddle_model::{Analysis, Kind, ObjectId, Outcome, Plain, Plan, Policy, SiteId, TaskId, Trace, Verdict};

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// As [`Engine::begin`], for a run of a search that begins as the last one did, if what that was is known: `trace`
    /// must be what [`Engine::write_search_trace`] was given after it. False, and nothing has happened, if not. Whoever
    /// knows that the first `shared` steps of the plan are those of that run need not have them compared.
    pub fn begin_by_rote(&mut self, plan: &Plan, trace: &mut Trace, shared: usize) -> bool {
        let found = self.rote.find(plan, trace, shared);
        let Some(place) = found.filter(|_| self.points == plan.points) else { return false };
        let kept = &self.rote.kept[place];
        let &Kept { lines, picks, events, decisions, first_states, steps, current, ref world, ref spin } =
            kept;
        world.copy_to(&mut self.world);
        spin.copy_to(&mut self.spin);
        self.time.begin();
        self.decisions.truncate(decisions);
        self.current = current;
        self.steps = steps;
        self.verdict = None;
        self.saw_try = false;
        self.quiet = 0;
        self.search.take_back(trace, picks, events);
        self.world.take_back_first_states(&mut trace.log.objects, first_states);
        self.policy.skip(picks);
        self.analysis.recall(place);
        self.rote.lead(lines, &mut self.script);
        self.rote.used = place + 1;
        self.again.begin();
        self.rote.handed_out = false;
        self.rote.led = picks;
        self.rote.parts = shared.saturating_sub(1);
        self.rote.keep_after(picks);
        self.look_around();
        true
    }

    /// Whether the run did not do what the one before it did. It is to be done again, from [`Engine::begin`] on, and
    /// no other will be led.
    pub fn has_strayed(&self) -> bool {
        self.rote.phase == Phase::Strayed
    }

    /// No run is led from here on.
    pub fn distrust_rote(&mut self) {
        self.rote.distrusted = true;
    }

    /// The next run is not led: what was handed out of the last one is gone.
    pub fn forget_rote(&mut self) {
        self.rote.handed_out = false;
    }

    /// Whether the run is one of a search, which calls [`Engine::arrive_in_writing`].
    pub fn is_searched(&self) -> bool {
        self.search.is_active()
    }

    /// Whether the run is led by the one before it, or was when it strayed.
    #[inline]
    pub fn is_led(&self) -> bool {
        self.rote.leads()
    }

    /// What comes now cannot be repeated by rote; a run that is led has strayed, since the one before did not come to it.
    #[inline]
    pub fn leave_rote(&mut self) {
        self.catch_up();
        if self.rote.phase != Phase::Idle {
            self.leave_lines();
        }
    }

    #[inline(never)]
    fn leave_lines(&mut self) {
        self.rote.stop();
        if self.rote.leads() {
            self.stray();
        }
    }

    #[cold]
    fn stray(&mut self) {
        self.rote.end(Phase::Strayed, &mut self.script);
        self.rote.distrusted = true;
        self.verdict = Some(Verdict::Cut);
    }

    /// The answer to a call of a run that is led. One that strays goes no further than its next operation, so any
    /// answer will do for it.
    fn answer_or_stray(&mut self, line: Line, task: TaskId) -> u32 {
        let answer = self.script.answer(line, task);
        if answer.is_none() {
            self.stray();
        }
        answer.unwrap_or(0)
    }

    /// The id that the next object will get.
    pub fn next_object(&mut self) -> ObjectId {
        self.catch_up();
        ObjectId(self.script.next_answer().unwrap_or_else(|| self.world.objects().len() as u32))
    }

    /// Registers an object, which has this id.
    #[inline]
    pub fn register(&mut self, state: State, site: SiteId) -> ObjectId {
        self.catch_up();
        let line = |answer| Line::new(Call::Register, Kind::Yield, ObjectId::NONE, site, answer);
        if self.rote.leads() {
            return ObjectId(self.answer_or_stray(line(0), TaskId::MAIN));
        }
        let object = self.world.create(state, site);
        if self.rote.is_on() {
            self.rote.write(line(object.0), &mut self.script);
        }
        object
    }

    /// A plain operation at a point that does not go the quick way.
    #[inline(never)]
    pub(crate) fn arrive_slowly(&mut self, task: TaskId, plain: Plain) -> Next {
        if !self.rote.leads() {
            return self.arrive_with_care(task, plain.op());
        }
        self.arrive_by_rote(task, plain.kind, plain.object, plain.site)
    }

    /// As [`Engine::arrive_plain`], in a run of a search.
    #[inline(always)]
    pub fn arrive_in_writing(&mut self, task: TaskId, plain: Plain) -> Next {
        let led = self.rote.leads();
        let next = self.arrive_plain(task, plain);
        if self.rote.is_writing() && !led {
            self.write_arrival(task, plain, next);
        }
        next
    }

    /// The same in a run that is led.
    #[inline(never)]
    pub fn arrive_by_rote(&mut self, task: TaskId, kind: Kind, object: ObjectId, site: SiteId) -> Next {
        let next = self.repeat_arrival(task, kind, object, site);
        let Some(next) = next.or_else(|| self.repeat_last(task, kind, object, site)) else {
            self.stray();
            return Next::Over;
        };
        Next::Run(next)
    }

    /// Who goes on by the lines, if they say that the task comes to this point now, and that another call comes after it.
    /// If not it is the last one, the run is not led any more, the task was just made, or the run will stray.
    #[inline(always)]
    pub fn repeat_arrival(
        &mut self,
        task: TaskId,
        kind: Kind,
        object: ObjectId,
        site: SiteId,
    ) -> Option<TaskId> {
        self.script.answer(Line::new(Call::Arrive, kind, object, site, 0), task).map(TaskId)
    }

    /// Whether the lines say that the task that is running comes to a point with this object now, and goes on. All runs ask this at
    /// most operations, so it is one comparison. `object` may be any number, as long as those that are no ids are more than ids can be.
    #[inline(always)]
    pub fn repeats_on(&self, object: u64) -> bool {
        self.script.is_about(object)
    }

    /// Whether the lines say that the task that is running comes to this point now and goes on, as most do, and that another
    /// call comes after it. Then it has, and this is a number that differs from the one before it. No more than this is compiled
    /// into the program's own functions.
    #[inline(always)]
    pub fn repeat_stay(&mut self, kind: Kind, object: u64, site: SiteId) -> Option<usize> {
        self.script.stays(kind, object, site)
    }

    /// Whether the lines say that the running task takes a mutex now, and gives it back before anything else. If it then takes it
    /// [`Engine::repeat_close`] must be told of the rest. Nobody may take it meanwhile.
    #[inline(always)]
    pub fn repeats_section(&mut self, object: u64, site: SiteId) -> bool {
        self.script.opens(object, site)
    }

    /// The running task gives back what it has taken so. A number as [`Engine::repeat_stay`] has it; none if the run is not led any
    /// more.
    #[inline(always)]
    pub fn repeat_close(&mut self) -> Option<usize> {
        self.script.gives_back()
    }

    /// The same for the last call: the program has come as far as the state with which the run began, and goes on by itself.
    #[inline(never)]
    pub fn repeat_last(
        &mut self,
        task: TaskId,
        kind: Kind,
        object: ObjectId,
        site: SiteId,
    ) -> Option<TaskId> {
        let next =
            self.rote.answer_last(Line::new(Call::Arrive, kind, object, site, 0), task, &mut self.script);
        if next.is_some() {
            self.look_around();
        }
        next.map(TaskId)
    }

    /// Who went on after a task's arrival is written down, and now and then a state is kept.
    #[inline(never)]
    pub(crate) fn write_arrival(&mut self, task: TaskId, plain: Plain, next: Next) {
        let Next::Run(next) = next else { return self.rote.stop() };
        let Plain { kind, object, site, .. } = plain;
        let picks = self.search.progress().0;
        let keeps = picks >= self.rote.keep_from;
        if next != task {
            self.script.write(Line::new(Call::Arrive, kind, object, site, next.0));
        } else if keeps {
            // A state is kept between lines, so that this is one by itself.
            self.script.write(Line::staying(kind, task, object, site));
        } else {
            self.script.write_stay(kind, task, object, site);
        }
        if keeps {
            self.keep(picks);
        }
    }

    /// The running task gives back what its step has taken ([`Engine::closes_section`]). No point, and a line all the same:
    /// whoever is led must do so, too.
    #[inline(never)]
    pub fn close_section(&mut self, task: TaskId, plain: Plain) -> Outcome {
        self.catch_up();
        let calm = self.steps < self.calm_until;
        let outcome = self.perform_plain(task, plain);
        if calm && self.rote.is_writing() {
            self.script.close(task, plain.object, plain.site);
        }
        outcome
    }

    /// The running task has given back a mutex while somebody panicked. A run that is led by this one must find out the same, and
    /// [`Engine::repeat_close`] does not.
    pub fn part_section(&mut self, task: TaskId, object: ObjectId, site: SiteId) {
        if self.rote.is_writing() {
            self.script.part(task, object, site);
        }
    }

    /// Whether the lines say that a task that was just made announces this now. Then it has.
    #[inline]
    pub fn repeat_announcement(&mut self, task: TaskId, kind: Kind, object: ObjectId, site: SiteId) -> bool {
        self.script.answer(Line::new(Call::Announce, kind, object, site, 0), task).is_some()
    }

    /// The first operation of a task that was just made.
    #[inline(never)]
    pub(crate) fn announce_by_rote(&mut self, task: TaskId, plain: Option<Plain>) {
        let line =
            plain.map(|Plain { kind, object, site, .. }| Line::new(Call::Announce, kind, object, site, 0));
        match (self.rote.phase, line) {
            (Phase::Idle | Phase::Strayed, _) => {}
            (Phase::Writing, Some(line)) => self.rote.write(line, &mut self.script),
            (Phase::Led, Some(line)) if self.script.answer(line, task).is_some() => {}
            _ => self.leave_rote(),
        }
    }

    /// A task is made. Which, if the run is led.
    #[inline]
    pub(crate) fn spawn_by_rote(&mut self, parent: TaskId, site: SiteId) -> TaskId {
        TaskId(self.answer_or_stray(Line::new(Call::Spawn, Kind::Spawn, ObjectId::NONE, site, 0), parent))
    }

    /// A task was made.
    #[inline(never)]
    pub(crate) fn write_spawn(&mut self, site: SiteId, child: TaskId) {
        self.rote.write(Line::new(Call::Spawn, Kind::Spawn, ObjectId::NONE, site, child.0), &mut self.script);
    }

    /// A store that changed nothing. False if the run is not led.
    #[inline]
    pub(crate) fn unchanged_by_rote(&mut self, object: ObjectId) -> bool {
        let line = Line::new(Call::Unchanged, Kind::Store, object, SiteId::UNKNOWN, 0);
        if !self.rote.leads() {
            self.rote.write(line, &mut self.script);
            return false;
        }
        self.answer_or_stray(line, TaskId::MAIN);
        true
    }

    /// The log of the run is handed out.
    pub(crate) fn end_rote(&mut self) {
        self.rote.handed_out = true;
        self.rote.space(self.search.progress().0, self.world.objects().len());
    }

    /// Keeps what the engine is now, if all that it is can be kept.
    #[inline(never)]
    fn keep(&mut self, picks: usize) {
        // What keeps a run from the quick way (time, spinning, failures) is nothing that is kept.
        if self.calm_until == 0 || !self.analysis.can_keep() {
            return;
        }
        let place = self.rote.used;
        if place == KEPT_MAX {
            return;
        }
        if self.rote.kept.len() == place {
            self.rote.kept.push(Kept::default());
        }
        let (events, first_states) = (self.search.events(), self.world.first_states().len());
        let kept = &mut self.rote.kept[place];
        kept.lines = self.script.settle();
        (kept.picks, kept.events, kept.decisions) = (picks, events, self.decisions.len());
        (kept.first_states, kept.steps, kept.current) = (first_states, self.steps, self.current);
        self.world.copy_to(&mut kept.world);
        self.spin.copy_to(&mut kept.spin);
        self.analysis.keep(place);
        self.rote.used = place + 1;
        self.rote.keep_after(picks);
    }
}
