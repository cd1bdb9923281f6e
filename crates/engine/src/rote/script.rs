//! What is written down of a run of a search, and what is kept of it.

use crate::current::Current;
use crate::spin::Spin;
use alloc::vec::Vec;
use raddle_model::plan::{Step, Steps};
use raddle_model::{Kind, ObjectId, Plan, SiteId, SpinMode, Tail, TaskId, TimeMode, Trace, World};

/// States that are kept of one run.
pub(super) const KEPT_MAX: usize = 256;
/// Scheduling points between two of them, at least.
pub(super) const SPACING_MIN: usize = 8;
/// To keep one costs as much as so many steps, and half a step more for each object.
const COST_STEPS: usize = 3;
/// Tasks that a line can tell apart.
pub(super) const TASKS_MAX: u32 = 1 << 20;

/// No line is there.
const BEYOND: usize = usize::MAX;

/// What a run does with its lines.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Phase {
    /// Nothing.
    #[default]
    Idle,
    /// It writes them.
    Writing,
    /// It is led by them.
    Led,
    /// It was, and has strayed.
    Strayed,
}

/// What a front end asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    Arrive,
    Announce,
    Spawn,
    Register,
    Unchanged,
}

/// A call, and its answer if it has one: a task or an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// The call, the kind of its operation and its task.
    what: u32,
    object: ObjectId,
    site: SiteId,
    pub(super) answer: u32,
}

impl Line {
    #[inline(always)]
    pub(super) fn new(
        call: Call,
        kind: Kind,
        task: TaskId,
        object: ObjectId,
        site: SiteId,
        answer: u32,
    ) -> Line {
        debug_assert!(task.0 < TASKS_MAX, "raddle bug: so many tasks do nothing by rote");
        let what = (call as u32) << 28 | (kind as u32) << 20 | task.0;
        Line { what, object, site, answer }
    }

    /// Whether it is the same call.
    #[inline(always)]
    fn is_same(&self, call: Line) -> bool {
        self.what == call.what && self.object == call.object && self.site == call.site
    }
}

/// What the engine was after a call.
#[derive(Default, Debug)]
pub(super) struct Kept {
    pub(super) lines: usize,
    pub(super) picks: usize,
    pub(super) events: usize,
    pub(super) decisions: usize,
    pub(super) first_states: usize,
    pub(super) steps: u64,
    pub(super) current: Current,
    pub(super) world: World,
    pub(super) spin: Spin,
}

/// What of a plan must be the same for a run to be led by another, besides its points.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Conditions {
    pub(super) steps_max: u64,
    pub(super) spurious_max: u32,
    pub(super) parks: bool,
    pub(super) run_on: bool,
    pub(super) timeouts_max: u32,
}

impl Conditions {
    pub(super) fn of(plan: &Plan) -> Option<(Conditions, &Steps)> {
        let Tail::Steps(steps) = &plan.tail else { return None };
        let conditions = Conditions {
            steps_max: plan.steps_max,
            spurious_max: plan.spurious_max,
            parks: plan.spin == SpinMode::Park,
            run_on: steps.run_on,
            timeouts_max: steps.timeouts_max,
        };
        (plan.time == TimeMode::Any).then_some((conditions, steps))
    }
}

/// The lines of the last run, and what was kept of it.
#[derive(Default, Debug)]
pub(crate) struct Rote {
    pub(super) phase: Phase,
    /// While a run is led all but the last one of those that lead it, so that nothing but the end of the list is to be
    /// looked out for.
    pub(super) lines: Vec<Line>,
    pub(super) last: Option<Line>,
    // invariant: the next line in a run that is led, of which the last lies elsewhere; beyond all lines in any other.
    pub(super) at: usize,
    /// In the order of their points. Those from `used` on are kept for their memory.
    pub(super) kept: Vec<Kept>,
    pub(super) used: usize,
    /// The point from which on the next state is kept.
    pub(super) keep_from: usize,
    /// Points between two states, for the next run.
    pub(super) spacing: usize,
    /// Points of this run that it does not go through by itself.
    pub(super) led: usize,
    pub(super) conditions: Conditions,
    /// The log lies in the trace that was handed out.
    pub(super) handed_out: bool,
    /// A run has strayed: no other is led.
    pub(super) distrusted: bool,
}

