//! Virtual time, carried along the edges of the partial order: what a task reads off the clock is
//! the latest moment in its own causal past, so it is the same for all linearizations of a class.

use alloc::vec::Vec;
use raddle_model::{Access, Event, Kind, ObjectId, Op, Outcome, TaskId};

/// The clock of a task or object, in nanoseconds since the run began.
#[derive(Clone, Copy, Default, Debug)]
struct Moments {
    written: u64,
    any: u64,
}

/// All clocks. Nothing is kept until somebody asks for the time or lets it pass: before that every
/// clock stands at zero.
#[derive(Default, Debug)]
pub(crate) struct Time {
    active: bool,
    tasks: Vec<u64>,
    objects: Vec<Moments>,
}

impl Time {
    pub(crate) fn begin(&mut self) {
        if !core::mem::take(&mut self.active) {
            return;
        }
        self.tasks.clear();
        self.objects.clear();
    }

    fn task(&mut self, task: TaskId) -> &mut u64 {
        if self.tasks.len() <= task.index() {
            self.tasks.resize(task.index() + 1, 0);
        }
        &mut self.tasks[task.index()]
    }

    fn object(&mut self, object: ObjectId) -> &mut Moments {
        if self.objects.len() <= object.index() {
            self.objects.resize(object.index() + 1, Moments::default());
        }
        &mut self.objects[object.index()]
    }

    /// What the task's clock says; each reading takes a nanosecond, so that two differ.
    pub(crate) fn now(&mut self, task: TaskId) -> u64 {
        self.active = true;
        let clock = self.task(task);
        *clock += 1;
        *clock
    }

    /// When a pending timed operation is due.
    pub(crate) fn deadline(&mut self, task: TaskId, op: &Op) -> u64 {
        self.task(task).saturating_add(op.arg)
    }

    /// Whether anybody has asked for the time or let it pass.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    #[inline]
    pub(crate) fn event(&mut self, event: &Event) {
        let passes = event.op.kind == Kind::Sleep || matches!(event.outcome, Outcome::TimedOut);
        if self.active || passes {
            self.advance(*event, passes);
        }
    }

    #[cold]
    fn advance(&mut self, event: Event, passes: bool) {
        self.active = true;
        let Event { task, op, .. } = event;
        let begun = *self.task(task);
        let mut clock = if passes { begun.saturating_add(op.arg) } else { begun };
        let read = op.access() == Access::Read;
        for id in [op.object, op.second] {
            if id.is_some() {
                let moments = *self.object(id);
                clock = clock.max(if read { moments.written } else { moments.any });
            }
        }
        for id in [op.object, op.second] {
            if id.is_some() {
                let moments = self.object(id);
                moments.any = moments.any.max(clock);
                if !read {
                    moments.written = clock;
                }
            }
        }
        *self.task(task) = clock;
        if let Outcome::Spawned(child) = event.outcome {
            *self.task(child) = clock;
        }
    }
}
