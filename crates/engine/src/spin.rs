//! Spinning: a task that repeats one cycle of sites with unchanged reads and no writes waits for
//! somebody else, although it looks enabled. It is not picked while another can run.
//!
//! A cycle is found in constant space as in Brent's algorithm: an anchor is set at event 1, 2, 4,
//! 8, … since the task's last change; a lap is what lies between two visits of the anchor. After
//! [`LAPS`] laps with the same reads of the same versions the task is parked, until one of the
//! objects it read changes. Parking lowers priority and nothing else: if only parked tasks are
//! left, they run on.

use alloc::vec::Vec;
use raddle_model::{Access, Event, Kind, ObjectId, Outcome, SiteId, TaskId, TaskSet, World, hash};

/// Equal laps after which a task counts as spinning, unless the front end says otherwise.
const LAPS: u32 = 3;

/// Objects in a lap; one that looks at more of them is not taken for spinning.
const OBJECTS_MAX: usize = 64;

/// What is known of a task that looks and looks. The number of its looks since its last change is
/// kept apart, in [`raddle_model::world::Task::looks`]: that is all that a change has to touch.
#[derive(Default, Debug, Clone)]
struct State {
    anchor: u64,
    lap: u64,
    previous: u64,
    laps: u32,
    objects: Vec<ObjectId>,
    /// What it was looking at when it was last parked.
    watched: Vec<ObjectId>,
}

/// Who spins.
#[derive(Debug)]
pub(crate) struct Spin {
    active: bool,
    laps_max: u32,
    /// Somebody is parked or was stuck: changes must be looked at.
    alert: bool,
    states: Vec<State>,
    parked: TaskSet,
    /// What the last store or read-modify-write was to, if the front end may yet say that it changed
    /// nothing and that matters.
    unsettled: Option<ObjectId>,
    /// Whether only spinning tasks were left at some point and nothing has changed since.
    pub(crate) stuck: bool,
    /// Whether any task was ever parked in this run.
    pub(crate) used: bool,
}

impl Default for Spin {
    fn default() -> Spin {
        Spin {
            active: false,
            laps_max: LAPS,
            alert: false,
            states: Vec::new(),
            parked: TaskSet::EMPTY,
            unsettled: None,
            stuck: false,
            used: false,
        }
    }
}

impl Spin {
    pub(crate) fn begin(&mut self, active: bool) {
        self.active = active;
        self.alert = false;
        self.parked.clear();
        self.unsettled = None;
        self.stuck = false;
        self.used = false;
    }

    /// Makes another equal to this one. Nobody may be parked or stuck.
    pub(crate) fn copy_to(&self, other: &mut Spin) {
        debug_assert!(!self.alert && self.unsettled.is_none(), "raddle bug: who spins is kept");
        other.begin(self.active);
        other.laps_max = self.laps_max;
        other.states.clone_from(&self.states);
        other.used = self.used;
    }

    /// So many equal laps are no spinning yet.
    pub(crate) fn tolerate(&mut self, laps: u32) {
        self.laps_max = laps;
    }

    /// Whether somebody is parked or was stuck.
    #[inline]
    pub(crate) fn is_alert(&self) -> bool {
        self.alert
    }

    /// Whether anybody is held back.
    #[inline]
    pub(crate) fn holds_back(&self) -> bool {
        // Nobody is parked without an alert, and the alert is one byte.
        self.alert && !self.parked.is_empty()
    }

    /// Tasks that are not to be picked while another can run.
    pub(crate) fn parked(&self) -> &TaskSet {
        &self.parked
    }

    /// Only parked tasks are left: they run on.
    pub(crate) fn release_all(&mut self, world: &mut World) {
        for task in self.parked.iter() {
            *world.looks_mut(task) = 0;
        }
        self.parked.clear();
        self.stuck = true;
        self.alert = true;
    }

    /// A task no longer does what it was doing.
    pub(crate) fn let_go(&mut self, task: TaskId, world: &mut World) {
        self.parked.remove(task);
        *world.looks_mut(task) = 0;
    }

