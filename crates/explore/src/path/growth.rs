//! How the path of one run becomes that of the next: it shrinks to the steps that both share, and grows again.

use super::accesses::{self, Accesses};
use super::clocks::Clocks;
use super::tail::peeks;
use super::{Birth, Earlier, Path, Stop, covers, hides, is_simple};
use crate::odpor::STABLE;
use core::ops::Range;
use raddle_model::objects::State;
use raddle_model::trace::{Log, Picked};
use raddle_model::{Access, Event, Kind, Mode, ObjectId, Op, Outcome, SiteId, TaskId, Trace, hash};

/// Stands for what main does before its first scheduling point.
pub(super) const NOTHING: Event = Event {
    task: TaskId::MAIN,
    index: 0,
    op: Op::new(Kind::Yield, ObjectId::NONE, SiteId::UNKNOWN),
    outcome: Outcome::Done,
};

/// The latest steps that one conflicts with and that nothing else leads from.
struct Latest {
    /// The last of them.
    rival: Option<usize>,
    /// Of their pasts, whose order is no part of it.
    past: u64,
    /// The clock of the step that knows them.
    clock: Range<usize>,
}

impl Path {
    /// Becomes the path of `trace`, of which the first `keep` steps are known already.
    pub fn follow(&mut self, trace: &Trace, keep: usize) {
        self.follow_front(trace, keep, usize::MAX);
    }

    /// The same, but what it ends with may be left out ([`Path::grow_tail`]) beyond the first `least` steps.
    pub(crate) fn follow_front(&mut self, trace: &Trace, mut keep: usize, least: usize) {
        let names_changed = self.names != trace.names;
        if names_changed {
            self.name_tasks(&trace.names);
        }
        self.pending.clone_from(&trace.pending);
        let tasks = trace.names.len();
        if self.births.len() < tasks {
            self.births.resize(tasks, Birth::default());
            self.by_task.resize(tasks, Vec::new());
            self.habits.resize(tasks, Vec::new());
        }
        let renamed = names_changed || differ(&self.task_objects, &trace.log.task_objects);
        if renamed {
            self.name_objects(trace);
            // What tasks and objects are called means something else from now on.
            self.habits.iter_mut().for_each(Vec::clear);
        }
        let begins = self.early.pick + 1 >= keep;
        if begins {
            self.early = Early::of(&trace.log);
        }
        if renamed || begins {
            let early = self.early.objects;
            self.comparable = early + self.stable.iter().skip(early).filter(|id| id.is_some()).count();
        }
        self.late = trace.log.objects.len() > self.comparable;
        if self.late && !self.has_pasts {
            keep = 0;
        }
        self.has_pasts = self.late;
        self.truncate(keep);
        self.kept = keep;
        if trace.pending.iter().any(|(_, op)| op.is_wide()) {
            self.know_memory();
        }
        let picks = &trace.log.picks;
        // Nearly always all of them.
        let is_taken = |picked: &Picked| (picked.event as usize) < trace.events.len();
        let all = picks.last().is_none_or(is_taken);
        self.length = 1 + if all { picks.len() } else { picks.partition_point(is_taken) };
        let front = if least < self.length { self.find_tail(trace, self.length, least) } else { self.length };
        self.grow(trace, front);
        if front < self.length && (self.peeks || self.knows_memory || !self.is_calm(trace)) {
            self.grow_tail(trace);
        }
    }

    /// Takes in the steps up to the one with the number `end`.
    pub(super) fn grow(&mut self, trace: &Trace, end: usize) {
        let Log { picks, chosen, .. } = &trace.log;
        let mut number = self.stops.len();
        let mut chosen = &chosen[chosen.partition_point(|choice| (choice.pick as usize) < number)..];
        while let next = if chosen.is_empty() { self.push_alone(trace, number, end) } else { number }
            && next < end
        {
            number = next;
            let picked = number.checked_sub(1).map(|pick| &picks[pick]);
            let begin = picked.map_or(0, |picked| picked.event as usize);
            let until = picks.get(number).map_or(trace.events.len(), |picked| picked.event as usize);
            let events = &trace.events[begin..until];
            let choices_at = self.choices.len();
            while let Some((choice, rest)) = chosen.split_first()
                && choice.pick as usize == number
            {
                self.choices.push((choice.arity, choice.value));
                chosen = rest;
            }
            let (first, objects) = match (events.first(), picked) {
                (Some(first), Some(picked)) => (first, picked.objects),
                (_, picked) => (&NOTHING, picked.map_or(0, |picked| picked.objects)),
            };
            self.push(first, objects, choices_at, closes(events));
            self.intrudes |= intrudes(&first.op, trace);
            self.peeks |= peeks(&first.op);
            self.give_birth(number, events);
            number += 1;
        }
    }

