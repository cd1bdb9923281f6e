//! What systematic search needs of a run besides its events ([`raddle_model::plan::Steps`]): who
//! could have been picked at each point, the values of choices with their number, failures after
//! which the others run on, and timers that have run out often enough.

use crate::director::Engine;
use alloc::vec::Vec;
use raddle_model::plan::Steps;
use raddle_model::trace::{Chosen, Hidden, Log, Picked, Reached};
use raddle_model::{
    Analysis, Event, Failure, FailureKind, Kind, Mode, ObjectId, Op, Outcome, PlainEvent, Policy, SiteId,
    Tail, TaskId, TaskSet, Trace, Verdict, World,
};

/// Nothing of it costs anything but a branch in other runs.
#[derive(Default, Debug)]
pub(crate) struct Search {
    active: bool,
    run_on: bool,
    timeouts_max: u32,
    /// See [`Steps::sections`].
    sections: bool,
    picks: Rows<Picked>,
    chosen: Vec<Chosen>,
    events: Rows<Event>,
    /// The first failure, and the number of picks before it.
    failure: Option<(Failure, u32)>,
    /// Tasks that have failed and do nothing any more.
    pub(crate) stopped: TaskSet,
    /// Time-outs in a row, by task and site.
    timeouts: Vec<(TaskId, SiteId, u32)>,
    held_back: bool,
    pub(crate) hidden: Hidden,
    pub(crate) cut: bool,
}

/// A list in the memory of another, whose rows are written over one by one. To push what has just been put together
/// would be to read as a whole what was written in pieces, which processors wait for.
#[derive(Debug)]
struct Rows<T> {
    /// Those from `len` on are of the other list.
    rows: Vec<T>,
    len: usize,
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows { rows: Vec::new(), len: 0 }
    }
}

impl<T> Rows<T> {
    #[inline(always)]
    fn add(&mut self, row: T) {
        match self.rows.get_mut(self.len) {
            Some(old) => *old = row,
            None => self.grow(row),
        }
        self.len += 1;
    }

    #[inline(never)]
    fn grow(&mut self, row: T) {
        self.rows.push(row);
    }

    #[inline(always)]
    fn last(&self) -> Option<&T> {
        self.rows.get(self.len.wrapping_sub(1))
    }

    fn as_slice(&self) -> &[T] {
        &self.rows[..self.len]
    }

    /// Takes a list back that was handed over, and goes on behind its first `len` rows.
    fn take_back(&mut self, other: &mut Vec<T>, len: usize) {
        core::mem::swap(&mut self.rows, other);
        assert!(len <= self.rows.len(), "raddle bug: a log that is taken back is not the last one");
        self.len = len;
    }

    /// Hands the list over for the memory of another.
    fn swap(&mut self, other: &mut Vec<T>) {
        self.rows.truncate(self.len);
        core::mem::swap(&mut self.rows, other);
        self.len = 0;
    }
}

/// So many first rows of what a search is told of a run are known to it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Known {
    /// Events.
    pub events: usize,
    /// Scheduling points.
    pub picks: usize,
    /// Values that were chosen.
    pub chosen: usize,
    /// Objects.
    pub objects: usize,
}

fn replace<T: Clone>(list: &mut Vec<T>, rows: &[T]) {
    list.clear();
    list.extend_from_slice(rows);
}

/// Where the next point and its event are written, over those of an earlier run.
pub(crate) struct NextRows<'a> {
    picked: &'a mut Picked,
    event: &'a mut Event,
    picks: &'a mut usize,
    events: &'a mut usize,
}

impl NextRows<'_> {
    /// Number of points so far.
    #[inline(always)]
    pub(crate) fn picks(&self) -> usize {
        *self.picks
    }

    /// A task went on at a point before which there were so many events and objects, and at which these could run.
    #[inline(always)]
    pub(crate) fn write(self, steps: u32, objects: u32, able: u64, event: PlainEvent) {
        self.picked.event = steps;
        self.picked.objects = objects;
        self.picked.enabled.set_low(able);
        *self.event = event.event();
        *self.picks += 1;
        *self.events += 1;
    }

    /// The same without its event, which is written elsewhere.
    #[inline(always)]
    pub(crate) fn write_point(self, steps: u32, objects: u32, able: u64) {
        self.picked.event = steps;
        self.picked.objects = objects;
        self.picked.enabled.set_low(able);
        *self.picks += 1;
    }
}

/// Where the next event is written that is no point.
pub(crate) struct NextEvent<'a> {
    event: &'a mut Event,
    events: &'a mut usize,
}

impl NextEvent<'_> {
    #[inline(always)]
    pub(crate) fn write(self, event: PlainEvent) {
        *self.event = event.event();
        *self.events += 1;
    }
}