    /// What a task looked at when it was last parked; meaningful for all that can run while stuck.
    pub(crate) fn watched(&self, task: TaskId) -> &[ObjectId] {
        let state = self.states.get(task.index());
        state.map_or(&[], |state| &state.watched)
    }

    #[inline]
    pub(crate) fn event(&mut self, event: &Event, world: &mut World) {
        if !self.active {
            return;
        }
        match event.op.kind {
            // The world has set the looks to zero already.
            Kind::Store | Kind::Rmw => self.unsettled = self.alert.then_some(event.op.object),
            _ => self.other_event(*event, world),
        }
    }

    /// A task has looked at something by a plain operation.
    pub(crate) fn looked(&mut self, task: TaskId, object: ObjectId, site: SiteId, world: &mut World) {
        if self.active {
            self.look(task, object, site.0, world);
        }
    }

    fn other_event(&mut self, event: Event, world: &mut World) {
        let Event { task, op, outcome, .. } = event;
        if matches!(op.kind, Kind::Spawn | Kind::Exit | Kind::End) && !self.alert {
            // Nobody has waited for such progress.
            *world.looks_mut(task) = 0;
            return;
        }
        let missed = matches!(outcome, Outcome::Failed | Outcome::TimedOut);
        // Taking or leaving something by a read is progress, as a write is.
        let got =
            matches!(op.kind, Kind::ReadLock | Kind::ReadUnlock | Kind::Leave | Kind::Join | Kind::Handover)
                && !missed;
        if matches!(op.kind, Kind::Yield | Kind::Sleep | Kind::Fence) {
            self.look(task, ObjectId::NONE, op.site.0, world);
        } else if (op.access() == Access::Read || missed) && !got {
            self.look(task, op.object, op.site.0, world);
        } else {
            *world.looks_mut(task) = 0;
            if self.alert {
                self.changed(op.object, world);
                self.changed(op.second, world);
            }
        }
    }

    /// The next event is about to happen: the last store did change something.
    #[inline]
    pub(crate) fn settle(&mut self, world: &mut World) {
        if let Some(object) = self.unsettled.take() {
            self.changed(object, world);
        }
    }

    /// The last store, by `task`, left the object as it was: it counts as a look.
    pub(crate) fn unchanged(&mut self, task: TaskId, object: ObjectId, world: &mut World) {
        if self.active {
            self.unsettled = None;
            let last = world.task(task);
            let (looks, site) = (last.looks_before, last.changed_at());
            *world.looks_mut(task) = looks;
            self.look(task, object, site.0, world);
        }
    }

    /// An object has changed, or a task has made progress: who waits for it may look again.
    #[cold]
    fn changed(&mut self, object: ObjectId, world: &mut World) {
        self.stuck = false;
        let woken: Vec<TaskId> =
            self.parked.iter().filter(|task| self.states[task.index()].objects.contains(&object)).collect();
        for task in woken {
            self.parked.remove(task);
            *world.looks_mut(task) = 0;
        }
        self.alert = !self.parked.is_empty();
    }

    /// A task has looked at something without changing anything.
    fn look(&mut self, task: TaskId, object: ObjectId, site: u32, world: &mut World) {
        let version = if object.is_some() { world.object(object).version } else { 0 };
        let key = hash::mix(u64::from(site) << 32 | u64::from(object.0), u64::from(version));
        if self.states.len() <= task.index() {
            self.states.resize_with(task.index() + 1, State::default);
        }
        let (looks, state) = (world.looks_mut(task), &mut self.states[task.index()]);
        *looks += 1;
        if *looks > 1 {
            state.lap = hash::mix(state.lap, key);
            if object.is_some() && !state.objects.contains(&object) {
                if state.objects.len() == OBJECTS_MAX {
                    *looks = 0;
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
        if *looks > 1 && state.laps >= self.laps_max {
            state.laps = 0;
            state.watched.clone_from(&state.objects);
            self.parked.insert(task);
            self.used = true;
            self.alert = true;
        } else if looks.is_power_of_two() {
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
