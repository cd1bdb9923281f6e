//! `wishes`: the quiet tail that a schedule minimizer edits. The task that ran last goes on as in
//! `stay`, except where the plan wishes for another: at a place that is named by a task and how much it
//! has done, so that taking one wish away leaves the meaning of the others as it was. A wish that
//! cannot be fulfilled is passed over: this is no replay, and no divergence.
//!
//! [`of_trace`] gives the wishes that repeat a recorded run.

use crate::stay::stay;
use alloc::boxed::Box;
use alloc::vec::Vec;
use raddle_model::plan::{Switch, Wishes};
use raddle_model::{Choice, Decision, Divergence, Op, Pick, PointSet, Policy, TaskId, Trace, View};

/// Stays, with exceptions.
#[derive(Clone, Debug)]
pub struct Wishful {
    wishes: Wishes,
    choices: usize,
}

impl Wishful {
    /// Follows `wishes` where it can.
    pub fn new(wishes: Wishes) -> Wishful {
        Wishful { wishes, choices: 0 }
    }

    fn wish(&self, view: &View<'_>) -> Option<TaskId> {
        let place = match view.current {
            Some(current) => {
                let current = view.world.task(current);
                (current.name, current.events)
            }
            None => (0, 0),
        };
        let switches = &self.wishes.switches;
        let at = switches.binary_search_by_key(&place, |switch| (switch.from, switch.events)).ok()?;
        view.enabled.iter().find(|&task| view.world.task(task).name == switches[at].to)
    }
}

impl Policy for Wishful {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        Pick::Run(self.wish(view).unwrap_or_else(|| stay(view)))
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        let value = self.wishes.choices.get(self.choices).copied();
        self.choices += 1;
        Ok(value.filter(|&value| value < choice.arity).unwrap_or(0))
    }

    fn restart(&mut self, _: u64) {
        self.choices = 0;
    }

    fn can_reseed(&self) -> bool {
        self.choices == 0
    }

    /// There is no seed.
    fn reseed(&mut self, _: u64) {}
}

/// A pick of a recorded run: after whom, where, and who it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Picked {
    /// The place and the pick, as a wish for it would say it.
    pub switch: Switch,
    /// Whether the same task went on.
    pub went_on: bool,
    /// What the picked task did.
    pub op: Op,
}

/// The picks of a run under these points.
pub fn picks(trace: &Trace, points: &PointSet) -> Vec<Picked> {
    let mut events = alloc::vec![0; trace.names.len()];
    let mut current: Option<TaskId> = None;
    let mut picks = Vec::new();
    for event in &trace.events {
        if points.contains(&event.op) {
            let (from, done) = match current {
                Some(task) => (trace.names[task.index()], events[task.index()]),
                None => (0, 0),
            };
            picks.push(Picked {
                switch: Switch { from, events: done, to: trace.names[event.task.index()] },
                went_on: current == Some(event.task),
                op: event.op,
            });
            current = Some(event.task);
        }
        events[event.task.index()] = event.index + 1;
    }
    picks
}

/// The wishes that repeat a run: every switch, and where a task that offered the processor went on
/// nevertheless.
pub fn of_trace(trace: &Trace, points: &PointSet) -> Wishes {
    let picks = picks(trace, points).into_iter();
    let mut switches: Vec<Switch> = picks
        .filter(|picked| !picked.went_on || picked.op.offers_processor())
        .map(|picked| picked.switch)
        .collect();
    switches.sort_unstable();
    let choices = trace.schedule.decisions.iter().filter_map(|decision| match decision {
        Decision::Choose(value) => Some(*value),
        Decision::Run(_) => None,
    });
    Wishes { switches, choices: choices.collect() }
}