impl Rote {
    /// A run begins that is not led. `keeps`: what it is can be kept.
    #[inline]
    pub(crate) fn begin(&mut self, plan: &Plan, keeps: bool) {
        if self.phase == Phase::Idle && self.used == 0 && !matches!(plan.tail, Tail::Steps(_)) {
            return;
        }
        self.phase = Phase::Idle;
        self.at = BEYOND;
        self.handed_out = false;
        self.lines.clear();
        self.last = None;
        self.used = 0;
        self.led = 0;
        self.keep_from = SPACING_MIN;
        // Operations that are no points are asked for in other ways.
        let can = keeps && plan.points.releases && !self.distrusted;
        if let Some((conditions, _)) = Conditions::of(plan).filter(|_| can) {
            self.conditions = conditions;
            self.phase = Phase::Writing;
        }
    }

    /// The run is not led any more.
    pub(super) fn end(&mut self, phase: Phase) {
        self.phase = phase;
        self.last = None;
        self.at = BEYOND;
    }

    /// Nothing that comes from here on can be repeated by rote.
    #[inline]
    pub(super) fn stop(&mut self) {
        if self.phase == Phase::Writing {
            self.phase = Phase::Idle;
        }
    }

    /// Whether this run has not come to where it goes on by itself.
    #[inline(always)]
    pub(crate) fn leads(&self) -> bool {
        matches!(self.phase, Phase::Led | Phase::Strayed)
    }

    /// Whether this run has anything to do with lines.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.phase != Phase::Idle
    }

    #[inline(always)]
    pub(crate) fn is_writing(&self) -> bool {
        self.phase == Phase::Writing
    }

    /// Whether a line can be written for the point that comes after so many, and nothing else is to be done then.
    #[inline(always)]
    pub(super) fn has_room(&self, picks: usize) -> bool {
        self.phase == Phase::Writing && picks + 1 < self.keep_from && self.lines.len() < self.lines.capacity()
    }

    #[inline]
    pub(super) fn write(&mut self, line: Line) {
        if self.phase == Phase::Writing {
            self.lines.push(line);
        }
    }

    /// Holds a call against the next line. Its answer; none if the run has strayed, or has come to its last line.
    #[inline(always)]
    pub(super) fn answer(&mut self, line: Line) -> Option<u32> {
        let at = self.at;
        let expected = self.lines.get(at)?;
        if !expected.is_same(line) {
            return None;
        }
        self.at = at + 1;
        Some(expected.answer)
    }

    /// So many lines lead the run.
    pub(super) fn lead(&mut self, lines: usize) {
        self.lines.truncate(lines);
        self.last = self.lines.pop();
        self.phase = Phase::Led;
        self.at = 0;
    }

    /// Holds a call against the last line. Its answer, and then the run is not led any more; none if it has strayed.
    pub(super) fn answer_last(&mut self, line: Line) -> Option<u32> {
        if self.phase != Phase::Led || self.at != self.lines.len() {
            return None;
        }
        let last = self.last.filter(|last| last.is_same(line))?;
        self.lines.push(last);
        self.end(Phase::Writing);
        Some(last.answer)
    }

    /// The latest state that was kept on the way of a plan, whose first `shared` steps are those of the run of `trace`.
    pub(super) fn find(&self, plan: &Plan, trace: &Trace, shared: usize) -> Option<usize> {
        let (conditions, Steps { steps, .. }) = Conditions::of(plan)?;
        if self.distrusted || !self.handed_out || self.used == 0 || self.conditions != conditions {
            return None;
        }
        // Nothing is kept behind a choice, so that none of the steps that matter has one in the run before.
        let kept = self.kept[..self.used].last().map_or(0, |kept| kept.picks);
        let chooses = |step: &Step| !step.choices.is_empty();
        let (first, steps) = steps.split_first()?;
        let known = shared.saturating_sub(1).min(kept);
        let name = |pick: usize| trace.names[trace.events[trace.log.picks[pick].event as usize].task.index()];
        let same =
            |pick: &usize| steps.get(*pick).is_some_and(|step| step.task == name(*pick) && !chooses(step));
        debug_assert!(
            (0..known).all(|pick| same(&pick)),
            "raddle bug: not all steps are shared that should be"
        );
        let common = known + (known..kept).take_while(same).count();
        let common = if chooses(first) { 0 } else { common };
        self.kept[..self.used].partition_point(|kept| kept.picks <= common).checked_sub(1)
    }
}

impl Rote {
    /// Says how many points lie between two states of the next run, after one of so many points and objects. A run goes by
    /// itself from the last state before it parts from the run before, half a space on average; so what it costs to keep them
    /// and what it costs to go on from them are least, together, where the square of a space is twice the cost of one
    /// times the points that are new.
    pub(super) fn space(&mut self, points: usize, objects: usize) {
        let cost = COST_STEPS + objects / 2;
        let best = (2 * cost * points.saturating_sub(self.led)).isqrt();
        self.spacing = best.max(SPACING_MIN).max(points * 2 / KEPT_MAX);
    }
}
