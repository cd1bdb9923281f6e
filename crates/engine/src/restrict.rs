//! Who is held back although it could run: spinning tasks and, under lazy time, whoever could only
//! let time pass.

use crate::director::Engine;
use raddle_model::{Analysis, Kind, Mode, Policy, TaskId, TaskSet, TimeMode, World};

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// Computes `pickable`. Spinning tasks come back when everybody spins; time passes when nobody
    /// else is left, up to the earliest deadline. All that share it can be picked: what two timers
    /// that are due at once do, they do in either order.
    #[cold]
    pub(crate) fn restrict(&mut self) {
        self.pickable.copy_from(self.world.enabled_tasks());
        if self.pickable.is_empty() {
            return;
        }
        self.pickable.subtract(self.spin.parked());
        if self.pickable.is_empty() {
            self.spin.release_all(&mut self.world);
            self.pickable.copy_from(self.world.enabled_tasks());
        }
        if self.time_mode == TimeMode::Any && !self.search.is_impatient() {
            return;
        }
        let waits = |task: TaskId| {
            self.time_mode == TimeMode::Lazy || self.search.is_over_patience(task, &self.world.task(task).op)
        };
        let passes = |task: &TaskId| passes_time(&self.world, *task) && waits(*task);
        let timers: TaskSet = self.pickable.iter().filter(passes).collect();
        if timers.is_empty() {
            return;
        }
        self.search.holds_back_timers();
        self.pickable.subtract(&timers);
        if !self.pickable.is_empty() {
            return;
        }
        let mut deadline = |task: TaskId| self.time.deadline(task, &self.world.task(task).op);
        let earliest = timers.iter().map(&mut deadline).min();
        self.pickable = timers.iter().filter(|&task| Some(deadline(task)) == earliest).collect();
    }
}

/// Whether the task's pending operation could only let time pass.
fn passes_time(world: &World, task: TaskId) -> bool {
    let op = &world.task(task).op;
    match (op.kind, op.mode) {
        (Kind::Sleep, _) => true,
        (Kind::Wake, Mode::Timed) => !world.task(task).woken,
        (_, Mode::Timed) => !world.succeeds(task, op),
        _ => false,
    }
}
