//! A run as searches see it: steps from one scheduling point to the next, what happens before what,
//! and which steps could have come in another order.
//!
//! Step 0 is main before its first scheduling point; every other one begins with an operation that
//! the policy let happen. What a task does on the way to its next point conflicts with nothing, so the
//! operation stands for the whole step. The partial order is the one of the fingerprint: program order,
//! spawns, and every pair of operations for which [`Op::conflicts`] holds.

use crate::hypothesis::Hypothesis;
use crate::wakeup::STABLE;
use raddle_model::plan::Step;
use raddle_model::{Access, Event, Kind, ObjectId, Op, Outcome, SiteId, Span, TaskId, TaskSet, Trace, hash};

/// From one scheduling point to the next.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Who ran.
    pub task: TaskId,
    /// What was done first.
    pub op: Op,
    /// How that ended.
    pub outcome: Outcome,
    /// Number of values, and the value, of each choice on the way.
    pub choices: Vec<(u32, u32)>,
    /// Who could be picked.
    pub enabled: TaskSet,
    /// Number of objects that were registered before it.
    pub objects: u32,
    /// Which step of its task it is.
    index: u32,
    /// For each task how many of its steps have happened before it, itself included.
    clock: Vec<u32>,
    /// The step before it of the same task, or the one that made the task.
    before: Option<usize>,
    /// A number that is the same for equal steps with an equal past.
    past: u64,
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

/// The steps on an object, and those of them that write.
#[derive(Clone, Default, Debug)]
struct Accesses {
    all: Vec<usize>,
    writes: Vec<usize>,
}

/// The steps of a run.
#[derive(Clone, Default, Debug)]
pub struct Path {
    /// In the order in which they happened.
    pub stops: Vec<Stop>,
    /// Stable name of each task.
    pub names: Vec<u64>,
    // What the tasks that were alive at the end were about to do.
    pending: Vec<(TaskId, Op)>,
    // The step in which each task was made.
    births: Vec<usize>,
    // The steps of each task, and those on each object.
    by_task: Vec<Vec<usize>>,
    by_object: Vec<Accesses>,
    // Ids that mean the same in all runs, for objects that stand for tasks.
    stable: Vec<(ObjectId, ObjectId)>,
    late: bool,
    hypothesis: Hypothesis,
}

impl Path {
    /// Becomes the path of `trace`, of which the first `keep` steps are known already.
    pub fn follow(&mut self, trace: &Trace, spurious_max: u32, keep: usize) {
        self.truncate(keep);
        self.names.clone_from(&trace.names);
        self.pending.clone_from(&trace.pending);
        self.births.resize(trace.names.len(), 0);
        self.by_task.resize(trace.names.len(), Vec::new());
        self.stable.clear();
        for (objects, &name) in trace.log.task_objects.iter().zip(&trace.names) {
            for (&object, which) in objects.iter().zip(1..) {
                if object.is_some() {
                    let id = hash::mix(name, which) as u32 | STABLE;
                    self.stable.push((object, ObjectId(id & !1)));
                }
            }
        }
        self.stable.sort_unstable();
        let early = trace.log.picks.first().map_or(0, |picked| picked.objects as usize);
        let late = trace.log.objects.iter().enumerate().skip(early);
        self.late = late.into_iter().any(|(id, _)| self.stable_id(ObjectId(id as u32)).0 < STABLE);
        self.hypothesis.begin(trace, spurious_max);
        let picks = &trace.log.picks;
        let taken = picks.iter().take_while(|picked| (picked.event as usize) < trace.events.len()).count();
        let first_choice = trace.log.chosen.partition_point(|choice| (choice.pick as usize) < keep);
        let mut chosen = trace.log.chosen[first_choice..].iter().peekable();
        for number in keep..=taken {
            let begin = if number == 0 { 0 } else { picks[number - 1].event as usize };
            let end = picks.get(number).map_or(trace.events.len(), |picked| picked.event as usize);
            let events = &trace.events[begin..end];
            let mut choices = Vec::new();
            while let Some(choice) = chosen.next_if(|choice| choice.pick as usize == number) {
                choices.push((choice.arity, choice.value));
            }
            let (task, op, outcome) = match events.first() {
                Some(event) if number > 0 => (event.task, event.op, event.outcome),
                _ => (TaskId::MAIN, Op::new(Kind::Yield, ObjectId::NONE, SiteId::UNKNOWN), Outcome::Done),
            };
            let (enabled, objects) = match number {
                0 => ([TaskId::MAIN].into_iter().collect(), 0),
                _ => (picks[number - 1].enabled.clone(), picks[number - 1].objects),
            };
            self.push(task, op, outcome, choices, enabled, objects);
            for event in events {
                if let Event { outcome: Outcome::Spawned(child), .. } = event {
                    self.births[child.index()] = number;
                }
            }
        }
    }

