//! A run as searches see it: steps from one scheduling point to the next, what happens before what,
//! and which steps could have come in another order.
//!
//! Step 0 is main before its first scheduling point; every other one begins with an operation that
//! the policy let happen. What a task does on the way to its next point conflicts with nothing that the
//! operation does not conflict with, giving back what it has just taken included, so that stands for the whole step. The partial order is the one of the fingerprint: program order,
//! spawns, and every pair of operations for which [`Op::conflicts`] holds.

mod accesses;
mod alone;
pub(crate) mod clocks;
mod growth;
mod reversal;
mod tail;
mod wakers;

use self::accesses::Accesses;
use self::alone::Habit;
use self::clocks::Clocks;
use self::growth::Early;
pub(crate) use self::growth::closes;
pub(crate) use self::reversal::Chain;
use self::tail::Awaited;
use crate::hypothesis::{self, Hypothesis};
use core::num::NonZeroU32;
use core::ops::Range;
use raddle_model::plan::Step;
use raddle_model::{Access, Kind, Mode, ObjectId, Op, Outcome, Plan, Span, TaskId, Trace, hash};

/// From one scheduling point to the next. Small, since most of what a search does is to write them.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// What was done first.
    pub op: Op,
    /// How that ended.
    pub outcome: Outcome,
    /// Who ran.
    pub task: TaskId,
    /// Number of objects that were registered before it.
    pub objects: u32,
    /// Which step of its task it is.
    index: u32,
    /// Where its clock is in those of the path; how many there were before it, and before its choices.
    clock_at: u32,
    clock_end: u32,
    clocks_at: u32,
    choices_at: u32,
    /// The step before it of the same task, or the one that made the task.
    before: Earlier,
    /// The latest step that it races with: see [`Path::rival`].
    rival: Earlier,
    /// How many accesses to its object came before it.
    place: u32,
    /// Whether it writes, and whether whatever accesses its object later depends on it: see [`covers`].
    writes: bool,
    covers: bool,
    /// Whether it is one of those that conflict with each other if they are on the same object and one of them writes, and
    /// with nothing that is on another: see [`is_simple`]. As long as nothing is known that may be on any.
    simple: bool,
    /// Whether it has given back the mutex that it took: see [`raddle_model::plan::Steps::sections`].
    pub(crate) closed: bool,
    /// What whoever follows the path calls it, if it has been called before.
    called: Option<NonZeroU32>,
    /// A number that is the same for equal steps with an equal past; 0 if nobody wants to know.
    past: u64,
}

/// Number of names that are told apart at first sight.
const LIKELY: usize = 128;

/// An earlier step, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Earlier(u32);

impl Earlier {
    const NONE: Earlier = Earlier(u32::MAX);

    #[inline]
    fn new(step: Option<usize>) -> Earlier {
        step.map_or(Earlier::NONE, |step| Earlier(step as u32))
    }

    #[inline]
    fn get(self) -> Option<usize> {
        (self != Earlier::NONE).then_some(self.0 as usize)
    }
}

/// The step in which a task was made, and what is known after it.
#[derive(Clone, Copy, Default, Debug)]
struct Birth {
    step: u32,
    clock_at: u32,
    clock_end: u32,
}

/// What a task did at a step, or was about to do at the end.
#[derive(Clone, Debug)]
pub struct Pending {
    /// Who.
    pub task: TaskId,
    /// What.
    pub op: Op,
    /// The step; none if it never came to it.
    pub step: Option<usize>,
    before: Option<usize>,
}

/// The steps of a run. Whatever is kept of one run for the next is kept in stacks that all steps share: a search
/// goes back a few steps and on again, and nothing is allocated on the way.
#[derive(Clone, Default, Debug)]
pub struct Path {
    /// In the order in which they happened.
    pub stops: Vec<Stop>,
    clocks: Clocks,
    // For each step: number of values, and the value, of each choice on the way.
    choices: Vec<(u32, u32)>,
    /// Stable name of each task.
    pub names: Vec<u64>,
    // Which task may have a name, by the last bits of that: it is looked up for everybody who sleeps.
    likely: Vec<u32>,
    // What the tasks that were alive at the end were about to do.
    pending: Vec<(TaskId, Op)>,
    births: Vec<Birth>,
    // The steps of each task, and those on each object.
    by_task: Vec<Vec<usize>>,
    // What each task did at each of its steps, in this run or in one before: most do the same again.
    habits: Vec<Vec<Habit>>,
    // How many steps this run shares with the one before.
    kept: usize,
    by_object: Vec<Accesses>,
    // Those on memory, once an operation was seen that may be on any; and which may.
    memory: Accesses,
    wide: Accesses,
    knows_memory: bool,
    // Ids that mean the same in all runs, by object, for those that stand for tasks; and which these are.
    stable: Vec<ObjectId>,
    task_objects: Vec<[ObjectId; 2]>,
    late: bool,
    early: Early,
    // Number of objects that are early, and of those beyond them that stand for tasks.
    comparable: usize,
    // Whether steps know their past: only for objects that are late somebody wants to know it.
    has_pasts: bool,
    // Whether something was seen that can come between taking a mutex and giving it back.
    intrudes: bool,
    // Number of steps of the run, those that were left out included; who is waited for; and whether somebody only looked.
    length: usize,
    awaited: Awaited,
    peeks: bool,
    hypothesis: Hypothesis,
}

