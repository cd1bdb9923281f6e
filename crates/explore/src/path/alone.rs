//! The steps that nearly all are: a task does to one object what it did at this step before, and the last access to the object
//! that it conflicts with wrote all of it. Then that access alone tells whom the step meets.

use super::clocks::Clocks;
use super::growth::{NOTHING, New, closes};
use super::{Earlier, Path, Stop, covers, is_simple};
use core::num::NonZeroU32;
use raddle_model::{Access, Kind, Op, TaskId, Trace};

/// What a task did at a step, in this run or in one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habit {
    op: Packed,
    /// Whether it is on one object, and makes no task.
    alone: bool,
    writes: bool,
    covers: bool,
    simple: bool,
    called: Option<NonZeroU32>,
}

/// An operation in few words: those of two steps are compared all the time.
type Packed = [u64; 4];

#[inline(always)]
fn packed(op: &Op) -> Packed {
    let Op { kind, mode, order, object, second, span, arg, site } = *op;
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let what = kind as u32 | (order as u32) << 8 | (mode as u32) << 16;
    [pair(object.0, second.0), pair(site.0, what), pair(span.start, span.len), arg]
}

impl Habit {
    fn of(op: &Op) -> Habit {
        let several = op.second.is_some() || op.is_wide() || matches!(op.kind, Kind::End | Kind::Spawn);
        let alone = !several && op.object.is_some();
        let (writes, covers) = (op.access() == Access::Write, covers(op));
        let simple = alone && is_simple(op);
        Habit { op: packed(op), alone, writes, covers, simple, called: None }
    }

    /// Whether that is one object's, and this.
    #[inline(always)]
    fn is_alone(&self, op: &Op) -> bool {
        // Word by word: as a whole they would be put together in memory first.
        let ([a, b, c, d], [e, f, g, h]) = (self.op, packed(op));
        self.alone && (a ^ e) | (b ^ f) | (c ^ g) | (d ^ h) == 0
    }
}

impl Path {
    /// Pushes the steps from `number` on, up to the one with the number `end`, that are such ones, as [`Path::push`] does. The
    /// number of the first that may not be, or of the one after the last.
    pub(super) fn push_alone(&mut self, trace: &Trace, mut number: usize, end: usize) -> usize {
        let over = self.stops.last().is_none_or(|last| last.op.kind == Kind::End);
        if over || self.knows_memory || self.has_pasts || number >= end {
            return number;
        }
        let choices_at = self.choices.len() as u32;
        let Path { stops, clocks, by_task, by_object, births, habits, .. } = self;
        let (picks, events) = (&trace.log.picks, &trace.events);
        let after = picks.get(end - 1).map_or(events.len(), |next| next.event as usize);
        let picks = picks.get(number - 1..end - 1).unwrap_or_default();
        // What there is room for is written where it stays.
        stops.reserve(picks.len());
        let mut next = picks.first().map_or(after, |first| first.event as usize);
        for (place, picked) in picks.iter().enumerate() {
            let begin = next;
            next = picks.get(place + 1).map_or(after, |next| next.event as usize);
            let Some(event) = events.get(begin) else { break };
            // What else is done on the way to a point is left to the general way.
            let closed = next != begin + 1;
            if closed && (next != begin + 2 || !closes(&events[begin..])) {
                break;
            }
            let (task, object) = (event.task, event.op.object);
            let (own, habits) = (&mut by_task[task.index()], &habits[task.index()]);
            let index = own.len();
            let Some(habit) = habits.get(index).filter(|habit| habit.is_alone(&event.op)) else { break };
            let Some(accesses) = by_object.get_mut(object.index()) else { break };
            let (before, mut clock) = match own.last() {
                Some(&last) => (last as u32, stops[last].clock()),
                None => births[task.index()].before(),
            };
            let (clocks_at, mut rival) = (clocks.end() as u32, Earlier::NONE);
            // Who only reads meets nobody who does.
            let met = if habit.writes { accesses.all.last() } else { accesses.writes.last() };
            if let Some(&last) = met {
                let theirs = &stops[last];
                if !theirs.covers {
                    if !(habit.simple && habit.writes) {
                        break;
                    }
                    let taken_in = None;
                    let mut new =
                        New { number, task, op: &event.op, clock, clocks_at: clocks.end(), taken_in };
                    let Some(met) = meet_readers(stops, clocks, &accesses.all, &mut new) else {
                        clocks.truncate(clocks_at as usize);
                        break;
                    };
                    (rival, clock) = (met, new.clock);
                } else if theirs.task != task && !clocks.has(&clock, theirs.task.index(), theirs.index) {
                    rival = Earlier(last as u32);
                    let (task, steps) = (theirs.task.index(), theirs.index + 1);
                    clock = clocks.push_joined(clock, theirs.clock(), task, steps);
                }
            }
            if stops.len() == stops.capacity() {
                break;
            }
            stops.push(Stop {
                op: event.op,
                outcome: event.outcome,
                task,
                objects: picked.objects,
                index: index as u32,
                clock_at: clock.start as u32,
                clock_end: clock.end as u32,
                clocks_at,
                choices_at,
                before: Earlier(before),
                rival,
                place: accesses.all.len() as u32,
                writes: habit.writes,
                covers: habit.covers,
                simple: habit.simple,
                closed,
                called: habit.called,
                past: 0,
            });
            own.push(number);
            accesses.push(number, habit.writes);
            number += 1;
        }
        number
    }

