//! Spinning: a task that repeats one cycle of sites with unchanged reads and no writes waits for
//! somebody else, although it looks enabled. It is not picked while another can run.
//!
//! A cycle is found in constant space as in Brent's algorithm: an anchor is set at event 1, 2, 4,
//! 8, … since the task's last change; a lap is what lies between two visits of the anchor. After
//! [`LAPS`] laps with the same reads of the same versions the task is parked, until one of the
//! objects it read changes. Parking lowers priority and nothing else: if only parked tasks are
//! left, they run on.

use alloc::vec::Vec;
use raddle_model::{Access, Event, Kind, ObjectId, Outcome, TaskId, TaskSet, World, hash};

/// Equal laps after which a task counts as spinning.
const LAPS: u32 = 3;

/// Longest lap, in events, that is looked at.
const LAP_MAX: usize = 64;

#[derive(Default, Debug, Clone)]
struct State {
    events: u32,
    anchor: u64,
    lap: u64,
    previous: u64,
    laps: u32,
    objects: Vec<ObjectId>,
    /// What it was looking at when it was last parked.
    watched: Vec<ObjectId>,
}

impl State {
    fn reset(&mut self) {
        self.events = 0;
        self.laps = 0;
    }
}

/// A store or read-modify-write of which the front end may yet say that it changed nothing.
#[derive(Clone, Copy, Debug)]
struct Unsettled {
    task: TaskId,
    object: ObjectId,
    site: u32,
}

/// Who spins.
#[derive(Default, Debug)]
pub(crate) struct Spin {
    active: bool,
    states: Vec<State>,
    parked: TaskSet,
    unsettled: Option<Unsettled>,
    /// Whether only spinning tasks were left at some point and nothing has changed since.
    pub(crate) stuck: bool,
    /// Whether any task was ever parked in this run.
    pub(crate) used: bool,
}

impl Spin {
    pub(crate) fn begin(&mut self, active: bool) {
        self.active = active;
        for state in &mut self.states {
            state.reset();
            state.watched.clear();
        }
        self.parked.clear();
        self.unsettled = None;
        self.stuck = false;
        self.used = false;
    }

    /// Tasks that are not to be picked while another can run.
    #[inline]
    pub(crate) fn parked(&self) -> &TaskSet {
        &self.parked
    }

    /// Only parked tasks are left: they run on.
    pub(crate) fn release_all(&mut self) {
        self.parked.clear();
        self.states.iter_mut().for_each(State::reset);
        self.stuck = true;
    }

    /// What a task that spins looks at; empty if it does not, or at nothing that can be seen.
    pub(crate) fn watched(&self, task: TaskId) -> &[ObjectId] {
        let state = self.states.get(task.index());
        state.map_or(&[], |state| &state.watched)
    }

    fn state(&mut self, task: TaskId) -> &mut State {
        if self.states.len() <= task.index() {
            self.states.resize_with(task.index() + 1, State::default);
        }
        &mut self.states[task.index()]
    }

    #[inline]
    pub(crate) fn event(&mut self, event: &Event, world: &World) {
        if !self.active {
            return;
        }
        let Event { task, op, outcome, .. } = *event;
        match op.kind {
            Kind::Store | Kind::Rmw => {
                self.unsettled = Some(Unsettled { task, object: op.object, site: op.site.0 });
            }
            Kind::Yield | Kind::Sleep | Kind::Fence => self.look(task, ObjectId::NONE, 0, op.site.0),
            _ if op.access() == Access::Read || matches!(outcome, Outcome::Failed | Outcome::TimedOut) => {
                // Reading with a lock is taking it: that is progress, and it matters to writers.
                match (op.kind, outcome) {
                    (Kind::ReadLock | Kind::ReadUnlock, Outcome::Done) => {
                        self.changed(task, op.object);
                    }
                    (Kind::Leave | Kind::Join | Kind::Handover, Outcome::Done) => {
                        self.changed(task, ObjectId::NONE);
                    }
                    _ => self.look(task, op.object, world.object(op.object).version, op.site.0),
                }
            }
            _ => {
                self.changed(task, op.object);
                if op.second.is_some() {
                    self.changed(task, op.second);
                }
            }
        }
    }

    /// The next event is about to happen: the last store did change something.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if let Some(Unsettled { task, object, .. }) = self.unsettled.take() {
            self.changed(task, object);
        }
    }

    /// The last store changed nothing: it counts as a look.
    pub(crate) fn unchanged(&mut self, world: &World) {
        if let Some(Unsettled { task, object, site }) = self.unsettled.take() {
            self.look(task, object, world.object(object).version, site);
        }
    }

    /// A task has made progress, or an object has changed.
    #[inline]
    fn changed(&mut self, task: TaskId, object: ObjectId) {
        let state = self.state(task);
        state.reset();
        state.watched.clear();
        self.stuck = false;
        if !self.parked.is_empty() && object.is_some() {
            let woken: Vec<TaskId> = self
                .parked
                .iter()
                .filter(|task| self.states[task.index()].objects.contains(&object))
                .collect();
            for task in woken {
                self.parked.remove(task);
                self.states[task.index()].reset();
            }
        }
    }

    /// A task has looked at something without changing anything.
    fn look(&mut self, task: TaskId, object: ObjectId, version: u32, site: u32) {
        let key = hash::mix(u64::from(site) << 32 | u64::from(object.0), u64::from(version));
        let state = self.state(task);
        state.events += 1;
        if state.events > 1 {
            state.lap = hash::mix(state.lap, key);
            if object.is_some() && !state.objects.contains(&object) {
                if state.objects.len() == LAP_MAX {
                    state.reset();
                    return;
                }
                state.objects.push(object);
            }
            if key == state.anchor {
                state.laps = if state.lap == state.previous { state.laps + 1 } else { 0 };
                state.previous = state.lap;
                state.lap = 0;
            }
        }
        if state.laps >= LAPS {
            state.laps = 0;
            state.watched.clone_from(&state.objects);
            self.parked.insert(task);
            self.used = true;
        } else if state.events.is_power_of_two() {
            state.anchor = key;
            state.lap = 0;
            state.previous = 0;
            state.laps = 0;
            state.objects.clear();
            if object.is_some() {
                state.objects.push(object);
            }
        }
    }
}