    /// Forgets all but the first `keep` steps.
    fn truncate(&mut self, keep: usize) {
        for number in (keep..self.stops.len()).rev() {
            let Stop { task, op, .. } = &self.stops[number];
            self.by_task[task.index()].pop();
            for object in extents(op) {
                let accesses = &mut self.by_object[object.index()];
                accesses.all.pop();
                if op.access() == Access::Write {
                    accesses.writes.pop();
                }
            }
        }
        self.stops.truncate(keep);
    }

    fn push(
        &mut self,
        task: TaskId,
        op: Op,
        outcome: Outcome,
        choices: Vec<(u32, u32)>,
        enabled: TaskSet,
        objects: u32,
    ) {
        let number = self.stops.len();
        let before = self.before(task, number);
        let mut clock = before.map_or(Vec::new(), |before| self.stops[before].clock.clone());
        if clock.len() <= task.index() {
            clock.resize(task.index() + 1, 0);
        }
        let index = self.by_task[task.index()].len() as u32;
        clock[task.index()] = index + 1;
        // The latest conflicting steps that nothing else leads from: their order is no part of the past.
        let mut latest = 0u64;
        self.each_conflicting(&op, number, |path, earlier| {
            let earlier = &path.stops[earlier];
            if !earlier.is_in(&clock) {
                join(&mut clock, &earlier.clock);
                latest = latest.wrapping_add(earlier.past);
            }
            !hides(&earlier.op, &op)
        });
        let values = choices.iter().fold(0, |hash, &(_, value)| hash::mix(hash, u64::from(value) + 1));
        let own = hash::mix(self.announced(task, number), hash::mix(op.kind as u64, values));
        let past = hash::mix(own, latest);
        self.by_task[task.index()].push(number);
        for object in extents(&op) {
            if self.by_object.len() <= object.index() {
                self.by_object.resize(object.index() + 1, Accesses::default());
            }
            let accesses = &mut self.by_object[object.index()];
            accesses.all.push(number);
            if op.access() == Access::Write {
                accesses.writes.push(number);
            }
        }
        self.stops.push(Stop { task, op, outcome, choices, enabled, objects, index, clock, before, past });
    }

    /// The last of the first `number` steps that is one of `task`, or the one that made it.
    fn before(&self, task: TaskId, number: usize) -> Option<usize> {
        let own = &self.by_task[task.index()];
        match own[..own.partition_point(|&step| step < number)].last() {
            Some(&last) => Some(last),
            None if task == TaskId::MAIN => None,
            None => Some(self.births[task.index()]),
        }
    }

    /// A number for what `task` is about to do after `number` steps: wherever it comes up again, in this
    /// run or in another, the same operation is meant.
    pub(crate) fn announced(&self, task: TaskId, number: usize) -> u64 {
        let last = self.before(task, number).map_or(0, |before| self.stops[before].past);
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

    /// Whether objects were registered on the way, so that they have other ids in other runs.
    pub(crate) fn has_late_objects(&self) -> bool {
        self.late
    }

    /// Calls `each` with the steps before `number` that conflict with `op`, the latest first, until it
    /// says no.
    fn each_conflicting(&self, op: &Op, number: usize, mut each: impl FnMut(&Path, usize) -> bool) {
        if op.kind == Kind::End {
            for step in (0..number).rev() {
                if !each(self, step) {
                    return;
                }
            }
            return;
        }
        // The end of the process is its last step, whatever that is good for.
        if let Some(last) = self.stops[..number].last()
            && last.op.kind == Kind::End
            && !each(self, number - 1)
        {
            return;
        }
        let steps = |object: ObjectId| -> &[usize] {
            let accesses = if object.is_some() { self.by_object.get(object.index()) } else { None };
            let read = op.access() == Access::Read;
            let steps = accesses.map(|accesses| if read { &accesses.writes } else { &accesses.all });
            steps.map_or(&[], |steps| &steps[..steps.partition_point(|&step| step < number)])
        };
        let (mut first, mut second) = (steps(op.object), steps(op.second));
        loop {
            let step = match (first.last(), second.last()) {
                (None, None) => return,
                (Some(&a), None) => a,
                (None, Some(&b)) => b,
                (Some(&a), Some(&b)) => a.max(b),
            };
            while first.last() == Some(&step) {
                first = &first[..first.len() - 1];
            }
            while second.last() == Some(&step) {
                second = &second[..second.len() - 1];
            }
            if self.stops[step].op.conflicts(op) && !each(self, step) {
                return;
            }
        }
    }

    /// Whether a step happened before another.
    pub fn ordered(&self, earlier: usize, later: usize) -> bool {
        self.stops[earlier].is_in(&self.stops[later].clock)
    }

    /// Whether a step happened before what a task did or was about to do, that operation's own
    /// conflicts left out.
    pub fn leads_to(&self, earlier: usize, pending: &Pending) -> bool {
        pending.before.is_some_and(|before| self.ordered(earlier, before))
    }

    /// What was done at a step, as something that could have been done earlier.
    pub fn at(&self, step: usize) -> Pending {
        let Stop { task, op, before, .. } = &self.stops[step];
        Pending { task: *task, op: *op, step: Some(step), before: *before }
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
        own[..before].last().copied().unwrap_or(self.births[later.task.index()])
    }

    /// What a task was about to do before the step `number`; none if it was not there yet.
    pub fn next_op(&self, task: TaskId, number: usize) -> Option<Op> {
        let own = &self.by_task[task.index()];
        match own.get(own.partition_point(|&step| step < number)) {
            Some(&step) => Some(self.stops[step].op),
            None => self.pending.iter().find(|(who, _)| *who == task).map(|&(_, op)| op),
        }
    }

    /// Calls `each` with the steps that `pending` races with, the latest first: they conflict, and
    /// nothing else leads from the one to the other.
    pub fn each_rival(&self, pending: &Pending, mut each: impl FnMut(usize)) {
        let end = pending.step.unwrap_or(self.stops.len());
        self.each_conflicting(&pending.op, end, |path, step| {
            let earlier = &path.stops[step];
            let past = earlier.task == pending.task || path.leads_to(step, pending);
            if !past {
                each(step);
            }
            !(past && hides(&earlier.op, &pending.op))
        });
    }

    /// The steps after `earlier` that do not depend on it.
    pub fn independent_of(&self, earlier: usize) -> impl Iterator<Item = usize> + '_ {
        (earlier + 1..self.stops.len()).filter(move |&step| !self.ordered(earlier, step))
    }

