//! Virtual time, carried along the edges of the partial order: what a task reads off the clock is
//! the latest moment in its own causal past, so it is the same for all linearizations of a class.
//! Computing takes no time, readings do: who waits by looking at the clock comes to an end.

use alloc::vec::Vec;
use raddle_model::{Access, Event, Kind, ObjectId, Op, Outcome, TaskId};

/// What has come to an object, in nanoseconds since the run began.
#[derive(Clone, Copy, Default, Debug)]
struct Moments {
    written: u64,
    any: u64,
}

/// The clock of a task.
#[derive(Clone, Copy, Default, Debug)]
struct Clock {
    /// What it says.
    now: u64,
    /// How often it has been read since its task has let time pass.
    readings: u32,
}

/// So many readings in a row take a nanosecond each; after that one takes twice as long with every few more.
const BRIEF: u32 = 32;
const DOUBLING: u32 = 4;
/// A reading takes no more than about a millisecond (2^20 ns).
const LONGEST: u32 = 20;

impl Clock {
    /// How long a reading takes. Two must differ; and who does nothing but look at the clock until it is late enough, or
    /// until it says more than what was waited for, comes to an end, as it would if computing took time.
    fn tick(&self) -> u64 {
        1 << (self.readings.saturating_sub(BRIEF) / DOUBLING).min(LONGEST)
    }
}

/// All clocks. Nothing is kept until somebody asks for the time or lets it pass: before that every
/// clock stands at zero.
#[derive(Default, Debug)]
pub(crate) struct Time {
    active: bool,
    tasks: Vec<Clock>,
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

    fn task(&mut self, task: TaskId) -> &mut Clock {
        if self.tasks.len() <= task.index() {
            self.tasks.resize(task.index() + 1, Clock::default());
        }
        &mut self.tasks[task.index()]
    }

    fn object(&mut self, object: ObjectId) -> &mut Moments {
        if self.objects.len() <= object.index() {
            self.objects.resize(object.index() + 1, Moments::default());
        }
        &mut self.objects[object.index()]
    }

    /// What the task's clock says.
    pub(crate) fn now(&mut self, task: TaskId) -> u64 {
        self.active = true;
        let clock = self.task(task);
        clock.now = clock.now.saturating_add(clock.tick());
        clock.readings = clock.readings.saturating_add(1);
        clock.now
    }

    /// When a pending timed operation is due.
    pub(crate) fn deadline(&mut self, task: TaskId, op: &Op) -> u64 {
        self.task(task).now.saturating_add(op.arg)
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
        let Clock { now: begun, readings } = *self.task(task);
        let (mut clock, readings) =
            if passes { (begun.saturating_add(op.arg), 0) } else { (begun, readings) };
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
        *self.task(task) = Clock { now: clock, readings };
        if let Outcome::Spawned(child) = event.outcome {
            *self.task(child) = Clock { now: clock, readings: 0 };
        }
    }
}