    /// What the tasks that were made in a step know of others is what that step does.
    fn give_birth(&mut self, number: usize, events: &[Event]) {
        let mut birth = None;
        for event in events {
            if let Outcome::Spawned(child) = event.outcome {
                let Path { clocks, stops, .. } = self;
                let birth = birth.get_or_insert_with(|| {
                    let stop = &stops[number];
                    let clock = clocks.push_with(stop.clock(), stop.task.index(), stop.index + 1);
                    Birth { step: number as u32, clock_at: clock.start as u32, clock_end: clock.end as u32 }
                });
                self.births[child.index()] = *birth;
            }
        }
    }

    /// Finds ids for objects that stand for tasks.
    fn name_objects(&mut self, trace: &Trace) {
        self.task_objects.clone_from(&trace.log.task_objects);
        self.stable.clear();
        for (objects, &name) in trace.log.task_objects.iter().zip(&trace.names) {
            for (&object, which) in objects.iter().zip(1..) {
                if object.is_some() {
                    if self.stable.len() <= object.index() {
                        self.stable.resize(object.index() + 1, ObjectId::NONE);
                    }
                    let id = hash::mix(name, which) as u32 | STABLE;
                    self.stable[object.index()] = ObjectId(id & !1);
                }
            }
        }
    }

    /// Forgets all but the first `keep` steps.
    fn truncate(&mut self, keep: usize) {
        let Some(&Stop { clocks_at, choices_at, .. }) = self.stops.get(keep) else { return };
        // Whatever is less: what is forgotten, or the lists that it may be in.
        if self.by_task.len() + self.by_object.len() <= self.stops.len() - keep {
            self.cut_lists(keep);
        } else {
            self.pop_from_lists(keep);
        }
        self.stops.truncate(keep);
        self.clocks.truncate(clocks_at as usize);
        self.choices.truncate(choices_at as usize);
    }

    /// The steps from `keep` on are taken out of all lists, list by list.
    fn cut_lists(&mut self, keep: usize) {
        self.by_task.iter_mut().for_each(|own| accesses::cut(own, keep));
        self.by_object.iter_mut().for_each(|accesses| accesses.cut(keep));
        self.memory.cut(keep);
        self.wide.cut(keep);
    }

    /// The same step by step.
    fn pop_from_lists(&mut self, keep: usize) {
        let Path { stops, by_task, by_object, memory, wide, knows_memory, .. } = self;
        for &Stop { task, ref op, writes, simple, .. } in &stops[keep..] {
            by_task[task.index()].pop();
            if simple && !*knows_memory {
                by_object[op.object.index()].pop(writes);
                continue;
            }
            each_extent(op, |object| by_object[object.index()].pop(writes));
            if *knows_memory {
                if op.lies() {
                    memory.pop(writes);
                }
                if op.is_wide() {
                    wide.pop(writes);
                }
            }
        }
    }

    /// From now on all steps on memory and what may lie there are listed, those of this run included.
    fn know_memory(&mut self) {
        if core::mem::replace(&mut self.knows_memory, true) {
            return;
        }
        let steps = self.stops.iter().enumerate().filter(|(_, stop)| stop.op.lies());
        steps.for_each(|(number, stop)| self.memory.push(number, stop.writes));
    }

    /// Appends a step, whose place in the partial order is found out here.
    #[inline(never)]
    fn push(&mut self, event: &Event, objects: u32, choices_at: usize, closed: bool) {
        let Event { task, ref op, outcome, .. } = *event;
        if op.is_wide() {
            self.know_memory();
        }
        let (number, clocks_at) = (self.stops.len(), self.clocks.end());
        let own = &mut self.by_task[task.index()];
        let index = own.len() as u32;
        let (before, clock) = match own.last() {
            None if task == TaskId::MAIN => (None, 0..0),
            None => {
                let (before, clock) = self.births[task.index()].before();
                (Some(before as usize), clock)
            }
            Some(&last) => (Some(last), self.stops[last].clock()),
        };
        own.push(number);
        let new = New { number, task, op, clock, clocks_at, taken_in: None };
        let latest = if self.meets_nobody_new(&new) {
            Latest { rival: None, past: 0, clock: new.clock }
        } else {
            self.meet_others(new)
        };
        let past = if self.has_pasts { self.past(event, before, choices_at, latest.past) } else { 0 };
        let accesses = if op.object.is_some() { self.by_object.get(op.object.index()) } else { None };
        let place = accesses.map_or(0, |accesses| accesses.all.len() - 1) as u32;
        let called = self.remember(task, index as usize, op);
        let simple = is_simple(op) && self.is_alone(op);
        // What it chose, and objects that only this run knows, are a part of what it is called.
        let plain = choices_at == self.choices.len() && !self.has_pasts;
        self.stops.push(Stop {
            op: *op,
            outcome,
            task,
            objects,
            index,
            clock_at: latest.clock.start as u32,
            clock_end: latest.clock.end as u32,
            clocks_at: clocks_at as u32,
            choices_at: choices_at as u32,
            before: Earlier::new(before),
            rival: Earlier::new(latest.rival),
            place,
            writes: op.access() == Access::Write,
            covers: covers(op),
            simple,
            closed,
            called: called.filter(|_| plain),
            past,
        });
    }