    /// Whether `pending` could be done without the step `earlier` and all that depends on it.
    pub fn is_possible_without(&mut self, earlier: usize, pending: &Pending) -> bool {
        if !Hypothesis::is_needed(&pending.op) {
            return true;
        }
        if pending.op.kind == Kind::Join && self.stops[earlier].op.kind == Kind::Exit {
            // Nobody is joined who has not exited.
            return false;
        }
        if pending.op.kind == Kind::Lock && self.hypothesis.is_plain_mutex(pending.op.object) {
            return !self.is_held_without(earlier, pending.op.object);
        }
        let mut hypothesis = core::mem::take(&mut self.hypothesis);
        let steps = (0..earlier).chain(self.independent_of(earlier)).map(|step| &self.stops[step]);
        let possible = hypothesis.enabled_after(steps, pending.task, &pending.op);
        self.hypothesis = hypothesis;
        possible
    }

    /// The operation with ids of objects that can be compared with those of other runs, as far as that
    /// is possible.
    pub(crate) fn stable(&self, op: &Op) -> Op {
        Op { object: self.stable_id(op.object), second: self.stable_id(op.second), ..*op }
    }

    fn stable_id(&self, object: ObjectId) -> ObjectId {
        match self.stable.binary_search_by_key(&object, |pair| pair.0) {
            Ok(at) => self.stable[at].1,
            Err(_) => object,
        }
    }

    /// Whether somebody holds a mutex after the steps that do not depend on `earlier`.
    fn is_held_without(&self, earlier: usize, mutex: ObjectId) -> bool {
        let steps = self.by_object[mutex.index()].all.iter();
        let mut kept =
            steps.filter(|&&step| step < earlier || !self.ordered(earlier, step) && step != earlier);
        let last = kept.rfind(|&&step| {
            let Stop { op, outcome, .. } = &self.stops[step];
            let missed = matches!(outcome, Outcome::Failed | Outcome::TimedOut) && op.kind == Kind::Lock;
            !missed && *outcome != Outcome::Misuse
        });
        last.is_some_and(|&step| matches!(self.stops[step].op.kind, Kind::Lock | Kind::Wake))
    }

    /// A step as a plan names it.
    pub fn step(&self, number: usize) -> Step {
        let stop = &self.stops[number];
        Step {
            task: self.names[stop.task.index()],
            choices: stop.choices.iter().map(|&(_, value)| value).collect(),
        }
    }

    /// The same without the values that it chose.
    pub(crate) fn free_step(&self, number: usize) -> Step {
        Step { task: self.names[self.stops[number].task.index()], choices: Vec::new() }
    }

    /// The task with this name.
    pub fn task(&self, name: u64) -> Option<TaskId> {
        self.names.iter().position(|&known| known == name).map(|index| TaskId(index as u32))
    }
}

impl Stop {
    fn is_in(&self, clock: &[u32]) -> bool {
        clock.get(self.task.index()).is_some_and(|&steps| steps > self.index)
    }
}

/// Whether whatever conflicts with `op` and comes before `earlier` leads to `earlier`, since that writes all of
/// what `op` accesses: a task that reads a million times must not be held against a million reads.
fn hides(earlier: &Op, op: &Op) -> bool {
    let whole = earlier.object != op.object || earlier.span == Span::WHOLE;
    earlier.access() == Access::Write && !op.second.is_some() && op.kind != Kind::End && whole
}

fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// The objects of an operation, each once.
fn extents(op: &Op) -> impl Iterator<Item = ObjectId> {
    let second = op.second.is_some() && op.second != op.object;
    [op.object, op.second]
        .into_iter()
        .zip([op.object.is_some(), second])
        .filter(|pair| pair.1)
        .map(|pair| pair.0)
}
