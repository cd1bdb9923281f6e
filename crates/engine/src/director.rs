//! The director: routes announcements to the world, the policy and the analyses, and nothing else.
//!
//! A front end calls [`Engine::arrive`] when a task reaches an operation. The engine asks the
//! policy, lets one task's operation happen and answers who that was; the front end lets that
//! task run up to its next operation. A task that has just been made runs to its first operation
//! before anybody else goes on ([`Engine::announce`]), so that the policy never decides blind.

use crate::again::Again;
use crate::check::Check;
use crate::current::Current;
use crate::deadlock;
use crate::decisions::Decisions;
use crate::rote::{Rote, Script};
use crate::search::Search;
use crate::spin::Spin;
use crate::stay::Spell;
use crate::time::Time;
use alloc::boxed::Box;
use alloc::format;
use raddle_model::objects::State;
use raddle_model::trace::Hidden;
use raddle_model::{
    Analysis, Choice, Decision, Divergence, Event, Failure, FailureKind, Kind, Mode, ObjectId, Op, Outcome,
    Pick, PointSet, Policy, SiteId, TaskId, TaskSet, TimeMode, Touch, Verdict, View, World,
};

/// Who goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// This task's operation has happened, with the outcome [`Engine::outcome`]: it runs on.
    Run(TaskId),
    /// The run is over; [`Engine::verdict`] says how.
    Over,
}

/// Operations in a row that need not be scheduling points.
const QUIET_MAX: u32 = 10_000;

