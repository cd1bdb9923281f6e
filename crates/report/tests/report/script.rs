//! Hand-made runs: a script of operations, carried out by the model's own world.

use raddle_model::objects::State;
use raddle_model::world::Life;
use raddle_model::{Event, Failure, FailureKind, Kind, ObjectId, Op, Outcome, SiteId, TaskId, Trace, World};
use raddle_report::{ObjectInfo, Place, Story};
use std::collections::BTreeMap;

/// A run in the making. Sites are numbered by line; lines from 1,000 on are in another file.
pub(crate) struct Script {
    world: World,
    events: Vec<Event>,
    places: BTreeMap<SiteId, Place>,
    names: BTreeMap<TaskId, &'static str>,
}

impl Script {
    pub(crate) fn new() -> Script {
        let mut world = World::default();
        world.begin(0);
        Script { world, events: Vec::new(), places: BTreeMap::new(), names: BTreeMap::new() }
    }

    pub(crate) fn site(&mut self, line: u32) -> SiteId {
        let (file, function) = if line < 1_000 {
            ("src/bank.rs", "bank::transfer")
        } else {
            ("src/store/queue.rs", "store::queue::push")
        };
        let place = Place { file: file.into(), line: line % 1_000, column: 9, function: function.into() };
        self.places.insert(SiteId(line), place);
        SiteId(line)
    }

    pub(crate) fn object(&mut self, state: State, line: u32) -> ObjectId {
        let site = self.site(line);
        self.world.create(state, site)
    }

    pub(crate) fn name(&mut self, task: TaskId, name: &'static str) {
        self.names.insert(task, name);
    }

    /// The object that stands for a task.
    pub(crate) fn task(&self, task: TaskId) -> ObjectId {
        self.world.task(task).object
    }

    /// What a task parks on.
    pub(crate) fn token(&mut self, task: TaskId) -> ObjectId {
        self.world.token(task)
    }

    /// A task makes another.
    pub(crate) fn spawn(&mut self, by: TaskId, line: u32) -> TaskId {
        match self.go(by, Kind::Spawn, ObjectId::NONE, line) {
            Outcome::Spawned(task) => task,
            other => panic!("{other:?}"),
        }
    }

    /// A task does something.
    pub(crate) fn go(&mut self, by: TaskId, kind: Kind, object: ObjectId, line: u32) -> Outcome {
        let site = self.site(line);
        self.op(by, Op::new(kind, object, site))
    }

    /// The same for any operation; its site must be known.
    pub(crate) fn op(&mut self, by: TaskId, op: Op) -> Outcome {
        self.picking(by, op, 0)
    }

    /// The same with the value that was chosen.
    pub(crate) fn picking(&mut self, by: TaskId, op: Op, pick: u32) -> Outcome {
        assert!(self.world.announce(by, op), "{by:?} cannot {op:?}");
        let index = self.world.task(by).events;
        let outcome = self.world.step(by, pick);
        self.events.push(Event { task: by, index, op, outcome });
        outcome
    }

    /// A task is about to do something when the run ends.
    pub(crate) fn about(&mut self, by: TaskId, kind: Kind, object: ObjectId, line: u32) {
        let site = self.site(line);
        self.world.announce(by, Op::new(kind, object, site));
    }

    /// The same for any operation.
    pub(crate) fn about_op(&mut self, by: TaskId, op: Op) {
        self.world.announce(by, op);
    }

    /// The story of a run that failed so.
    pub(crate) fn fails(
        mut self,
        kind: FailureKind,
        message: &str,
        tasks: &[TaskId],
        lines: &[u32],
    ) -> Story {
        let sites = lines.iter().map(|line| self.site(*line)).collect();
        let world = &self.world;
        let ids = (0..world.tasks().len() as u32).map(TaskId);
        let label = |task: TaskId| match self.names.get(&task) {
            Some(name) => format!("{} {name}", world.path(task)),
            None => world.path(task),
        };
        let objects = world.objects().iter().zip(0..);
        Story {
            failure: Failure { kind, message: message.into(), tasks: tasks.to_vec(), sites },
            trace: Trace {
                pending: world
                    .live()
                    .filter(|task| world.task(*task).life == Life::Pending)
                    .map(|task| (task, world.task(task).op))
                    .collect(),
                names: world.tasks().iter().map(|task| task.name).collect(),
                parents: world.tasks().iter().map(|task| task.parent).collect(),
                events: self.events,
                schedule: Default::default(),
                log: Default::default(),
            },
            tasks: ids.map(label).collect(),
            objects: objects
                .map(|(object, id)| ObjectInfo {
                    id: ObjectId(id),
                    noun: object.state.noun().into(),
                    name: None,
                    site: object.site,
                })
                .collect(),
            places: self.places,
            strategy: "random".into(),
            seed: 0,
            run: 17,
        }
    }
}