    /// A task did this at its step `index`. What that was called, if it did the same before.
    pub(super) fn remember(&mut self, task: TaskId, index: usize, op: &Op) -> Option<NonZeroU32> {
        let habits = &mut self.habits[task.index()];
        if habits.len() <= index {
            // What it did before objects and tasks were called anew is not known.
            habits.resize(index + 1, Habit::of(&NOTHING.op));
        }
        if habits[index].op != packed(op) {
            habits[index] = Habit::of(op);
        }
        habits[index].called
    }

    /// The step is called so, wherever the task does the same at it.
    pub(crate) fn call(&mut self, number: usize, name: NonZeroU32) {
        let Stop { task, index, ref op, .. } = self.stops[number];
        if let Some(habit) =
            self.habits[task.index()].get_mut(index as usize).filter(|habit| habit.op == packed(op))
        {
            habit.called = Some(name);
        }
    }
}

/// A step that writes all of an object, of which these are the steps, gets to know those since the last one that did the same. The latest that it
/// did not know of; none if they are not that simple.
#[inline(never)]
fn meet_readers(stops: &[Stop], clocks: &mut Clocks, steps: &[usize], new: &mut New<'_>) -> Option<Earlier> {
    let mut rival = Earlier::NONE;
    for &step in steps.iter().rev() {
        let earlier = &stops[step];
        if !earlier.simple {
            return None;
        }
        if !new.knows(clocks, earlier) {
            if rival == Earlier::NONE {
                rival = Earlier(step as u32);
            }
            new.meet(clocks, earlier);
        }
        if earlier.writes {
            break;
        }
    }
    Some(rival)
}

impl Stop {
    /// What it was called when its task did the same before.
    #[inline]
    pub(crate) fn called(&self) -> Option<NonZeroU32> {
        self.called
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::clocks::Lane;
    use crate::path::{Chain, Pending, hides};
    use raddle_model::trace::Picked;
    use raddle_model::{Dice, Event, Mode, ObjectId, Order, Outcome, Rng, SiteId, Span};

    const KINDS: [Kind; 6] = [Kind::Load, Kind::Store, Kind::Rmw, Kind::Lock, Kind::Unlock, Kind::Lock];

    /// A step of a program that makes no sense: what happens before what does not depend on that.
    fn event(rng: &mut Rng, tasks: u32) -> Event {
        let mut op = Op::new(KINDS[rng.below(6) as usize], ObjectId(rng.below(3)), SiteId(rng.below(2)));
        if rng.below(12) == 0 {
            op = Op { kind: Kind::Wait, second: ObjectId(rng.below(3)), ..op };
        }
        Event { task: TaskId(rng.below(tasks)), index: 0, op, outcome: Outcome::Done }
    }

    fn trace(events: &[Event], names: u64) -> Trace {
        let mut trace = Trace { names: (0..names).collect(), ..Trace::default() };
        // Main makes them all first.
        for child in 1..names as u32 {
            let (op, outcome) =
                (Op::new(Kind::Spawn, ObjectId::NONE, SiteId(0)), Outcome::Spawned(TaskId(child)));
            trace.events.push(Event { task: TaskId::MAIN, index: 0, op, outcome });
        }
        for event in events {
            let (number, enabled) = (trace.events.len() as u32, (0..2).map(TaskId).collect());
            trace.log.picks.push(Picked { event: number, objects: 3, enabled });
            trace.events.push(*event);
            // Some give back what they have taken.
            if event.op.kind == Kind::Lock && event.op.site == SiteId(1) {
                trace.events.push(Event { op: Op { kind: Kind::Unlock, ..event.op }, ..*event });
            }
        }
        trace
    }

    /// What is known of a step, and its clock.
    type Known<'a> = (&'a Op, [u32; 5], [bool; 3], &'a [u32]);

    fn steps(path: &Path) -> Vec<Known<'_>> {
        let stop = |number: usize| {
            let stop = &path.stops[number];
            let Stop { op, index, before, rival, place, task, covers, simple, closed, .. } = stop;
            let clock = path.clock(number);
            let known = clock.iter().rposition(|&steps| steps > 0).map_or(0, |last| last + 1);
            (op, [*index, before.0, rival.0, *place, task.0], [*covers, *simple, *closed], &clock[..known])
        };
        (0..path.stops.len()).map(stop).collect()
    }