impl Search {
    /// None if the list must grow.
    #[inline(always)]
    pub(crate) fn next_event(&mut self) -> Option<NextEvent<'_>> {
        let event = self.events.rows.get_mut(self.events.len)?;
        Some(NextEvent { event, events: &mut self.events.len })
    }

    /// None if the run is none of a search, or if the lists must grow.
    #[inline(always)]
    pub(crate) fn next_rows(&mut self) -> Option<NextRows<'_>> {
        if !self.active {
            return None;
        }
        let Search { picks, events, .. } = self;
        let picked = picks.rows.get_mut(picks.len).filter(|row| row.enabled.is_low())?;
        let event = events.rows.get_mut(events.len)?;
        Some(NextRows { picked, event, picks: &mut picks.len, events: &mut events.len })
    }

    /// How often so many events and a point may be written before a list must grow.
    #[inline(always)]
    pub(crate) fn room(&self, events: usize) -> usize {
        let Search { picks, events: list, .. } = self;
        (picks.rows.len() - picks.len).min((list.rows.len() - list.len) / events)
    }

    pub(crate) fn begin(&mut self, tail: &Tail, world: &mut World) {
        if self.active {
            self.picks.len = 0;
            self.events.len = 0;
            self.forget();
        }
        self.active = false;
        self.sections = false;
        if let Tail::Steps(Steps { run_on, timeouts_max, sections, .. }) = *tail {
            self.active = true;
            self.sections = sections;
            self.run_on = run_on;
            self.timeouts_max = timeouts_max;
            world.remember_first_states();
        }
    }

    /// Whether the run is one of a search.
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Whether a task that gives this mutex back has done nothing in its step but taken it, so that both are one step.
    #[inline(always)]
    pub(crate) fn closes(&self, task: TaskId, kind: Kind, object: ObjectId) -> bool {
        if !self.sections || kind != Kind::Unlock {
            return false;
        }
        let Some(Event { task: last, op, outcome, .. }) = self.events.last() else { return false };
        let took = (*last, op.object, op.kind, op.mode) == (task, object, Kind::Lock, Mode::Block)
            && *outcome == Outcome::Done;
        // Taking a mutex is a point in every plan, so that the step has begun with it.
        debug_assert!(
            !took || self.picks.last().is_some_and(|picked| picked.event as usize + 1 == self.events.len)
        );
        took
    }

    /// Whether somebody has failed or timed out in a run of a search: only then it matters to who can be picked.
    #[inline]
    pub(crate) fn is_alert(&self) -> bool {
        self.active && !(self.timeouts.is_empty() && self.stopped.is_empty())
    }

    /// Scheduling points so far, and values that were chosen.
    #[inline]
    pub(crate) fn progress(&self) -> (usize, usize) {
        (self.picks.len, self.chosen.len())
    }

    /// Number of events so far.
    pub(crate) fn events(&self) -> usize {
        self.events.len
    }

    /// Begins with the first rows of the log that was handed over last. There were no choices, failures or time-outs
    /// among them.
    pub(crate) fn take_back(&mut self, trace: &mut Trace, picks: usize, events: usize) {
        self.picks.take_back(&mut trace.log.picks, picks);
        self.events.take_back(&mut trace.events, events);
        self.forget();
    }

    /// Forgets all of the run before but its rows.
    fn forget(&mut self) {
        self.chosen.clear();
        self.failure = None;
        self.stopped.clear();
        self.timeouts.clear();
        self.held_back = false;
        self.hidden = Hidden::default();
        self.cut = false;
    }

    /// A scheduling point.
    #[inline]
    pub(crate) fn point(&mut self, steps: u64, enabled: &TaskSet, world: &World) {
        if self.active {
            let (event, objects) = (steps as u32, world.objects().len() as u32);
            self.picks.add(Picked { event, objects, enabled: enabled.clone() });
        }
    }

    /// The same for the point that `task` is at, while all others that could be picked are these.
    #[inline(always)]
    pub(crate) fn point_beside(&mut self, steps: u64, task: TaskId, others: &TaskSet, world: &World) {
        if self.active {
            let (event, objects) = (steps as u32, world.objects().len() as u32);
            self.picks.add(Picked { event, objects, enabled: others.with(task) });
        }
    }

    /// A value was chosen.
    #[inline]
    pub(crate) fn chose(&mut self, arity: u32, value: u32) {
        if self.active {
            self.chosen.push(Chosen { pick: self.picks.len as u32, arity, value });
        }
    }

    /// Whether the run goes on after this failure, without the tasks that failed.
    pub(crate) fn postpones(&mut self, failure: &Failure) -> bool {
        if !self.active || !self.run_on {
            return false;
        }
        // Who is in a deadlock waits for ever anyway.
        if failure.kind != FailureKind::Deadlock {
            failure.tasks.iter().for_each(|&task| self.stopped.insert(task));
        }
        self.failure.get_or_insert_with(|| (failure.clone(), self.picks.len as u32));
        true
    }

    /// The failure that came first.
    pub(crate) fn first_or(&self, failure: Failure) -> Failure {
        self.failure.as_ref().map_or(failure, |(first, _)| first.clone())
    }

    /// What came of a run that has ended by itself.
    pub(crate) fn verdict(&self) -> Verdict {
        match &self.failure {
            Some((failure, _)) => Verdict::Failed(failure.clone()),
            None => Verdict::Finished,
        }
    }

    #[inline]
    pub(crate) fn event(&mut self, event: &Event) {
        if self.active {
            self.events.add(*event);
            if event.op.mode == Mode::Timed {
                self.timed(event);
            }
        }
    }

    /// The same for a plain event, which never takes time.
    #[inline]
    pub(crate) fn plain(&mut self, event: PlainEvent) {
        if self.active {
            self.events.add(event.event());
        }
    }

    fn timed(&mut self, event: &Event) {
        let Event { task, op, outcome, .. } = *event;
        let known = self.timeouts.iter_mut().find(|(who, site, _)| (*who, *site) == (task, op.site));
        match (outcome == Outcome::TimedOut, known) {
            (true, Some((_, _, count))) => *count += 1,
            (true, None) => self.timeouts.push((task, op.site, 1)),
            // The first part of a wait on a condition variable always succeeds.
            (false, Some((_, _, count))) if op.kind != Kind::Wait => *count = 0,
            (false, _) => {}
        }
    }

    /// Whether anybody has timed out as often as it may.
    #[inline]
    pub(crate) fn is_impatient(&self) -> bool {
        self.active && self.timeouts.iter().any(|&(_, _, count)| count >= self.timeouts_max)
    }

    /// Whether this task has, at what it is about to do.
    pub(crate) fn is_over_patience(&self, task: TaskId, op: &Op) -> bool {
        let here = |&(who, site, count): &(TaskId, SiteId, u32)| {
            (who, site) == (task, op.site) && count >= self.timeouts_max
        };
        self.timeouts.iter().any(here)
    }

    /// Somebody waits whom only the bound keeps from timing out.
    pub(crate) fn holds_back_timers(&mut self) {
        self.held_back |= self.active;
    }

    /// The events, and all else that only searches want to know, are handed over for other memory; once for
    /// each run.
    pub(crate) fn hand_over(&mut self, trace: &mut Trace, world: &mut World, spun: bool) {
        let Trace { events, log, .. } = trace;
        self.events.swap(events);
        self.picks.swap(&mut log.picks);
        core::mem::swap(&mut log.chosen, &mut self.chosen);
        world.swap_first_states(&mut log.objects);
        self.tell_ends(log, world, spun);
    }

    /// The same without what is known already: the rest is copied, since what is known may be much longer.
    pub(crate) fn tell_rest(&self, known: Known, trace: &mut Trace, world: &World, spun: bool) {
        let Trace { events, log, .. } = trace;
        replace(events, &self.events.as_slice()[known.events..]);
        replace(&mut log.picks, &self.picks.as_slice()[known.picks..]);
        replace(&mut log.chosen, &self.chosen[known.chosen..]);
        replace(&mut log.objects, &world.first_states()[known.objects..]);
        self.tell_ends(log, world, spun);
    }

    /// What is known of a run only when it has ended.
    fn tell_ends(&self, log: &mut Log, world: &World, spun: bool) {
        log.task_objects.clear();
        log.task_objects.extend(world.tasks().iter().map(|task| [task.object, task.token]));
        log.failed_at = self.failure.as_ref().map(|&(_, picks)| picks);
        log.reached = self.reached(spun);
    }

    fn reached(&self, spun: bool) -> Reached {
        Reached { cut: self.cut, spin: spun, timeouts: self.held_back, hidden: self.hidden }
    }

    /// All of it.
    pub(crate) fn log(&self, world: &World, spun: bool) -> Log {
        if !self.active {
            return Log::default();
        }
        Log {
            picks: self.picks.as_slice().to_vec(),
            chosen: self.chosen.clone(),
            objects: world.first_states().to_vec(),
            task_objects: world.tasks().iter().map(|task| [task.object, task.token]).collect(),
            failed_at: self.failure.as_ref().map(|&(_, picks)| picks),
            reached: self.reached(spun),
        }
    }
}

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// As [`Engine::trace`], for a run of a search, which keeps its events itself; once for each run. The memory of the run
    /// before is used again. The schedule is left out: a search knows its steps, and what is worth a look is run again.
    pub fn write_search_trace(&mut self, trace: &mut Trace) {
        self.end_rote();
        self.search.hand_over(trace, &mut self.world, self.spin.used);
        self.tell_tasks(trace);
    }

    /// The same without what is known already.
    pub fn write_rest_of_search_trace(&self, known: Known, trace: &mut Trace) {
        self.search.tell_rest(known, trace, &self.world, self.spin.used);
        self.tell_tasks(trace);
    }

    fn tell_tasks(&self, trace: &mut Trace) {
        let Trace { pending, names, parents, .. } = trace;
        pending.clear();
        pending.extend(self.pending());
        let tasks = self.world.tasks();
        names.clear();
        names.extend(tasks.iter().map(|task| task.name));
        parents.clear();
        parents.extend(tasks.iter().map(|task| task.parent));
    }

    /// How many scheduling points a run of a search has had so far, and values that were chosen.
    #[inline]
    pub fn search_progress(&self) -> (usize, usize) {
        self.search.progress()
    }
}
