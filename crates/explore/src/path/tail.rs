//! What a run ends with: tasks exit, main waits for them, and does the rest alone. None of that can come in another order, and little
//! of what a search asks has to do with it, so that it is only looked at when somebody wants to know.

use super::{Path, Stop};
use raddle_model::{Kind, Mode, ObjectId, Op, Outcome, TaskId, Trace};

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
        if self.seen.len() <= object {
            self.seen.resize(object + 1, 0);
        }
        self.count += usize::from(self.seen[object] != self.run);
        self.seen[object] = self.run;
    }

    fn has(&self, object: ObjectId) -> bool {
        self.seen.get(object.index()) == Some(&self.run)
    }
}

impl Path {
    /// The number of the step from which on tasks only exit or wait for that, and main then goes on alone; `end`, the number
    /// of steps, if there is none. None of these steps can come in another order, if main has waited for all: see
    /// [`Path::is_calm`].
    pub(super) fn find_tail(&mut self, trace: &Trace, end: usize) -> usize {
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
        front.map_or(1, |last| last + 2)
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

    /// Whether an operation may meet something that is left out: whoever exits or waits for that. Main's own steps there come
    /// after everything else.
    #[inline]
    pub(crate) fn may_meet_tail(&self, op: &Op) -> bool {
        !self.is_whole() && matches!(op.kind, Kind::Exit | Kind::Join | Kind::Finished | Kind::End)
    }
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