impl Path {
    /// For each other task how many of its steps have happened before this one.
    #[cfg(test)]
    fn clock(&self, number: usize) -> &[u32] {
        self.clocks.get(self.stops[number].clock())
    }

    /// Number of values, and the value, of each choice in a step.
    pub fn choices(&self, number: usize) -> &[(u32, u32)] {
        let end = self.stops.get(number + 1).map_or(self.choices.len(), |next| next.choices_at as usize);
        &self.choices[self.stops[number].choices_at as usize..end]
    }

    /// Whether a step from this one on has a choice in it.
    pub(crate) fn chooses_from(&self, number: usize) -> bool {
        self.stops.get(number).is_some_and(|stop| (stop.choices_at as usize) < self.choices.len())
    }

    /// The last of the first `number` steps that is one of `task`, or the one that made it.
    fn before(&self, task: TaskId, number: usize) -> Option<usize> {
        let own = &self.by_task[task.index()];
        match own[..own.partition_point(|&step| step < number)].last() {
            Some(&last) => Some(last),
            None if task == TaskId::MAIN => None,
            None => Some(self.births[task.index()].step as usize),
        }
    }

    /// A number for what `task` is about to do after `number` steps: wherever it comes up again, in this
    /// run or in another, the same operation is meant.
    pub(crate) fn announced(&self, task: TaskId, number: usize) -> u64 {
        self.announced_after(task, self.before(task, number))
    }

    fn announced_after(&self, task: TaskId, before: Option<usize>) -> u64 {
        let last = before.map_or(0, |before| self.stops[before].past);
        hash::mix(self.names[task.index()], last)
    }

    /// Everything that was announced in the run: what, under which number. Sorted.
    pub(crate) fn announcements(&self) -> Vec<(u64, Op)> {
        let done = (1..self.stops.len()).map(|number| {
            let stop = &self.stops[number];
            (self.announced(stop.task, number), self.stable(&stop.op))
        });
        let left = self.pending.iter();
        let left = left.map(|(task, op)| (self.announced(*task, self.stops.len()), self.stable(op)));
        let mut all: Vec<(u64, Op)> = done.chain(left).collect();
        all.sort_unstable_by_key(|&(number, _)| number);
        all
    }

    /// Whether something was seen, in this run or in one before, that a task can do while another holds a mutex, and whose
    /// order with taking it and giving it back matters: then these are not one step, though nothing be between them.
    pub(crate) fn intrudes(&self) -> bool {
        self.intrudes
    }

    /// Whether objects were registered on the way, so that they have other ids in other runs.
    pub(crate) fn has_late_objects(&self) -> bool {
        self.late
    }

    /// Those that an operation may conflict with whatever its objects are: on memory and what lies there if it may be on any,
    /// or the other way round.
    fn anywhere(&self, op: &Op) -> Option<&Accesses> {
        match (op.is_wide(), op.lies()) {
            (true, _) => Some(&self.memory),
            (_, true) => Some(&self.wide),
            _ => None,
        }
    }

