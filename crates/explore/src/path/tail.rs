//! What a run ends with: tasks exit, main waits for them, and does the rest alone. None of that can come in another order, and little
//! of what a search asks has to do with it, so that it is only looked at when somebody wants to know. Before that, the last task that
//! ran mostly went on with what it was at: that is left out, too, but for the first step.

use super::growth::closes;
use super::{Path, Stop};
use raddle_model::trace::Picked;
use raddle_model::{Event, Kind, Mode, ObjectId, Op, Outcome, TaskId, Touch, Trace};

/// Who has been waited for, by the object that stands for it: the number of the run in which that was seen last.
#[derive(Clone, Default, Debug)]
pub(super) struct Awaited {
    seen: Vec<u64>,
    run: u64,
    /// How many were.
    count: usize,
}

impl Awaited {
    fn begin(&mut self) {
        self.run += 1;
        self.count = 0;
    }

    fn note(&mut self, op: &Op) {
        let object = op.object.index();
        match self.seen.get_mut(object) {
            Some(seen) => self.count += usize::from(core::mem::replace(seen, self.run) != self.run),
            None => {
                self.seen.resize(object + 1, 0);
                self.note(op);
            }
        }
    }

    fn has(&self, object: ObjectId) -> bool {
        self.seen.get(object.index()) == Some(&self.run)
    }
}

impl Path {
    /// The number of the step from which on tasks only exit or wait for that, and main then goes on alone; `end`, the number
    /// of steps, if there is none. None of these steps can come in another order, if main has waited for all: see
    /// [`Path::is_calm`]. If a task writes one object again and again before that, such steps belong to it, but for the first of
    /// them. It has no step before the one with the number `least`.
    pub(super) fn find_tail(&mut self, trace: &Trace, end: usize, least: usize) -> usize {
        let calm = trace.pending.is_empty() && trace.log.chosen.is_empty();
        if !calm || self.late || self.knows_memory || self.peeks {
            return end;
        }
        self.awaited.begin();
        let mut alone = true;
        let picks = trace.log.picks.get(..end - 1).unwrap_or_default();
        let front = picks.iter().rposition(|picked| {
            let event = &trace.events[picked.event as usize];
            if waits(&event.op) && matches!(event.outcome, Outcome::Done) {
                if event.task == TaskId::MAIN {
                    self.awaited.note(&event.op);
                }
                alone = false;
                return false;
            }
            alone &= event.task == TaskId::MAIN;
            !alone && event.op.kind != Kind::Exit
        });
        let Some(last) = front else { return least };
        least.max(first_of_stretch(trace, last, least) + 2)
    }

    /// Whether main has waited for every other task, as far as the path goes or in what [`Path::find_tail`] has seen.
    pub(super) fn is_calm(&self, trace: &Trace) -> bool {
        let awaited = |step: &usize| {
            let Stop { task, op, outcome, .. } = &self.stops[*step];
            *task == TaskId::MAIN && waits(op) && *outcome == Outcome::Done
        };
        // Whatever is waited for is a task, and main never waits for itself.
        let all = self.awaited.count + 1 == trace.log.task_objects.len();
        all || trace.log.task_objects.iter().skip(1).all(|[object, _]| {
            let accesses = self.by_object.get(object.index());
            self.awaited.has(*object) || accesses.is_some_and(|accesses| accesses.all.iter().any(awaited))
        })
    }

    /// Whether nothing of the run is left out. A run that a bound has cut short may have taken fewer steps than are known of the
    /// one that it was to follow.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.stops.len() >= self.length
    }

    /// Takes in what was left out of the run, which is the one of `trace`.
    pub(crate) fn grow_tail(&mut self, trace: &Trace) {
        if !self.is_whole() {
            self.grow(trace, self.length);
        }
    }

    /// Whether an operation may meet something that is left out, and nothing before it that stands for that: whoever exits or waits
    /// for that. Main's own steps there come after everything else.
    #[inline]
    pub(crate) fn may_meet_tail(&self, op: &Op) -> bool {
        !self.is_whole() && matches!(op.kind, Kind::Exit | Kind::Join | Kind::Finished | Kind::End)
    }
}

/// The first of the steps up to the pick `last` in which one task does the same to one object, writing all of it, and nothing else. Each
/// but the first meets only what the one before it knows of: it races with nobody, it depends on the same steps as
/// the first, and it conflicts with nothing that the first does not conflict with. So the first stands for all of them wherever somebody
/// asks for a step that is met after another one. Those before the step with the number `least` are not asked for.
#[inline]
fn first_of_stretch(trace: &Trace, last: usize, least: usize) -> usize {
    let (picks, events) = (&trace.log.picks, &trace.events);
    let begin = picks[last].event as usize;
    // Most do something else, or another task has come before.
    let (Some(event), Some(one)) = (events.get(begin), last.checked_sub(1).map(|one| &picks[one])) else {
        return last;
    };
    if !events.get(one.event as usize).is_some_and(|one| is_repeated(one, event)) {
        return last;
    }
    let end = picks.get(last + 1).map_or(events.len(), |next| next.event as usize);
    let (before, events) = (&picks[least.saturating_sub(2).min(last)..last], &events[..begin]);
    let repeated = match event.op.plain().map(|plain| plain.touch) {
        Some(Touch::Write) if end == begin + 1 => repeated::<1>(before, events, event),
        // A mutex that is given back is as if nobody had taken it.
        Some(Touch::Take) if end == begin + 2 && closes(&trace.events[begin..]) => {
            repeated::<2>(before, events, event)
        }
        _ => 0,
    };
    last - repeated
}

