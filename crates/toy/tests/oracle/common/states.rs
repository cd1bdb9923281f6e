//! States of a program reached by a script of decisions, written down so that two runs can be
//! compared: tasks by their body, objects by what they are, never by dense id.

use raddle_model::objects::once::Once;
use raddle_model::objects::{Object, State};
use raddle_model::{
    Choice, Decision, Divergence, ObjectId, Op, Outcome, Pick, Plan, Policy, TaskId, Trace, Verdict, View,
    World,
};
use raddle_toy::{Machine, Program, ToyRun};
use std::collections::BTreeMap;

/// A policy that follows a script, every pick and every choice in it, and cuts the run at its end.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) script: Vec<Decision>,
    position: usize,
    /// What the script does not say: the arity of the first choice after its end.
    pub(crate) unanswered: Option<u32>,
    /// Who is enabled where the script ends, with what it is about to do.
    pub(crate) able: Vec<(TaskId, Op)>,
    /// Where the run cannot follow the script.
    pub(crate) stray: Option<String>,
}

impl Policy for Script {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        match self.script.get(self.position) {
            Some(&Decision::Run(task)) if view.enabled.contains(task) => {
                self.position += 1;
                Pick::Run(task)
            }
            None => {
                self.able = view.enabled.iter().map(|task| (task, *view.op(task))).collect();
                Pick::Cut
            }
            Some(other) => {
                self.stray = Some(format!("{other:?} cannot be followed, enabled {:?}", view.enabled));
                Pick::Cut
            }
        }
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        match self.script.get(self.position) {
            Some(&Decision::Choose(value)) if value < choice.arity => {
                self.position += 1;
                Ok(value)
            }
            None => {
                self.unanswered.get_or_insert(choice.arity);
                Ok(0)
            }
            Some(other) => {
                self.stray = Some(format!("{other:?} cannot be followed by {choice:?}"));
                Ok(0)
            }
        }
    }

    fn restart(&mut self, _: u64) {}
}

/// A state, and how it was reached.
pub(crate) struct Reached {
    /// Everything that matters for what comes next, as text.
    pub(crate) state: String,
    /// What each task has done, by body: kinds and outcomes.
    pub(crate) done: String,
    pub(crate) policy: Script,
    pub(crate) verdict: Verdict,
    pub(crate) trace: Trace,
    /// The object that stands for each task.
    pub(crate) task_objects: Vec<ObjectId>,
}

/// Follows a script, and writes down the state where it ends.
pub(crate) fn follow(program: &Program, plan: &Plan, script: &[Decision]) -> Reached {
    reach(program, plan, script, true)
}

/// Follows a script; the state is written down only if that is asked for, since it costs more than
/// all the rest.
pub(crate) fn reach(program: &Program, plan: &Plan, script: &[Decision], written: bool) -> Reached {
    let mut machine = Machine::new(program, Script { script: script.to_vec(), ..Script::default() });
    let run = machine.run(plan);
    let (mut state, mut done) = (String::new(), String::new());
    if written {
        let names = Names::of(&mut machine);
        (state, done) = (names.state(&mut machine, &run), names.done(&run));
    }
    Reached {
        state,
        done,
        policy: core::mem::take(machine.engine().policy_mut()),
        verdict: run.verdict,
        trace: run.trace,
        task_objects: machine.engine().world().tasks().iter().map(|task| task.object).collect(),
    }
}

/// Names that mean the same in all runs.
struct Names {
    /// The body of each task.
    bodies: Vec<usize>,
    /// The canonical number of each object.
    objects: Vec<ObjectId>,
}

impl Names {
    fn of(machine: &mut Machine<'_, Script>) -> Names {
        let bodies: Vec<usize> = machine.tasks().iter().map(|task| task.body).collect();
        let world = machine.engine().world();
        // Objects that exist from the start have the same number in every run; those that stand
        // for tasks come later, in the order of spawns, and take the number of their body.
        let name = |(number, object): (usize, &Object)| match object.state {
            State::Task { task, .. } => ObjectId(1_000 + bodies[task.index()] as u32),
            _ => ObjectId(number as u32),
        };
        let objects = world.objects().iter().enumerate().map(name).collect();
        Names { bodies, objects }
    }

    fn task(&self, task: TaskId) -> TaskId {
        TaskId(self.bodies[task.index()] as u32)
    }

    fn object(&self, object: ObjectId) -> ObjectId {
        if object.is_some() { self.objects[object.index()] } else { object }
    }

    fn op(&self, op: &Op) -> Op {
        Op { object: self.object(op.object), second: self.object(op.second), ..*op }
    }

    fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Woke(task) => Outcome::Woke(self.task(task)),
            Outcome::Spawned(task) => Outcome::Spawned(self.task(task)),
            other => other,
        }
    }

    fn world_state(&self, state: &State) -> State {
        let mut state = state.clone();
        match &mut state {
            State::Task { task, .. } | State::Once(Once::Running(task)) => *task = self.task(*task),
            State::Mutex(mutex) => mutex.owner = mutex.owner.map(|task| self.task(task)),
            State::Condvar(condvar) => condvar.waiters.iter_mut().for_each(|task| *task = self.task(*task)),
            State::RwLock(lock) => {
                lock.writer = lock.writer.map(|task| self.task(task));
                lock.readers.iter_mut().for_each(|task| *task = self.task(*task));
                lock.readers.sort();
            }
            _ => {}
        }
        state
    }

    /// Everything: tasks with their registers and pending operations, objects, memory, clocks.
    fn state(&self, machine: &mut Machine<'_, Script>, run: &ToyRun) -> String {
        let mut parts = vec![format!("{:?} {:?}", run.finals, self.members(machine.engine().world()))];
        let mut tasks = BTreeMap::new();
        for (id, toy) in machine.tasks().to_vec().into_iter().enumerate() {
            let id = TaskId(id as u32);
            // Reading a clock lets a nanosecond pass, which matters to nobody once the run is over.
            let clock = machine.engine().now(id);
            let task = machine.engine().world().task(id);
            let op = (task.life == raddle_model::world::Life::Pending).then(|| self.op(&task.op));
            let engine = (task.life, op, task.name, task.spawn_index, task.children, task.events);
            let rest = (task.woken, task.spurious_left, toy.at, toy.second, toy.registers);
            tasks.insert(toy.body, format!("{engine:?} {rest:?} at {clock}"));
        }
        parts.push(format!("{tasks:?}"));
        let mut objects = BTreeMap::new();
        for (id, object) in machine.engine().world().objects().iter().enumerate() {
            let waiting = [&object.waiting, &object.waiting_other].map(|set| self.set(set.iter()));
            let text = format!("{:?} {waiting:?} {}", self.world_state(&object.state), object.version);
            objects.insert(self.objects[id], text);
        }
        parts.push(format!("{objects:?}"));
        parts.join("\n")
    }

    fn set(&self, tasks: impl Iterator<Item = TaskId>) -> Vec<TaskId> {
        let mut tasks: Vec<TaskId> = tasks.map(|task| self.task(task)).collect();
        tasks.sort();
        tasks
    }

    fn members(&self, world: &World) -> [Vec<TaskId>; 2] {
        [self.set(world.live()), self.set(world.enabled_tasks().iter())]
    }

    fn done(&self, run: &ToyRun) -> String {
        let mut done: BTreeMap<TaskId, Vec<_>> = BTreeMap::new();
        for event in &run.trace.events {
            let what = (self.op(&event.op), self.outcome(event.outcome));
            done.entry(self.task(event.task)).or_default().push(what);
        }
        format!("{done:?}")
    }
}