    /// Calls `each` with the steps before `number` that conflict with `op`, the latest first, until it
    /// says no. Those that another one follows of the same task, with all that leads to it, may be left out.
    fn each_conflicting(&self, op: &Op, number: usize, mut each: impl FnMut(&Path, usize) -> bool) {
        if op.kind == Kind::End {
            // All do. What a task did earlier leads to what it did last.
            let last = |own: &Vec<usize>| own[..own.partition_point(|&step| step < number)].last().copied();
            let mut last: Vec<usize> = self.by_task.iter().filter_map(last).collect();
            last.sort_unstable();
            last.into_iter().rev().find(|&step| !each(self, step));
            return;
        }
        // The end of the process is its last step, whatever that is good for.
        if let Some(last) = self.stops[..number].last()
            && last.op.kind == Kind::End
            && !each(self, number - 1)
        {
            return;
        }
        let on = |object: ObjectId| if object.is_some() { self.by_object.get(object.index()) } else { None };
        let steps = |accesses| Accesses::before(accesses, op, number);
        if !op.second.is_some() && self.anywhere(op).is_none_or(|accesses| accesses.all.is_empty()) {
            // Nearly all operations have one object, and meet nobody but those on it.
            let steps = match (self.stops.get(number), on(op.object)) {
                // It is among those itself.
                (Some(stop), Some(accesses))
                    if stop.op.object == op.object && op.access() == Access::Write =>
                {
                    &accesses.all[..stop.place as usize]
                }
                (_, accesses) => steps(accesses),
            };
            for &step in steps.iter().rev() {
                if self.stops[step].op.conflicts(op) && !each(self, step) {
                    return;
                }
            }
            return;
        }
        let mut lists = [on(op.object), on(op.second), self.anywhere(op)].map(steps);
        loop {
            let Some(step) = lists.iter().filter_map(|list| list.last().copied()).max() else { return };
            for list in &mut lists {
                while list.last() == Some(&step) {
                    *list = &list[..list.len() - 1];
                }
            }
            if self.stops[step].op.conflicts(op) && !each(self, step) {
                return;
            }
        }
    }

    /// Whether a step happened before another.
    #[inline]
    pub fn ordered(&self, earlier: usize, later: usize) -> bool {
        let (one, other) = (&self.stops[earlier], &self.stops[later]);
        if one.task == other.task {
            return one.index <= other.index;
        }
        self.clocks.has(&other.clock(), one.task.index(), one.index)
    }

    /// Whether a step happened before what a task did or was about to do, that operation's own
    /// conflicts left out.
    pub fn leads_to(&self, earlier: usize, pending: &Pending) -> bool {
        pending.before.is_some_and(|before| self.ordered(earlier, before))
    }

    /// What was done at a step, as something that could have been done earlier.
    pub fn at(&self, step: usize) -> Pending {
        let Stop { task, op, before, .. } = &self.stops[step];
        Pending { task: *task, op: *op, step: Some(step), before: before.get() }
    }