    /// See [`Stop::past`].
    #[inline(never)]
    fn past(&self, event: &Event, before: Option<usize>, choices_at: usize, latest: u64) -> u64 {
        let values = self.choices[choices_at..].iter();
        let values = values.fold(0, |hash, &(_, value)| hash::mix(hash, u64::from(value) + 1));
        let announced = self.announced_after(event.task, before);
        hash::mix(hash::mix(announced, hash::mix(event.op.kind as u64, values)), latest)
    }

    /// Whether an operation has one object, and meets nobody but those on it, as nearly all do.
    #[inline]
    fn is_alone(&self, op: &Op) -> bool {
        let over = |last: &Stop| last.op.kind == Kind::End;
        let ends = op.kind == Kind::End || self.stops.last().is_some_and(over);
        !self.knows_memory && !op.second.is_some() && !ends
    }

    /// Whether it is plain that nothing conflicts with a new step that its task does not know of: nothing does, or what came
    /// last is known. Then the step is listed with its object.
    #[inline]
    fn meets_nobody_new(&mut self, new: &New<'_>) -> bool {
        let alone = self.is_alone(new.op);
        let Path { stops, clocks, by_object, .. } = self;
        let Some(accesses) = by_object.get_mut(new.op.object.index()).filter(|_| alone) else { return false };
        let nobody = accesses.all.last().is_none_or(|&last| {
            let last = &stops[last];
            new.knows(clocks, last) && hides(&last.op, new.op)
        });
        if nobody {
            accesses.push(new.number, new.op.access() == Access::Write);
        }
        nobody
    }

    /// A new step gets to know what its operation conflicts with, and is listed with its objects.
    #[inline(never)]
    fn meet_others(&mut self, new: New<'_>) -> Latest {
        let (number, op, writes) = (new.number, new.op, new.op.access() == Access::Write);
        let latest = self.join_conflicting(new);
        let by_object = &mut self.by_object;
        each_extent(op, |object| {
            if by_object.len() <= object.index() {
                by_object.resize(object.index() + 1, Accesses::default());
            }
            by_object[object.index()].push(number, writes);
        });
        if self.knows_memory && op.lies() {
            self.memory.push(number, writes);
        }
        if op.is_wide() {
            self.wide.push(number, writes);
        }
        latest
    }

    fn join_conflicting(&mut self, mut new: New<'_>) -> Latest {
        if !self.is_alone(new.op) {
            return self.join_conflicting_anywhere(new);
        }
        let (mut rival, mut past) = (None, 0u64);
        let Path { stops, clocks, by_object, .. } = self;
        let accesses = by_object.get(new.op.object.index());
        let steps = accesses.map_or(&[][..], |accesses| accesses.held_against(new.op));
        for &step in steps.iter().rev() {
            let earlier = &stops[step];
            if earlier.op.conflicts(new.op) && !new.knows(clocks, earlier) {
                rival.get_or_insert(step);
                new.meet(clocks, earlier);
                past = past.wrapping_add(earlier.past);
            }
            if hides(&earlier.op, new.op) {
                break;
            }
        }
        Latest { rival, past, clock: new.clock }
    }

    #[inline(never)]
    fn join_conflicting_anywhere(&mut self, mut new: New<'_>) -> Latest {
        let (mut rival, mut past) = (None, 0u64);
        let op = new.op;
        if op.kind == Kind::End {
            // Nearly always everybody has been waited for. The step itself is the last one of its task, and not there yet.
            let mut last = self.by_task.iter().filter_map(|own| self.stops.get(*own.last()?));
            if last.all(|stop| new.knows(&self.clocks, stop)) {
                return Latest { rival, past, clock: new.clock };
            }
        }
        let mut clocks = core::mem::take(&mut self.clocks);
        self.each_conflicting(op, self.stops.len(), |path, step| {
            let earlier = &path.stops[step];
            if !new.knows(&clocks, earlier) {
                rival.get_or_insert(step);
                new.meet(&mut clocks, earlier);
                past = past.wrapping_add(earlier.past);
            }
            !hides(&earlier.op, op)
        });
        self.clocks = clocks;
        Latest { rival, past, clock: new.clock }
    }
}

