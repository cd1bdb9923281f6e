//! What if? Steps of a run, some of them left out, are done in a world of their own, to see whether
//! something could be done then. The world is the one of the engine, so waiting means the same here.

use crate::path::Stop;
use raddle_model::objects::State;
use raddle_model::{Kind, Mode, ObjectId, Op, Outcome, SiteId, TaskId, Trace, World};

/// A world to try things in.
#[derive(Clone, Default, Debug)]
pub(crate) struct Hypothesis {
    world: World,
    /// The id of each object in it.
    ids: Vec<Option<ObjectId>>,
}

impl Hypothesis {
    /// Whether `task` could do `op` after these steps of a run.
    pub(crate) fn enabled_after<'a>(
        &mut self,
        spurious_max: u32,
        trace: &Trace,
        steps: impl Iterator<Item = &'a Stop>,
        task: TaskId,
        op: &Op,
    ) -> bool {
        self.world.begin(spurious_max);
        // Who made whom does not matter here, and all may be there from the start.
        for _ in 1..trace.names.len() {
            self.world.announce(TaskId::MAIN, Op::new(Kind::Spawn, ObjectId::NONE, SiteId::UNKNOWN));
            self.world.step(TaskId::MAIN, 0);
        }
        self.ids.clear();
        self.ids.resize(trace.log.objects.len(), None);
        for stop in steps {
            if !stop.op.object.is_some() {
                continue;
            }
            let op = self.translated(&stop.op, trace);
            let pick = self.pick(&op, stop.outcome);
            self.world.announce(stop.task, op);
            self.world.step(stop.task, pick);
            if stop.closed {
                self.world.announce(stop.task, Op { kind: Kind::Unlock, ..op });
                self.world.step(stop.task, 0);
            }
        }
        let op = self.translated(op, trace);
        self.world.enabled(task, &op)
    }

    fn translated(&mut self, op: &Op, trace: &Trace) -> Op {
        Op { object: self.object(op.object, trace), second: self.object(op.second, trace), ..*op }
    }

    fn object(&mut self, object: ObjectId, trace: &Trace) -> ObjectId {
        if !object.is_some() {
            return object;
        }
        let world = &mut self.world;
        let first = &trace.log.objects[object.index()];
        *self.ids[object.index()].get_or_insert_with(|| match first {
            State::Task { task, .. } => world.task(*task).object,
            other => world.create(other.clone(), SiteId::UNKNOWN),
        })
    }

    /// Which waiter a notification woke.
    fn pick(&self, op: &Op, outcome: Outcome) -> u32 {
        match (outcome, &self.world.object(op.object).state) {
            (Outcome::Woke(task), State::Condvar(condvar)) => {
                let at = condvar.waiters.iter().position(|&waiter| waiter == task);
                at.expect("raddle bug: a notification woke one that does not wait") as u32
            }
            _ => 0,
        }
    }
}

/// Whether an object is a mutex that is taken at most once.
pub(crate) fn is_plain_mutex(trace: &Trace, object: ObjectId) -> bool {
    matches!(trace.log.objects.get(object.index()), Some(State::Mutex(mutex)) if !mutex.recursive)
}

/// Whether an operation may have to wait.
#[inline]
pub(crate) fn is_needed(op: &Op) -> bool {
    let waits = match op.kind {
        Kind::Join
        | Kind::Park
        | Kind::Lock
        | Kind::ReadLock
        | Kind::WriteLock
        | Kind::Acquire
        | Kind::Leave
        | Kind::OnceGet
        | Kind::OnceEnter
        | Kind::Send
        | Kind::Handover
        | Kind::Recv => op.mode == Mode::Block,
        Kind::Wake => true,
        _ => false,
    };
    waits && op.object.is_some()
}