    /// What every live task was about to do when the run ended, whether it could or not.
    pub fn left(&self) -> impl Iterator<Item = Pending> + '_ {
        self.pending.iter().map(|&(task, op)| {
            let before = self.before(task, self.stops.len());
            Pending { task, op, step: None, before }
        })
    }

    /// The last step before `later` of the same task, or the one that made it.
    pub fn last_own(&self, later: &Pending) -> usize {
        let own = &self.by_task[later.task.index()];
        let before = later.step.map_or(own.len(), |end| own.partition_point(|&step| step < end));
        own[..before].last().copied().unwrap_or(self.births[later.task.index()].step as usize)
    }

    /// What a task was about to do before the step `number`; none if it was not there yet.
    pub fn next_op(&self, task: TaskId, number: usize) -> Option<Op> {
        let own = &self.by_task[task.index()];
        match own.get(own.partition_point(|&step| step < number)) {
            Some(&step) => Some(self.stops[step].op),
            None => self.pending.iter().find(|(who, _)| *who == task).map(|&(_, op)| op),
        }
    }

    /// The latest step before the step `below` that `pending` races with: they conflict, and nothing else leads
    /// from the one to the other.
    #[inline(always)]
    pub fn rival(&self, pending: &Pending, below: usize) -> Option<usize> {
        if pending.step == Some(below) {
            return self.stops[below].rival.get();
        }
        self.further_rival(pending, below)
    }

    /// The same for one that is not the latest.
    fn further_rival(&self, pending: &Pending, below: usize) -> Option<usize> {
        match pending.step.and_then(|step| self.simple_rival(step, below)) {
            Some(rival) => rival.get(),
            None => self.any_rival(pending, below),
        }
    }

    /// The same for a simple step, before another on its object, if all that it meets there are simple, too.
    #[inline]
    fn simple_rival(&self, step: usize, below: usize) -> Option<Earlier> {
        let (later, last) = (&self.stops[step], &self.stops[below]);
        let alike = later.simple && last.simple && later.op.object == last.op.object;
        if !alike || self.knows_memory {
            return None;
        }
        let before = &self.by_object[later.op.object.index()].all[..last.place as usize];
        for &met in before.iter().rev() {
            let earlier = &self.stops[met];
            if !earlier.simple {
                return None;
            }
            if !later.writes && !earlier.writes {
                continue;
            }
            let past =
                earlier.task == later.task || later.before.get().is_some_and(|own| self.ordered(met, own));
            if !past {
                return Some(Earlier(met as u32));
            }
            if earlier.writes {
                break;
            }
        }
        Some(Earlier::NONE)
    }

    fn any_rival(&self, pending: &Pending, below: usize) -> Option<usize> {
        let mut rival = None;
        self.each_conflicting(&pending.op, below, |path, step| {
            let earlier = &path.stops[step];
            let past = earlier.task == pending.task || path.leads_to(step, pending);
            if !past {
                rival = Some(step);
            }
            past && !hides(&earlier.op, &pending.op)
        });
        rival
    }

    /// Whether everything before the step `earlier` that `pending` conflicts with leads to that step.
    #[inline]
    pub(crate) fn hides(&self, earlier: usize, pending: &Pending) -> bool {
        let stop = &self.stops[earlier];
        let simple = stop.simple && pending.step.is_some_and(|step| self.stops[step].simple);
        if simple && !self.knows_memory { stop.writes } else { hides(&stop.op, &pending.op) }
    }

    /// The first of some steps that races with an earlier one.
    #[inline]
    pub(crate) fn first_racing(&self, among: Range<usize>) -> Option<usize> {
        let begin = among.start;
        self.stops.get(among)?.iter().position(Stop::races).map(|place| begin + place)
    }

    /// The step after all that `pending` could have been, or was.
    pub fn end(&self, pending: &Pending) -> usize {
        pending.step.unwrap_or(self.stops.len())
    }

    /// The steps after `earlier` that do not depend on it.
    pub fn independent_of(&self, earlier: usize) -> impl Iterator<Item = usize> + '_ {
        (earlier + 1..self.stops.len()).filter(move |&step| !self.ordered(earlier, step))
    }

    /// Whether `pending` could be done without the step `earlier` and all that depends on it. The path is the one of
    /// `trace`.
    #[inline]
    pub fn is_possible_without(
        &mut self,
        earlier: usize,
        pending: &Pending,
        plan: &Plan,
        trace: &Trace,
    ) -> bool {
        !hypothesis::is_needed(&pending.op) || self.is_enabled_without(earlier, pending, plan, trace)
    }

    fn is_enabled_without(&mut self, earlier: usize, pending: &Pending, plan: &Plan, trace: &Trace) -> bool {
        if pending.op.kind == Kind::Join && self.stops[earlier].op.kind == Kind::Exit {
            // Nobody is joined who has not exited.
            return false;
        }
        if pending.op.kind == Kind::Lock && hypothesis::is_plain_mutex(trace, pending.op.object) {
            return !self.is_held_without(earlier, pending.op.object);
        }
        self.grow_tail(trace);
        let mut hypothesis = core::mem::take(&mut self.hypothesis);
        let steps = (0..earlier).chain(self.independent_of(earlier)).map(|step| &self.stops[step]);
        let possible = hypothesis.enabled_after(plan.spurious_max, trace, steps, pending.task, &pending.op);
        self.hypothesis = hypothesis;
        possible
    }

    /// Whether a step waited for a task to exit, and races with that only: nothing else writes what is joined, and nobody is
    /// joined who has not exited ([`Path::is_possible_without`]).
    pub(crate) fn waits_for_exit(&self, step: usize) -> bool {
        let Stop { op, rival, .. } = &self.stops[step];
        let exit = |rival: usize| self.stops[rival].op.kind == Kind::Exit;
        op.kind == Kind::Join && op.mode == Mode::Block && rival.get().is_some_and(exit)
    }

    /// The operation with ids of objects that can be compared with those of other runs, as far as that
    /// is possible.
    pub(crate) fn stable(&self, op: &Op) -> Op {
        Op { object: self.stable_id(op.object), second: self.stable_id(op.second), ..*op }
    }

    fn stable_id(&self, object: ObjectId) -> ObjectId {
        // What is no object has an id beyond all of them.
        self.stable.get(object.index()).copied().filter(|id| id.is_some()).unwrap_or(object)
    }

    /// Whether all that access an object after the step `earlier` depend on it, since it writes all of that.
    #[inline]
    pub(crate) fn rules(&self, earlier: usize, object: ObjectId) -> bool {
        let stop = &self.stops[earlier];
        stop.covers && stop.op.object == object && !self.knows_memory
    }

    /// Whether somebody holds a mutex after the steps that do not depend on `earlier`.
    fn is_held_without(&self, earlier: usize, mutex: ObjectId) -> bool {
        // One that is only waited for was never taken: the process has ended before that.
        let Some(Accesses { all, .. }) = self.by_object.get(mutex.index()) else { return false };
        let mut steps = &all[..];
        if self.rules(earlier, mutex) {
            steps = &steps[..self.stops[earlier].place as usize];
            // Nearly always the last one before it was such a section, too.
            let section = |&last: &usize| self.stops[last].closed && self.stops[last].op.kind == Kind::Lock;
            if steps.last().is_none_or(section) {
                return false;
            }
        }
        let mut kept =
            steps.iter().filter(|&&step| step < earlier || !self.ordered(earlier, step) && step != earlier);
        let last = kept.rfind(|&&step| {
            let Stop { op, outcome, .. } = &self.stops[step];
            let missed = matches!(outcome, Outcome::Failed | Outcome::TimedOut) && op.kind == Kind::Lock;
            // Whoever only looks whether it is poisoned neither takes it nor gives it back.
            let moves = matches!(op.kind, Kind::Lock | Kind::Unlock | Kind::Wait | Kind::Wake);
            moves && !missed && *outcome != Outcome::Misuse
        });
        last.is_some_and(|&step| {
            let Stop { op, closed, .. } = &self.stops[step];
            matches!(op.kind, Kind::Lock | Kind::Wake) && !closed
        })
    }

    /// A step as a plan names it.
    pub fn step(&self, number: usize) -> Step {
        let task = self.names[self.stops[number].task.index()];
        Step { task, choices: self.choices(number).iter().map(|&(_, value)| value).collect() }
    }

    /// Makes `steps`, which are those that led the run, its first `count` steps.
    pub(crate) fn write_steps(&self, count: usize, steps: &mut Vec<Step>) {
        // Steps that led it may leave open what they choose.
        let led = if self.choices.is_empty() { steps.len() } else { 0 };
        if count <= led {
            return steps.truncate(count);
        }
        steps.resize_with(count, Step::default);
        for (number, step) in steps.iter_mut().enumerate().skip(led) {
            step.task = self.names[self.stops[number].task.index()];
            step.choices.clear();
            step.choices.extend(self.choices(number).iter().map(|&(_, value)| value));
        }
    }

    /// The task with this name.
    #[inline]
    pub fn task(&self, name: u64) -> Option<TaskId> {
        if let Some(&likely) = self.likely.get(name as usize % LIKELY)
            && self.names.get(likely as usize) == Some(&name)
        {
            return Some(TaskId(likely));
        }
        self.names.iter().position(|&known| known == name).map(|index| TaskId(index as u32))
    }

    /// Tasks are called so from now on.
    fn name_tasks(&mut self, names: &[u64]) {
        self.names.clear();
        self.names.extend_from_slice(names);
        self.likely.resize(LIKELY, 0);
        for (task, &name) in names.iter().enumerate() {
            self.likely[name as usize % LIKELY] = task as u32;
        }
    }
}

