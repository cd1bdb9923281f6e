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

/// Objects in a lap; one that looks at more of them is not taken for spinning.
const OBJECTS_MAX: usize = 64;

/// What is known of a task that looks and looks. The number of its looks since its last change is
/// kept apart, in [`Spin::looks`]: that is all that a change has to touch.
#[derive(Default, Debug, Clone)]
struct State {
    anchor: u64,
    lap: u64,
    previous: u64,
    laps: u32,
    objects: Vec<ObjectId>,
}

/// A store or read-modify-write of which the front end may yet say that it changed nothing.
#[derive(Clone, Copy, Debug)]
struct Unsettled {
    task: TaskId,
    object: ObjectId,
    site: u32,
    looks: u32,
}

/// Who spins.
#[derive(Debug)]
pub(crate) struct Spin {
    active: bool,
    /// Somebody is parked or was stuck: changes must be looked at.
    alert: bool,
    looks: Vec<u32>,
    states: Vec<State>,
    parked: TaskSet,
    last: Unsettled,
    unsettled: bool,
    /// Whether only spinning tasks were left at some point and nothing has changed since.
    pub(crate) stuck: bool,
    /// Whether any task was ever parked in this run.
    pub(crate) used: bool,
}

impl Default for Spin {
    fn default() -> Spin {
        Spin {
            active: false,
            alert: false,
            looks: Vec::new(),
            states: Vec::new(),
            parked: TaskSet::EMPTY,
            last: Unsettled { task: TaskId::MAIN, object: ObjectId::NONE, site: 0, looks: 0 },
            unsettled: false,
            stuck: false,
            used: false,
        }
    }
}

impl Spin {
    pub(crate) fn begin(&mut self, active: bool) {
        self.active = active;
        self.alert = false;
        self.looks.clear();
        self.looks.push(0);
        self.parked.clear();
        self.unsettled = false;
        self.stuck = false;
        self.used = false;
    }

    /// A task was made.
    pub(crate) fn add_task(&mut self) {
        self.looks.push(0);
    }

    /// Tasks that are not to be picked while another can run.
    #[inline]
    pub(crate) fn parked(&self) -> &TaskSet {
        &self.parked
    }

    /// Only parked tasks are left: they run on.
    pub(crate) fn release_all(&mut self) {
        self.parked.clear();
        self.looks.fill(0);
        self.stuck = true;
        self.alert = true;
    }

    #[inline]
    pub(crate) fn event(&mut self, event: &Event, world: &World) {
        if !self.active {
            return;
        }
        let looks = &mut self.looks[event.task.index()];
        match event.op.kind {
            Kind::Store | Kind::Rmw => {
                let Event { task, op, .. } = *event;
                self.last = Unsettled { task, object: op.object, site: op.site.0, looks: *looks };
                *looks = 0;
                self.unsettled = self.alert;
            }
            Kind::Lock | Kind::Unlock if matches!(event.outcome, Outcome::Done) => {
                *looks = 0;
                if self.alert {
                    self.changed(event.op.object);
                }
            }
            _ => self.other_event(*event, world),
        }
    }

    fn other_event(&mut self, event: Event, world: &World) {
        let Event { task, op, outcome, .. } = event;
        let missed = matches!(outcome, Outcome::Failed | Outcome::TimedOut);
        // Taking or leaving something by a read is progress, as a write is.
        let got = matches!(op.kind, Kind::ReadLock | Kind::ReadUnlock | Kind::Leave | Kind::Join) && !missed;
        if matches!(op.kind, Kind::Yield | Kind::Sleep) {
            self.look(task, ObjectId::NONE, 0, op.site.0);
        } else if (op.access() == Access::Read || missed) && !got {
            self.look(task, op.object, world.object(op.object).version, op.site.0);
        } else {
            self.looks[task.index()] = 0;
            if self.alert {
                self.changed(op.object);
                self.changed(op.second);
            }
        }
    }

    /// The next event is about to happen: the last store did change something.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.unsettled {
            self.unsettled = false;
            self.changed(self.last.object);
        }
    }

    /// The last store changed nothing: it counts as a look.
    pub(crate) fn unchanged(&mut self, world: &World) {
        if self.active {
            self.unsettled = false;
            let Unsettled { task, object, site, looks } = self.last;
            self.looks[task.index()] = looks;
            self.look(task, object, world.object(object).version, site);
        }
    }

    /// An object has changed, or a task has made progress: who waits for it may look again.
    #[cold]
    fn changed(&mut self, object: ObjectId) {
        self.stuck = false;
        let woken: Vec<TaskId> =
            self.parked.iter().filter(|task| self.states[task.index()].objects.contains(&object)).collect();
        for task in woken {
            self.parked.remove(task);
            self.looks[task.index()] = 0;
        }
        self.alert = !self.parked.is_empty();
    }

    /// A task has looked at something without changing anything.
    fn look(&mut self, task: TaskId, object: ObjectId, version: u32, site: u32) {
        let key = hash::mix(u64::from(site) << 32 | u64::from(object.0), u64::from(version));
        if self.states.len() <= task.index() {
            self.states.resize_with(task.index() + 1, State::default);
        }
        let (looks, state) = (&mut self.looks[task.index()], &mut self.states[task.index()]);
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
        if *looks > 1 && state.laps >= LAPS {
            state.laps = 0;
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