/// One run. It is used for many runs in a row, so that nothing is allocated in the steady state.
#[derive(Debug)]
// What every step asks for comes first: the nearer it is to the beginning, the shorter are the instructions.
#[repr(C)]
pub struct Engine<P, A> {
    pub(crate) steps: u64,
    pub(crate) blind_until: u64,
    // The same while there are few tasks, and for the blind way.
    pub(crate) few_until: u64,
    // The number of steps up to which the quick way may be taken, 0 while it may not. See `quick`.
    pub(crate) calm_until: u64,
    // Operations since the last scheduling point.
    pub(crate) quiet: u32,
    pub(crate) current: Current,
    pub(crate) world: World,
    // The points at which the policy need not be asked. See `stay`.
    pub(crate) spell: Spell,
    // What the current task may do without anybody hearing of it. See `again`.
    pub(crate) again: Again,
    pub(crate) decisions: Decisions,
    pub(crate) policy: P,
    pub(crate) analysis: A,
    pub(crate) points: PointSet,
    pub(crate) time: Time,
    pub(crate) time_mode: TimeMode,
    pub(crate) spin: Spin,
    pub(crate) check: Check,
    // invariant: empty between calls of `schedule`; kept for its memory.
    pub(crate) pickable: TaskSet,
    pub(crate) steps_max: u64,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) saw_try: bool,
    // Whether the front end is asked before it is called a deadlock that nobody can run, and whether it is now.
    pub(crate) asks_outside: bool,
    pub(crate) idle: bool,
    // Whether the last run has finished, was none of a search, and nothing unusual was going on then.
    pub(crate) ended_calmly: bool,
    // Whether the plan is to repeat a whole run.
    pub(crate) repeats: bool,
    // What the repeated run must have; 0 if nobody knows.
    pub(crate) fingerprint: u128,
    // What a search wants to know of its runs.
    pub(crate) search: Search,
    // What its next run need not find out again. Elsewhere in memory: no other run has a use for it.
    pub(crate) rote: Box<Rote>,
    // What it is told instead.
    pub(crate) script: Script,
}

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// An engine that is ready for [`Engine::begin`].
    pub fn new(policy: P, analysis: A) -> Engine<P, A> {
        Engine {
            world: World::default(),
            policy,
            analysis,
            points: PointSet::default(),
            time: Time::default(),
            time_mode: TimeMode::Any,
            spin: Spin::default(),
            check: Check::default(),
            decisions: Decisions::default(),
            pickable: TaskSet::EMPTY,
            current: Current::default(),
            steps: 0,
            steps_max: 0,
            verdict: None,
            saw_try: false,
            asks_outside: false,
            idle: false,
            quiet: 0,
            spell: Spell::default(),
            again: Again::default(),
            calm_until: 0,
            few_until: 0,
            blind_until: 0,
            ended_calmly: false,
            repeats: false,
            fingerprint: 0,
            search: Search::default(),
            rote: Box::default(),
            script: Script::default(),
        }
    }

    /// Tasks that look at the same so often are not held back yet: they may do something else after a few looks.
    pub fn tolerate_laps(&mut self, laps: u32) {
        self.spin.tolerate(laps);
    }

    /// Whether the policy is asked before this operation. A task that has done very many that
    /// were none comes to one: it may be waiting for a plain flag that another is to set.
    #[inline]
    pub fn is_point(&self, op: &Op) -> bool {
        self.is_point_at(op.kind, op.site) && !self.closes_section(op.kind, op.object)
    }

    /// Whether the running task gives back what its step has taken, and that is no point of its own.
    #[inline]
    pub fn closes_section(&self, kind: Kind, object: ObjectId) -> bool {
        self.current.get().is_some_and(|task| self.search.closes(task, kind, object))
    }

    /// The same for all but giving a mutex back in a search, from what it depends on.
    #[inline]
    pub fn is_point_at(&self, kind: Kind, site: SiteId) -> bool {
        self.points.contains_at(kind, site)
            || (self.quiet >= QUIET_MAX && !matches!(kind, Kind::Spawn | Kind::Choose | Kind::Fence))
    }

    /// A task says what it is about to do, and others go on first: for a task that was just made.
    #[inline]
    pub fn announce(&mut self, task: TaskId, op: Op) {
        match op.plain() {
            Some(plain) => self.announce_plain(task, plain),
            None => self.announce_with_care(task, op),
        }
    }

    #[inline(never)]
    pub(crate) fn announce_with_care(&mut self, task: TaskId, op: Op) {
        self.catch_up();
        self.announce_by_rote(task, op.plain());
        if !self.is_led() {
            self.announce_truly(task, op);
        }
    }

    fn announce_truly(&mut self, task: TaskId, op: Op) {
        self.spin.settle(&mut self.world);
        if op.mode != Mode::Block && matches!(op.kind, Kind::Lock | Kind::ReadLock | Kind::WriteLock) {
            self.saw_try = true;
        }
        if !self.world.announce(task, op) {
            self.blocked(task);
        }
    }

    /// Tasks do something whose order matters and that is no operation.
    pub fn hide(&mut self, what: Hidden) {
        self.catch_up();
        self.search.hidden.add(what);
    }

    /// The running task has come between another and what that was about to do: it does `op` instead.
    pub fn amend(&mut self, task: TaskId, op: Op) {
        self.leave_rote();
        self.spin.settle(&mut self.world);
        self.spin.let_go(task, &mut self.world);
        if !self.world.amend(task, op) {
            self.blocked(task);
        }
        self.look_around();
    }

    /// A task cannot do what it is about to do: that may close a cycle.
    #[inline(never)]
    pub(crate) fn blocked(&mut self, task: TaskId) {
        if let Some(tasks) = deadlock::cycle(&self.world, task) {
            self.fail(deadlock::of_cycle(&self.world, tasks));
        }
    }

    /// A task has reached a scheduling point. Says who goes on.
    pub fn arrive(&mut self, task: TaskId, op: Op) -> Next {
        match op.plain() {
            Some(plain) if self.is_blind() => self.arrive_blindly(task, plain),
            Some(plain) => self.arrive_in_writing(task, plain),
            None if op.kind == Kind::End => self.arrive_at_end(task, op.site),
            None if self.is_blind() && World::is_at_condvar(&op) => self.arrive_at_condvar(task, op),
            None => {
                self.leave_rote();
                self.arrive_with_care(task, op)
            }
        }
    }

    #[inline(never)]
    pub(crate) fn arrive_with_care(&mut self, task: TaskId, op: Op) -> Next {
        self.catch_up();
        if self.has_strayed() {
            return Next::Over;
        }
        self.announce_truly(task, op);
        self.look_around();
        self.next_as_can_be()
    }

    /// An operation that is no scheduling point happens at once.
    pub fn perform(&mut self, task: TaskId, op: Op) -> Outcome {
        match op.plain() {
            Some(plain) if self.is_blind() && plain.touch == Touch::Give => self.give_blindly(task, plain),
            Some(plain) if self.closes_section(plain.kind, plain.object) => self.close_section(task, plain),
            Some(plain) => self.perform_plain(task, plain),
            None if op.kind == Kind::Spawn => Outcome::Spawned(self.spawn(task, op.site)),
            None => self.perform_with_care(task, op),
        }
    }

    #[inline(never)]
    pub(crate) fn perform_with_care(&mut self, task: TaskId, op: Op) -> Outcome {
        self.leave_rote();
        if self.has_strayed() {
            return Outcome::Done;
        }
        self.quiet += 1;
        self.spin.settle(&mut self.world);
        self.world.announce(task, op);
        self.execute(task, 0);
        self.look_around();
        self.outcome(task)
    }

    #[inline(never)]
    pub(crate) fn spawn_with_care(&mut self, parent: TaskId, site: SiteId) -> TaskId {
        self.catch_up();
        if self.is_led() {
            return self.spawn_by_rote(parent, site);
        }
        self.end_spell();
        match self.perform_with_care(parent, Op::new(Kind::Spawn, ObjectId::NONE, site)) {
            Outcome::Spawned(child) => child,
            other => panic!("raddle bug: a spawn gave {other:?}"),
        }
    }

    /// A value below `arity`, chosen by the policy.
    pub fn choose(&mut self, task: TaskId, arity: u32, site: SiteId) -> u32 {
        self.leave_rote();
        if self.has_strayed() {
            return 0;
        }
        let choice = Choice { kind: Kind::Choose, arity, object: ObjectId::NONE, site };
        let value = self.decide(&choice);
        self.spin.settle(&mut self.world);
        self.world.announce(task, Op::new(Kind::Choose, ObjectId::NONE, site).arg(u64::from(arity)));
        self.execute(task, value);
        self.look_around();
        value
    }

    /// The task's last store or read-modify-write left the value as it was.
    pub fn unchanged(&mut self, object: ObjectId) {
        self.catch_up();
        if self.unchanged_by_rote(object) {
            return;
        }
        self.world.unchanged(object);
        if let Some(task) = self.current.get() {
            self.spin.unchanged(task, object, &mut self.world);
        }
        self.look_around();
    }

    /// What the task's clock says, in nanoseconds since the run began.
    pub fn now(&mut self, task: TaskId) -> u64 {
        self.leave_rote();
        let now = self.time.now(task);
        self.look_around();
        now
    }

    /// A bug was found. The first one counts. In a search the run may go on without its task.
    pub fn fail(&mut self, failure: Failure) {
        self.leave_rote();
        if self.verdict.is_none() && !self.search.postpones(&failure) {
            self.verdict = Some(Verdict::Failed(failure));
        }
        self.look_around();
    }

    /// A bug was found after which nothing of the program can go on.
    pub fn crash(&mut self, failure: Failure) {
        self.leave_rote();
        if self.verdict.is_none() {
            self.search.cut = true;
            self.verdict = Some(Verdict::Failed(self.search.first_or(failure)));
        }
        self.look_around();
    }

    /// Whether the task has failed in a run that goes on: it must not.
    #[inline]
    pub fn has_stopped(&self, task: TaskId) -> bool {
        self.search.stopped.contains(task)
    }

    #[expect(clippy::boxed_local, reason = "it comes boxed from the policy")]
    pub(crate) fn diverge(&mut self, divergence: Box<Divergence>) {
        if self.verdict.is_none() {
            self.verdict = Some(Verdict::Diverged(*divergence));
        }
    }

    fn decide(&mut self, choice: &Choice) -> u32 {
        if choice.arity <= 1 || self.verdict.is_some() {
            return 0;
        }
        self.end_spell();
        match self.policy.choose(choice) {
            Ok(value) => {
                assert!(value < choice.arity, "raddle bug: the policy chose {value} of {}", choice.arity);
                self.decisions.push(Decision::Choose(value));
                self.search.chose(choice.arity, value);
                value
            }
            Err(mut divergence) => {
                divergence.step = self.steps;
                self.diverge(divergence);
                0
            }
        }
    }

    /// Lets the policy pick until a task has something to run.
    #[inline(never)]
    pub fn schedule_next(&mut self) -> Next {
        self.catch_up();
        self.quiet = 0;
        self.idle = false;
        let mut next = None;
        while self.verdict.is_none() && next.is_none() && !self.idle {
            next = self.pick().and_then(|task| self.let_happen(task));
        }
        self.look_around();
        next.unwrap_or(Next::Over)
    }

    /// The picked task does what it was about to do. None if it is not the one that goes on.
    fn let_happen(&mut self, task: TaskId) -> Option<Next> {
        let kind = self.world.task(task).op.kind;
        let pick = if kind == Kind::NotifyOne { self.choose_waiter(task) } else { 0 };
        self.current = Current::of(task);
        self.execute(task, pick);
        match kind {
            Kind::Exit => return None,
            Kind::End => self.finished(),
            _ if self.has_stopped(task) => return None,
            _ => {}
        }
        self.verdict.is_none().then_some(Next::Run(task))
    }

    /// The same for a task that was picked on the quick way.
    #[inline(never)]
    pub(crate) fn proceed(&mut self, task: TaskId) -> Next {
        if self.step_at_condvar(task) {
            return Next::Run(task);
        }
        match self.let_happen(task) {
            Some(next) => {
                self.look_around();
                next
            }
            None => self.schedule_next(),
        }
    }

    /// Asks the policy. None if that ended the run.
    #[inline]
    fn pick(&mut self) -> Option<TaskId> {
        if self.steps >= self.steps_max {
            self.out_of_steps();
            return None;
        }
        self.end_spell();
        let simple =
            self.time_mode == TimeMode::Any && !self.spin.holds_back() && !self.search.is_impatient();
        if !simple {
            self.restrict();
        }
        let enabled = if simple { self.world.enabled_tasks() } else { &self.pickable };
        if enabled.is_empty() {
            self.stand_still();
            return None;
        }
        self.search.point(self.steps, enabled, &self.world);
        let view = View { step: self.steps, current: self.current.get(), enabled, world: &self.world };
        match self.policy.pick(&view) {
            Pick::Run(task) => {
                assert!(enabled.contains(task), "raddle bug: the policy picked {task:?}, which cannot run");
                if enabled.several() {
                    self.decisions.push(Decision::Run(task));
                }
                Some(task)
            }
            Pick::Cut => {
                self.refused(None);
                None
            }
            Pick::Diverged(divergence) => {
                self.refused(Some(divergence));
                None
            }
        }
    }

    /// The policy has ended the run, since it has left its prefix or is of no further interest.
    #[cold]
    pub(crate) fn refused(&mut self, divergence: Option<Box<Divergence>>) -> Next {
        match divergence {
            None => self.verdict = Some(Verdict::Cut),
            Some(mut divergence) => {
                divergence.step = self.steps;
                self.diverge(divergence);
            }
        }
        self.look_around();
        Next::Over
    }

    fn choose_waiter(&mut self, task: TaskId) -> u32 {
        let op = self.world.task(task).op;
        let arity = match &self.world.object(op.object).state {
            State::Condvar(condvar) => condvar.waiters.len() as u32,
            other => panic!("raddle bug: a notification of a {}", other.noun()),
        };
        self.decide(&Choice { kind: Kind::NotifyOne, arity, object: op.object, site: op.site })
    }

    /// A task's pending operation happens.
    fn execute(&mut self, task: TaskId, pick: u32) {
        let outcome = self.world.step(task, pick);
        self.steps += 1;
        let entry = self.world.task(task);
        let event = Event { task, index: entry.events - 1, op: entry.op, outcome };
        self.time.event(&event);
        self.search.event(&event);
        self.spin.event(&event, &mut self.world);
        self.analysis.event(&event, &self.world);
        if let Err(divergence) = self.check.event(&event) {
            self.left(divergence);
        }
        if matches!(outcome, Outcome::Misuse) {
            self.misused(event);
        }
    }

    #[cold]
    fn left(&mut self, mut divergence: Box<Divergence>) {
        divergence.decision = self.decisions.len();
        self.diverge(divergence);
    }

    #[cold]
    fn misused(&mut self, event: Event) {
        let Event { task, op, .. } = event;
        let (path, noun) = (self.world.path(task), self.world.object(op.object).state.noun());
        let message = match op.kind {
            Kind::Wait => format!("{path} waits for a {noun} with a mutex that it does not hold"),
            _ => format!("{path} unlocks a {noun} that it does not hold"),
        };
        let (tasks, sites) = (alloc::vec![task], alloc::vec![op.site]);
        self.fail(Failure { kind: FailureKind::Misuse, message, tasks, sites });
    }

    #[inline]
    pub(crate) fn finished(&mut self) {
        self.end_spell();
        match self.policy.finished(self.steps) {
            Ok(()) if !self.search.is_active() => self.verdict = Some(Verdict::Finished),
            Ok(()) => self.verdict = Some(self.search.verdict()),
            Err(mut divergence) => {
                divergence.step = self.steps;
                self.diverge(divergence);
            }
        }
    }
}
