//! What can be asked of an engine and its parts, during a run and after it.

use crate::director::Engine;
use alloc::vec::Vec;
use raddle_model::world::Life;
use raddle_model::{Analysis, Event, Op, Outcome, Policy, Schedule, TaskId, Trace, Verdict, World};

impl<P: Policy, A: Analysis> Engine<P, A> {
    /// The state of objects and tasks.
    #[inline]
    pub fn world(&self) -> &World {
        self.assert_up_to_date();
        &self.world
    }

    /// The same, for what is no operation and yet changes it.
    #[inline]
    pub fn world_mut(&mut self) -> &mut World {
        self.leave_rote();
        &mut self.world
    }

    /// The policy, to be replaced or restarted between runs.
    pub fn policy_mut(&mut self) -> &mut P {
        self.catch_up();
        self.end_spell();
        &mut self.policy
    }

    /// The analyses.
    pub fn analysis(&self) -> &A {
        self.assert_up_to_date();
        &self.analysis
    }

    /// The analyses, to be set up between runs.
    pub fn analysis_mut(&mut self) -> &mut A {
        self.catch_up();
        &mut self.analysis
    }

    /// The same for what has no place among the events, and is said while they may lag behind.
    #[inline]
    pub fn analysis_meanwhile(&mut self) -> &mut A {
        &mut self.analysis
    }

    /// Shows the analyses something that is no event: plain accesses at full volume. They see the state, too.
    #[inline]
    pub fn observe<R>(&mut self, look: impl FnOnce(&mut A, &World) -> R) -> R {
        self.catch_up();
        look(&mut self.analysis, &self.world)
    }

    /// Makes room for so many tasks and objects.
    pub fn reserve(&mut self, tasks: usize, objects: usize) {
        self.world.reserve(tasks, objects);
    }

    /// Number of events so far.
    pub fn steps(&self) -> u64 {
        self.assert_up_to_date();
        self.steps
    }

    /// How the run ended, if it has.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// How a task's last operation ended.
    #[inline]
    pub fn outcome(&self, task: TaskId) -> Outcome {
        self.assert_up_to_date();
        self.world.task(task).outcome
    }

    /// How many decisions there were so far.
    pub fn decisions(&self) -> usize {
        self.assert_up_to_date();
        self.decisions.len() + self.spell.decisions() as usize
    }

    /// From the next run on decisions are counted, and not written down: there will be no schedule.
    pub fn only_count_decisions(&mut self, only_counts: bool) {
        self.decisions.only_count(only_counts);
    }

    /// Whether a try or timed operation on a lock was seen: later plans must make releases points.
    pub fn saw_try(&self) -> bool {
        self.saw_try
    }

    /// Whether a spinning task was ever held back.
    pub fn parked(&self) -> bool {
        self.spin.used
    }

    /// The schedule of the run so far, without its fingerprint.
    pub fn schedule(&self) -> Schedule {
        self.assert_up_to_date();
        Schedule { decisions: self.decisions.list().to_vec(), checks: self.check.entries(), fingerprint: 0 }
    }

    /// Everything about the run but its events, which a [`raddle_model::Recorder`] has.
    pub fn trace(&self, events: Vec<Event>) -> Trace {
        let tasks = self.world.tasks();
        Trace {
            events,
            pending: self.pending().collect(),
            names: tasks.iter().map(|task| task.name).collect(),
            parents: tasks.iter().map(|task| task.parent).collect(),
            schedule: self.schedule(),
            log: self.search.log(&self.world, self.spin.used),
        }
    }

    /// What the live tasks are about to do. Whoever failed or ended the process in mid-run is about to do nothing.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (TaskId, Op)> {
        let live = self.world.live().map(|task| (task, self.world.task(task)));
        live.filter(|(_, state)| state.life == Life::Pending).map(|(task, state)| (task, state.op))
    }
}