/// A step that is being added.
pub(super) struct New<'a> {
    pub(super) number: usize,
    pub(super) task: TaskId,
    pub(super) op: &'a Op,
    /// Its clock: that of the step before it until it meets somebody. And where the clocks ended before it.
    pub(super) clock: Range<usize>,
    pub(super) clocks_at: usize,
    /// The last clock that it has taken in: many tasks know what the one knows that made them, and nothing else.
    pub(super) taken_in: Option<Range<usize>>,
}

impl New<'_> {
    /// Whether an earlier step is known to happen before it.
    #[inline]
    pub(super) fn knows(&self, clocks: &Clocks, earlier: &Stop) -> bool {
        earlier.task == self.task || clocks.has(&self.clock, earlier.task.index(), earlier.index)
    }

    /// An earlier step happens before it.
    pub(super) fn meet(&mut self, clocks: &mut Clocks, earlier: &Stop) {
        let (task, steps) = (earlier.task.index(), earlier.index + 1);
        if self.taken_in == Some(earlier.clock()) {
            clocks.set(self.clock.start, task, steps);
            self.clock.end = clocks.end();
            return;
        }
        self.taken_in = Some(earlier.clock());
        self.clock = clocks.take_in(self.clock.clone(), self.clocks_at, earlier.clock(), task, steps);
    }
}

impl Birth {
    /// The step before the first one of the task, and its clock.
    #[inline]
    pub(super) fn before(&self) -> (u32, Range<usize>) {
        (self.step, self.clock_at as usize..self.clock_end as usize)
    }
}

/// The objects that all runs know by the same ids: those that were registered before anything could go another way.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Early {
    /// The number of picks before that, and of objects.
    pick: usize,
    objects: usize,
}

impl Early {
    fn of(log: &Log) -> Early {
        let several = log.picks.iter().position(|picked| picked.enabled.several());
        let chosen = log.chosen.first().map(|chosen| (chosen.pick as usize).saturating_sub(1));
        let pick = match (several, chosen) {
            (Some(several), Some(chosen)) => several.min(chosen),
            (several, chosen) => several.or(chosen).unwrap_or(log.picks.len()),
        };
        // Main's first step may have made some before the first choice: then none is known to be early.
        let before = log.chosen.first().is_some_and(|chosen| chosen.pick == 0);
        let objects = match log.picks.get(pick) {
            _ if before => 0,
            Some(picked) => picked.objects as usize,
            None => log.objects.len(),
        };
        Early { pick, objects }
    }
}

/// Whether these are not the same objects. All are compared, without asking after each: they hardly ever differ.
fn differ(one: &[[ObjectId; 2]], other: &[[ObjectId; 2]]) -> bool {
    let difference = |(a, b): (&[ObjectId; 2], &[ObjectId; 2])| (a[0].0 ^ b[0].0) | (a[1].0 ^ b[1].0);
    one.len() != other.len() || one.iter().zip(other).map(difference).fold(0, |all, one| all | one) != 0
}

/// Whether a step that begins with these events gives back what it has taken, as nothing but the first thing that it does
/// after that can be.
#[inline(always)]
pub(crate) fn closes(events: &[Event]) -> bool {
    events.get(1).is_some_and(|second| second.op.kind == Kind::Unlock)
}

/// Whether an operation can be done while another task holds a mutex, and conflicts with taking that. Whoever ends the process
/// comes between all that the others have not done yet.
fn intrudes(op: &Op, trace: &Trace) -> bool {
    if op.kind == Kind::End {
        return !trace.pending.is_empty();
    }
    let mutex = |object: ObjectId| matches!(trace.log.objects.get(object.index()), Some(State::Mutex(_)));
    let waits = match op.kind {
        Kind::Lock => op.mode == Mode::Block,
        // The holder's own, or not before it is free.
        Kind::Unlock | Kind::Wait | Kind::Wake => true,
        _ => false,
    };
    !waits && (op.frees() || mutex(op.object) || mutex(op.second))
}

/// Calls `each` with the objects of an operation, each once.
#[inline]
fn each_extent(op: &Op, mut each: impl FnMut(ObjectId)) {
    if op.object.is_some() {
        each(op.object);
    }
    if op.second.is_some() && op.second != op.object {
        each(op.second);
    }
}
