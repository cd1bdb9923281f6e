//! The last run of a search that a server has done. Successive runs have most of their steps in common; where the server
//! has a checkpoint on the way, only what comes after it is asked for, run and told. The rest is what it was in the run before.

use super::checkpoints::Checkpoints;
use super::hapsets::Calling;
use raddle_model::plan::{Step, Steps};
use raddle_model::{Plan, Tail, Trace};
use raddle_wire::report::{Called, Since};
use std::sync::Arc;

/// The last run, and what has come of checkpoints.
#[derive(Default, Debug)]
pub(super) struct Trail {
    /// Its conditions; none if nobody knows what it did.
    plan: Option<Plan>,
    /// The steps that it took.
    steps: Vec<Step>,
    /// What happened in it.
    pub(super) trace: Trace,
    /// Who called in it, if HaPSets are wanted.
    pub(super) calling: Calling,
    /// Where on its way there are checkpoints: scheduling points before each.
    checkpoints: Vec<u32>,
    /// Runs that went on from one, and events that they did not execute again.
    pub(super) hits: u64,
    pub(super) events: u64,
    /// Runs that were tried with others in one process, and those of them that needed one of their own.
    pub(super) tried: u64,
    pub(super) refused: u64,
}

/// A run that is asked for.
pub(super) struct Order {
    /// The checkpoint that it goes on from.
    pub(super) since: Option<u32>,
    /// What is asked for from there.
    pub(super) plan: Option<Plan>,
}

fn steps(plan: &Plan) -> Option<&Steps> {
    match &plan.tail {
        Tail::Steps(steps) => Some(steps),
        _ => None,
    }
}

/// Equal steps. To compare slices is slow where most are empty: it is a call, at an address that is none.
fn same(one: &Step, other: &Step) -> bool {
    one.task == other.task && one.choices.iter().eq(&other.choices)
}

/// Other steps under the same conditions. There are many steps, so they are not copied first.
fn under(plan: &Plan, steps: Steps) -> Plan {
    Plan {
        seed: plan.seed,
        prefix: plan.prefix.clone(),
        tail: Tail::Steps(steps),
        points: plan.points.clone(),
        ..*plan
    }
}

/// Whether two plans differ in their steps at most, and in what comes after them.
fn same_conditions(one: &Plan, other: &Plan) -> bool {
    let how = |plan: &Plan| (plan.time, plan.spin, plan.spurious_max, plan.steps_max);
    let search = |plan: &Plan| steps(plan).map(|steps| (steps.run_on, steps.timeouts_max));
    how(one) == how(other)
        && search(one) == search(other)
        && one.points == other.points
        && one.prefix == other.prefix
}

impl Trail {
    /// The server has these checkpoints.
    pub(super) fn know(&mut self, bytes: &[u8]) {
        let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        self.checkpoints = bytes.chunks_exact(4).map(number).collect();
    }

    /// It has none.
    pub(super) fn forget(&mut self) {
        self.checkpoints.clear();
    }

    /// What to ask for so that this plan is run.
    pub(super) fn order(&self, plan: &Plan, checkpoints: Checkpoints) -> Order {
        let whole = Order { since: None, plan: None };
        let (Some(last), Some(wanted)) = (&self.plan, steps(plan)) else { return whole };
        if self.checkpoints.is_empty() || checkpoints == Checkpoints::Off || !same_conditions(last, plan) {
            return whole;
        }
        let common =
            self.steps.iter().zip(wanted.steps.iter()).take_while(|(one, other)| same(one, other)).count();
        // After so many scheduling points the run is in the step of that number.
        let deepest = self.checkpoints.iter().copied().filter(|&points| (points as usize) < common).max();
        let Some(since) = deepest else { return whole };
        let rest = Steps {
            steps: Arc::new(wanted.steps[since as usize + 1..].to_vec()),
            sleep: wanted.sleep.clone(),
            ..*wanted
        };
        Order { since: Some(since), plan: Some(under(plan, rest)) }
    }

    /// A run has ended: `trace` is what happened in it, since the checkpoint that it went on from, and `called` who called.
    pub(super) fn learn(&mut self, plan: &Plan, mut trace: Trace, called: Called, since: Option<&Since>) {
        self.calling.learn(called, since);
        if let Some(since) = since {
            let (all, log) = (&mut self.trace, &mut trace.log);
            let events = since.events() as usize;
            self.hits += 1;
            self.events += since.events();
            splice(&mut all.events, events, &mut trace.events);
            splice(&mut all.log.picks, since.picks as usize, &mut log.picks);
            splice(&mut all.log.chosen, since.chosen as usize, &mut log.chosen);
            splice(&mut all.log.objects, since.objects as usize, &mut log.objects);
        }
        self.trace = trace;
        self.take_steps(since.map_or(0, |since| since.picks as usize));
        // Without a trace nobody knows what the run did.
        let known = !self.trace.names.is_empty();
        self.plan = steps(plan)
            .filter(|_| known)
            .map(|steps| under(plan, Steps { steps: Arc::default(), sleep: Vec::new(), ..*steps }));
    }

    /// The steps of the run; those before `first` are known.
    fn take_steps(&mut self, first: usize) {
        let (steps, Trace { events, names, log, .. }) = (&mut self.steps, &self.trace);
        steps.truncate(first + 1);
        steps.resize_with(first + 1, Step::default);
        steps[first].choices.clear();
        for picked in &log.picks[first..] {
            if let Some(event) = events.get(picked.event as usize) {
                steps.push(Step { task: names[event.task.index()], choices: Vec::new() });
            }
        }
        let from = log.chosen.partition_point(|choice| (choice.pick as usize) < first);
        for choice in &log.chosen[from..] {
            if let Some(step) = steps.get_mut(choice.pick as usize) {
                step.choices.push(choice.value);
            }
        }
    }
}

/// Puts what came before into what came after, in the memory of the former.
fn splice<T>(before: &mut Vec<T>, length: usize, after: &mut Vec<T>) {
    before.truncate(length);
    before.append(after);
    std::mem::swap(before, after);
}