impl Stop {
    /// Whether it races with an earlier one.
    #[inline]
    pub(crate) fn races(&self) -> bool {
        self.rival != Earlier::NONE
    }

    /// Where its clock is.
    #[inline]
    fn clock(&self) -> Range<usize> {
        self.clock_at as usize..self.clock_end as usize
    }
}

/// See [`Stop::simple`].
#[inline]
pub(crate) fn is_simple(op: &Op) -> bool {
    let several = op.second.is_some() || op.is_wide() || op.kind == Kind::End;
    op.object.is_some() && op.span == Span::WHOLE && !several
}

/// Whether an operation writes all of its object, so that all that access this afterwards depend on it.
fn covers(op: &Op) -> bool {
    op.access() == Access::Write && op.span == Span::WHOLE
}

/// Whether whatever conflicts with `op` and comes before `earlier` leads to `earlier`, since that writes all of
/// what `op` accesses: a task that reads a million times must not be held against a million reads.
fn hides(earlier: &Op, op: &Op) -> bool {
    let whole = (earlier.object != op.object || earlier.span == Span::WHOLE)
        && (earlier.is_wide() || !op.is_wide())
        && (earlier.frees() || !op.frees());
    earlier.access() == Access::Write && !op.second.is_some() && op.kind != Kind::End && whole
}