/// How many steps right before `event` are like that, with so many events each. The second one gives back what the first has taken.
#[inline(never)]
fn repeated<const EACH: usize>(picks: &[Picked], events: &[Event], event: &Event) -> usize {
    let (_, steps) = events.as_rchunks::<EACH>();
    let mut begin = events.len();
    let alike = |(picked, step): &(&Picked, &[Event; EACH])| {
        begin -= EACH;
        picked.event as usize == begin && is_repeated(&step[0], event) && (EACH == 1 || closes(*step))
    };
    picks.iter().rev().zip(steps.iter().rev()).take_while(alike).count()
}

/// Whether a task does the same to the same object again, from wherever in the program.
#[inline(always)]
fn is_repeated(one: &Event, again: &Event) -> bool {
    let (a, b) = (&one.op, &again.op);
    let whom = one.task == again.task && a.object == b.object && a.second == b.second;
    let done = matches!(one.outcome, Outcome::Done) && matches!(again.outcome, Outcome::Done);
    whom && a.kind == b.kind && a.mode == b.mode && a.span == b.span && a.arg == b.arg && done
}

/// Whether an operation waits until a task has exited.
#[inline]
fn waits(op: &Op) -> bool {
    op.kind == Kind::Join && op.mode == Mode::Block
}

/// Whether an operation looks at whether a task has exited without waiting for that: such a one can come before it, too.
#[inline]
pub(super) fn peeks(op: &Op) -> bool {
    op.kind == Kind::Finished || op.kind == Kind::Join && !waits(op)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_model::{Dice, Rng, SiteId};

    const KINDS: [Kind; 4] = [Kind::Load, Kind::Store, Kind::Rmw, Kind::Lock];

    fn op(rng: &mut Rng) -> Op {
        Op::new(KINDS[rng.below(4) as usize], ObjectId(rng.below(3)), SiteId(rng.below(2)))
    }

    /// Main makes some tasks. Those do something, mostly the same again, and exit; main waits for them.
    fn trace(rng: &mut Rng, tasks: u32) -> Trace {
        let mut trace = Trace { names: (0..=u64::from(tasks)).collect(), ..Trace::default() };
        let stands_for = |task: u32| ObjectId(10 + task);
        trace.log.task_objects = (0..=tasks).map(|task| [stands_for(task), ObjectId::NONE]).collect();
        let event = |task, op| Event { task: TaskId(task), index: 0, op, outcome: Outcome::Done };
        for child in 1..=tasks {
            let outcome = Outcome::Spawned(TaskId(child));
            let op = Op::new(Kind::Spawn, ObjectId::NONE, SiteId(0));
            trace.events.push(Event { outcome, ..event(0, op) });
        }
        let mut push = |event: Event, closes: bool| {
            let (number, enabled) = (trace.events.len() as u32, (0..2).map(TaskId).collect());
            trace.log.picks.push(Picked { event: number, objects: 3, enabled });
            trace.events.push(event);
            if closes {
                trace.events.push(Event { op: Op { kind: Kind::Unlock, ..event.op }, ..event });
            }
        };
        let (mut task, mut last) = (1, op(rng));
        for _ in 0..rng.below(30) {
            if rng.below(5) == 0 {
                (task, last) = (rng.below(tasks) + 1, op(rng));
            }
            last.site = SiteId(rng.below(2));
            let outcome = if rng.below(20) == 0 { Outcome::Failed } else { Outcome::Done };
            // Some keep what they have taken.
            let closes = last.kind == Kind::Lock && rng.below(20) > 0;
            push(Event { outcome, ..event(task, last) }, closes);
        }
        for task in 1..=tasks {
            push(event(task, Op::new(Kind::Exit, stands_for(task), SiteId(0))), false);
        }
        for task in 1..=tasks {
            push(event(0, Op::new(Kind::Join, stands_for(task), SiteId(0))), false);
        }
        trace
    }

    #[test]
    fn nothing_that_is_left_out_is_met_before_what_is_not() {
        let mut left_out = 0;
        for seed in 0..2000 {
            let mut rng = Rng::new(seed);
            let tasks = 2 + rng.below(3);
            let trace = trace(&mut rng, tasks);
            let steps = trace.log.picks.len() + 1;
            let ends = steps - 2 * tasks as usize;
            // What both know of the run before.
            let keep = 1 + rng.below(ends as u32) as usize;
            let (mut whole, mut front) = (Path::default(), Path::default());
            for path in [&mut whole, &mut front] {
                path.follow(&trace, 0);
            }
            whole.follow(&trace, keep);
            front.follow_front(&trace, keep, (keep + 2).min(steps));
            assert_eq!(whole.stops.len(), steps);
            let races =
                |from: usize| whole.stops[from..].iter().filter(|stop| stop.races() && !waits(&stop.op));
            assert_eq!(races(front.stops.len()).count(), 0);
            left_out += ends.saturating_sub(front.stops.len());
            for earlier in 1..front.stops.len() - 1 {
                let sleeper = op(&mut rng);
                let name = 1 + u64::from(rng.below(tasks));
                let met = |path: &Path| path.first_met(name, &sleeper, earlier).filter(|&step| step < ends);
                assert_eq!(met(&front), met(&whole));
                let wakes = |path: &Path| {
                    path.any_new_beside(earlier, |step| path.stops[step].op.conflicts(&sleeper))
                };
                assert_eq!(wakes(&front), wakes(&whole));
                let held = |path: &Path| path.is_held_without(earlier, sleeper.object);
                assert_eq!(held(&front), held(&whole));
            }
            front.grow_tail(&trace);
            assert_eq!(front.stops.len(), steps);
        }
        assert!(left_out > 1000, "a task never went on with what it was at");
    }
}
