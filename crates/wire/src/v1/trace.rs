//! Traces of version 1. A run repeats few distinct operations many times, so they are written
//! once each and events refer to them; an event's index within its task is counted, not stored.

use super::Misfit;
use super::op::{Op, Outcome};
use super::plan::Schedule;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use raddle_model::TaskId;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Trace {
    /// Distinct operations in the order in which they first appear.
    ops: Vec<Op>,
    /// Task, operation, outcome.
    events: Vec<(u32, u32, Outcome)>,
    /// Task, operation.
    pending: Vec<(u32, u32)>,
    /// Stable name, and the parent's number.
    tasks: Vec<([u8; 8], Option<u32>)>,
    /// None if it is the plan's prefix.
    schedule: Option<Schedule>,
}

#[derive(Default)]
struct Ops {
    all: Vec<Op>,
    numbers: BTreeMap<Op, u32>,
}

impl Ops {
    fn number(&mut self, op: &raddle_model::Op) -> u32 {
        let op = Op::from(op);
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(op).or_insert(next);
        if number == next {
            self.all.push(op);
        }
        number
    }
}

impl Trace {
    pub(crate) fn new(trace: &raddle_model::Trace, prefix: &raddle_model::Schedule) -> Trace {
        let mut ops = Ops::default();
        let events = trace
            .events
            .iter()
            .map(|event| {
                let op = ops.number(&event.op);
                (event.task.0, op, event.outcome.into())
            })
            .collect();
        let pending = trace.pending.iter().map(|(task, op)| (task.0, ops.number(op))).collect();
        let parents = trace.parents.iter().map(|parent| parent.map(|task| task.0));
        let names = trace.names.iter().map(|name| name.to_le_bytes());
        Trace {
            ops: ops.all,
            events,
            pending,
            tasks: names.zip(parents).collect(),
            schedule: (trace.schedule != *prefix).then(|| (&trace.schedule).into()),
        }
    }

    /// Everything that indexes something is checked here: whoever reads a trace may rely on it.
    pub(crate) fn into_model(self, prefix: &raddle_model::Schedule) -> Result<raddle_model::Trace, Misfit> {
        let count = self.tasks.len() as u32;
        let task = |number: u32| {
            let known = number < count;
            known.then_some(TaskId(number)).ok_or(Misfit("it names a task that the run did not have"))
        };
        let op = |number: u32| {
            let op = self.ops.get(number as usize).copied();
            op.map(raddle_model::Op::from).ok_or(Misfit("it names an operation that is not there"))
        };
        let mut indexes = alloc::vec![0u32; self.tasks.len()];
        let mut events = Vec::new();
        for &(number, op_number, outcome) in &self.events {
            let task_id = task(number)?;
            if let Outcome::Woke(other) | Outcome::Spawned(other) = outcome {
                task(other)?;
            }
            let next = &mut indexes[task_id.index()];
            events.push(raddle_model::Event {
                task: task_id,
                index: *next,
                op: op(op_number)?,
                outcome: outcome.into(),
            });
            *next += 1;
        }
        let pending = self.pending.iter();
        let pending = pending.map(|&(who, what)| Ok((task(who)?, op(what)?)));
        let pending = pending.collect::<Result<_, Misfit>>()?;
        let mut parents = Vec::new();
        for (child, &(_, parent)) in self.tasks.iter().enumerate() {
            if parent.is_some_and(|parent| parent as usize >= child) {
                return Err(Misfit("a task is older than the one that made it"));
            }
            parents.push(parent.map(TaskId));
        }
        let schedule = match self.schedule {
            Some(schedule) => schedule.try_into()?,
            None => prefix.clone(),
        };
        Ok(raddle_model::Trace {
            events,
            pending,
            names: self.tasks.iter().map(|&(name, _)| u64::from_le_bytes(name)).collect(),
            parents,
            schedule,
            log: raddle_model::trace::Log::default(),
        })
    }
}
