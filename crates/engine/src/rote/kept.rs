//! What is kept of a run of a search, and what is done with its lines.

use super::script::{Line, Script};
use crate::current::Current;
use crate::spin::Spin;
use alloc::vec::Vec;
use raddle_model::plan::{Step, Steps};
use raddle_model::{Plan, SpinMode, Tail, TaskId, TimeMode, Trace, World};

/// States that are kept of one run.
pub(super) const KEPT_MAX: usize = 256;
/// Scheduling points that are sooner gone through than saved.
const NEAR: usize = 3;
/// Scheduling points between two of them, at least.
const SPACING_MIN: usize = 8;
/// To keep one costs as much as so many steps, and half a step more for each object.
const COST_STEPS: usize = 24;

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
    pub(super) sections: bool,
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
            sections: steps.sections,
        };
        (plan.time == TimeMode::Any).then_some((conditions, steps))
    }
}

/// What is done with the lines of the last run, and what was kept of it.
#[derive(Default, Debug)]
pub(crate) struct Rote {
    pub(super) phase: Phase,
    /// The last line of those that lead the run.
    pub(super) last: Option<Line>,
    /// In the order of their points. Those from `used` on are kept for their memory.
    pub(super) kept: Vec<Kept>,
    pub(super) used: usize,
    /// The point from which on the next state is kept.
    pub(super) keep_from: usize,
    /// Points between two states, for the next run.
    pub(super) spacing: usize,
    /// The number of points after which this run leaves what was run before, as far as that is known.
    pub(super) parts: usize,
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
    pub(crate) fn begin(&mut self, plan: &Plan, keeps: bool, script: &mut Script) {
        if self.phase == Phase::Idle && self.used == 0 && !matches!(plan.tail, Tail::Steps(_)) {
            return;
        }
        self.phase = Phase::Idle;
        script.end();
        self.handed_out = false;
        script.clear();
        self.last = None;
        self.used = 0;
        self.led = 0;
        // Operations that are no points are asked for in other ways.
        let can = keeps && plan.points.releases && !self.distrusted;
        if let Some((conditions, Steps { steps, .. })) = Conditions::of(plan).filter(|_| can) {
            self.conditions = conditions;
            self.phase = Phase::Writing;
            self.parts = steps.len().saturating_sub(2);
            self.keep_after(0);
        }
    }

    /// Says where the next state is kept, after so many points: a space further on. Where the run leaves what was run before
    /// is where those after it will mostly do so, too, each a little earlier than the last: so on the way there it is half of
    /// what is left of that way.
    pub(super) fn keep_after(&mut self, picks: usize) {
        let next = picks + self.spacing.max(SPACING_MIN);
        let left = self.parts.saturating_sub(picks);
        self.keep_from = if left > NEAR { next.min(picks + left.div_ceil(2)) } else { next };
    }

    /// The run is not led any more.
    pub(super) fn end(&mut self, phase: Phase, script: &mut Script) {
        self.phase = phase;
        self.last = None;
        script.end();
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
    pub(super) fn has_room(&self, picks: usize, script: &Script) -> bool {
        self.phase == Phase::Writing && picks + 1 < self.keep_from && script.has_room()
    }

    /// How many points may come after so many before a state is to be kept, if all are written down.
    #[inline(always)]
    pub(crate) fn room(&self, picks: usize) -> usize {
        if self.phase == Phase::Writing { self.keep_from.saturating_sub(picks + 1) } else { 0 }
    }

    /// The same for what is no point.
    #[inline(always)]
    pub(super) fn can_write(&self, script: &Script) -> bool {
        self.phase == Phase::Writing && script.has_room()
    }

    #[inline]
    pub(super) fn write(&self, line: Line, script: &mut Script) {
        if self.phase == Phase::Writing {
            script.write(line);
        }
    }

    /// So many lines lead the run.
    pub(super) fn lead(&mut self, lines: usize, script: &mut Script) {
        self.last = script.lead(lines);
        self.phase = Phase::Led;
    }

    /// Holds a task's call against the last line. Its answer, and then the run is not led any more; none if it has strayed.
    pub(super) fn answer_last(&mut self, call: Line, task: TaskId, script: &mut Script) -> Option<u32> {
        if self.phase != Phase::Led || !script.is_read() {
            return None;
        }
        let last = self.last.filter(|last| last.is_same(call))?;
        script.write(last);
        script.settle();
        self.end(Phase::Writing, script);
        Some(last.answer(task))
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
        // What the last of these steps chose, it chose after the state was kept.
        let last =
            |pick: usize| pick + 1 == kept && steps.get(pick).is_some_and(|step| step.task == name(pick));
        debug_assert!(
            (0..known).all(|pick| same(&pick) || last(pick)),
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