    /// Where the steps are listed.
    fn lists(path: &Path) -> Vec<&[usize]> {
        let accesses = path.by_object.iter().flat_map(|accesses| [&accesses.all[..], &accesses.writes]);
        path.by_task.iter().filter(|own| !own.is_empty()).map(Vec::as_slice).chain(accesses).collect()
    }

    /// Which steps happen before which.
    fn ordered(path: &Path) -> Vec<Vec<bool>> {
        let steps = 0..path.stops.len();
        steps.map(|later| (0..=later).map(|earlier| path.ordered(earlier, later)).collect()).collect()
    }

    /// The same: those of a task, those that conflict, all after the one that made them, and what follows from these.
    fn by_definition(path: &Path) -> Vec<Vec<bool>> {
        let mut pasts: Vec<Vec<bool>> = Vec::new();
        for (number, later) in path.stops.iter().enumerate() {
            let mut past = vec![false; number];
            for earlier in (0..number).rev() {
                let Stop { task, op, .. } = &path.stops[earlier];
                if earlier == 0 || *task == later.task || op.conflicts(&later.op) {
                    past.iter_mut().zip(&pasts[earlier]).for_each(|(known, &new)| *known |= new);
                }
            }
            past.push(true);
            pasts.push(past);
        }
        pasts
    }

    /// All that is looked up, by its definition. How often somebody was led to by a chain.
    fn look_up(path: &Path, rng: &mut Rng) -> usize {
        let mut chained = 0;
        let later = 1 + rng.below(path.stops.len() as u32 - 1) as usize;
        let pending = path.at(later);
        let between =
            |below: usize, wanted: &dyn Fn(usize) -> bool| (1..below).rev().find(|&step| wanted(step));
        let meets = |step: usize| path.stops[step].op.conflicts(&pending.op);
        let mut below = later;
        let mut chain = Chain::default();
        chain.begin(path, &pending);
        let races = |step: usize| {
            meets(step) && path.stops[step].task != pending.task && !path.leads_to(step, &pending)
        };
        while let Some(earlier) = path.rival(&pending, below) {
            assert_eq!(between(below, &races), Some(earlier));
            below = earlier;
            let leads = reverse(path, earlier, &pending);
            if chain.take_in(path, earlier) {
                assert!(chain.reaches(earlier) && leads.iter().rev().eq(chain.steps()));
                chained += 1;
            }
            let name = u64::from(pending.task.0);
            let met = |step: &usize| {
                !path.ordered(earlier, *step) && (meets(*step) || path.stops[*step].task == pending.task)
            };
            if path.can_look_up(&pending.op) {
                let found = (earlier + 1..path.stops.len()).find(met);
                assert_eq!(path.first_met(name, &pending.op, earlier), found);
                if is_simple(&pending.op) && !path.rules(earlier, pending.op.object) {
                    assert_eq!(path.first_met_simply(name, &pending.op, earlier), found);
                }
            }
            assert_eq!(path.hides(earlier, &pending), hides(&path.stops[earlier].op, &pending.op));
        }
        assert_eq!(between(below, &races), None);
        let mutex = pending.op.object;
        let mut all = path.by_object[mutex.index()].all.iter();
        let moves = |step: usize| matches!(path.stops[step].op.kind, Kind::Lock | Kind::Unlock | Kind::Wait);
        let last =
            all.rfind(|&&step| step != later && (step < later || !path.ordered(later, step)) && moves(step));
        let takes = |stop: &Stop| stop.op.kind == Kind::Lock && stop.op.site == SiteId(0);
        let held = last.is_some_and(|&step| takes(&path.stops[step]));
        assert_eq!(path.is_held_without(later, mutex), held);
        chained
    }

