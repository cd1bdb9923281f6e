//! How control moved from task to task: who went on, who had to stop, who was preempted.

use crate::state::State;
use raddle_model::{Event, Op, TaskId, Trace};

/// How an event's task came to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// It ran before, too.
    Stay,
    /// The one before had to wait, had ended, or offered the processor.
    Switch,
    /// The one before could have gone on.
    Preemption,
}

/// One entry for each event.
pub(crate) fn moves(trace: &Trace) -> Vec<Move> {
    let next = next_ops(trace);
    let mut state = State::default();
    let mut moves = Vec::with_capacity(trace.events.len());
    let mut before: Option<(usize, &Event)> = None;
    for (step, event) in trace.events.iter().enumerate() {
        let kind = match before {
            Some((at, last)) if last.task != event.task => leaving(&state, last.task, next[at].as_ref()),
            _ => Move::Stay,
        };
        moves.push(kind);
        state.event(event);
        before = Some((step, event));
    }
    moves
}

/// How often a task that could have gone on was left.
pub fn preemptions(trace: &Trace) -> usize {
    moves(trace).iter().filter(|how| **how == Move::Preemption).count()
}

/// A preemption is a switch away from a task that could go on and does not offer the processor.
fn leaving(state: &State, task: TaskId, next: Option<&Op>) -> Move {
    match next {
        Some(op) if !op.offers_processor() && !state.blocks(task, op) => Move::Preemption,
        _ => Move::Switch,
    }
}

/// For each event what its task was about to do after it.
fn next_ops(trace: &Trace) -> Vec<Option<Op>> {
    let tasks = trace.events.iter().map(|event| event.task.index() + 1).max();
    let mut upcoming: Vec<Option<Op>> = vec![None; tasks.unwrap_or(0)];
    for (task, op) in &trace.pending {
        if let Some(entry) = upcoming.get_mut(task.index()) {
            *entry = Some(*op);
        }
    }
    let mut next = vec![None; trace.events.len()];
    for (step, event) in trace.events.iter().enumerate().rev() {
        next[step] = upcoming[event.task.index()].replace(event.op);
    }
    next
}