    fn reverse(path: &Path, earlier: usize, pending: &Pending) -> Vec<usize> {
        let (mut needed, mut found): (Vec<Lane>, _) = (Vec::new(), Vec::new());
        path.leads_to_reversal(earlier, pending, &[], &mut needed, &mut found);
        let free = |step: usize| !path.ordered(earlier, step);
        let (after, meets) =
            (earlier + 1..path.end(pending), |step: usize| path.stops[step].op.conflicts(&pending.op));
        let leads = |step: usize| {
            let to_one = after.clone().any(|met| meets(met) && free(met) && path.ordered(step, met));
            free(step) && (to_one || path.leads_to(step, pending))
        };
        assert_eq!(found, after.clone().filter(|&step| leads(step)).collect::<Vec<usize>>());
        found
    }

    #[test]
    fn nothing_of_an_operation_is_lost_in_few_words() {
        let op = Op::new(Kind::Lock, ObjectId(3), SiteId(5));
        let span = |start, len| Op { span: Span { start, len }, ..op };
        let others = [
            op,
            Op { kind: Kind::Unlock, ..op },
            op.mode(Mode::Try),
            op.order(Order::Relaxed),
            Op { object: ObjectId(4), ..op },
            op.second(ObjectId(3)),
            Op { site: SiteId(6), ..op },
            span(op.span.start + 1, op.span.len),
            span(op.span.start, op.span.len - 1),
            op.arg(1),
        ];
        for (number, one) in others.iter().enumerate() {
            assert!(others[..number].iter().all(|other| packed(other) != packed(one)), "{one:?}");
        }
    }

    #[test]
    fn the_quick_way_is_the_general_way() {
        let mut chained = 0;
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let tasks = 2 + rng.below(3);
            let (mut quick, mut general) = (Path::default(), Path::default());
            let (mut events, mut alone): (Vec<Event>, usize) = (Vec::new(), 0);
            // So that some have more than a lane has.
            let names = u64::from(tasks) + u64::from(rng.below(2)) * 8;
            for _ in 0..30 {
                let keep = rng.below(events.len() as u32 + 1) as usize;
                // The rest is mostly what it was, in another order.
                let mut rest = events.split_off(keep);
                for place in (1..rest.len()).rev() {
                    rest.swap(place, rng.below(place as u32 + 1) as usize);
                }
                rest.truncate(60);
                rest.extend((0..rng.below(8)).map(|_| event(&mut rng, tasks)));
                // Some tasks go on for a while, with the same object or with another.
                for place in 1..rest.len() {
                    if rng.below(3) > 0 {
                        let Event { task, ref op, .. } = rest[place - 1];
                        let op = if rng.below(4) > 0 { op.object } else { rest[place].op.object };
                        rest[place].task = task;
                        rest[place].op.object = op;
                    }
                }
                events.extend(rest);
                quick.follow(&trace(&events, names), keep);
                general.habits.iter_mut().for_each(Vec::clear);
                general.follow(&trace(&events, names), keep);
                assert_eq!(steps(&quick), steps(&general));
                assert_eq!(lists(&quick), lists(&general));
                let end = events.len() + 1;
                assert_eq!(quick.push_alone(&trace(&events, names), end, end), end);
                assert_eq!(ordered(&quick), by_definition(&quick));
                alone += quick.stops.iter().filter(|stop| stop.rival != Earlier::NONE).count();
                if events.len() > 1 {
                    chained += (0..20).map(|_| look_up(&quick, &mut rng)).sum::<usize>();
                }
            }
            assert!(alone > 0, "no step met another");
        }
        assert!(chained > 0, "nothing was led to by a chain");
    }
}
