//! Which events are shown. A short run is shown whole; of a long one the end, the last events of
//! the tasks involved, where what is still held was taken, and as many preemptions as fit. An operation of several
//! events is shown as its first one.

use crate::moves::Move;
use crate::state::State;
use crate::story::Story;
use crate::whole;
use raddle_model::{ObjectId, Op, Outcome, TaskId};
use std::collections::BTreeSet;

/// Last events of all tasks that are always shown.
const LAST: usize = 20;
/// Last events of each task involved.
const LAST_OF_TASK: usize = 5;
/// Tasks involved beyond which their events are not followed one by one.
const INVOLVED_MAX: usize = 6;

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Row {
    /// The event with this index.
    Event(usize),
    /// What is left out: the first event, the first one after it, and how many operations it is.
    Gap(usize, usize, usize),
    /// What a task was about to do when the run ended.
    Stuck(TaskId, Op),
    /// A task stopped in the middle of its own code.
    Fell(TaskId),
}

/// The rows of a story.
pub(super) fn choose(story: &Story, moves: &[Move], rows_max: usize) -> Vec<Row> {
    let first = whole::first_events(&story.trace.events);
    let steps: Vec<usize> = (0..first.len()).filter(|&step| first[step] == step).collect();
    let mut rows = if steps.len() <= rows_max {
        steps.into_iter().map(Row::Event).collect()
    } else {
        with_gaps(&keep(story, moves, rows_max, &first, &steps), &steps, first.len())
    };
    rows.extend(last(story));
    rows
}

/// Objects that appear in rows.
pub(super) fn objects(story: &Story, rows: &[Row]) -> BTreeSet<ObjectId> {
    let ops = rows.iter().filter_map(|row| match row {
        Row::Event(step) => Some(story.trace.events[*step].op),
        Row::Stuck(_, op) => Some(*op),
        Row::Gap(..) | Row::Fell(_) => None,
    });
    ops.flat_map(|op| [op.object, op.second]).collect()
}

/// Events worth showing, the most telling first, until there are enough. `first` says which event each is part of, and
/// `steps` are those.
fn keep(story: &Story, moves: &[Move], rows_max: usize, first: &[usize], steps: &[usize]) -> BTreeSet<usize> {
    let events = &story.trace.events;
    let count = events.len();
    let mut kept: BTreeSet<usize> = steps.iter().rev().take(LAST.min(rows_max)).copied().collect();
    let involved: Vec<TaskId> = story.failure.tasks.iter().copied().take(INVOLVED_MAX).collect();
    let state = State::after(events);
    let of = |task: TaskId| steps.iter().rev().copied().filter(move |&step| events[step].task == task);
    let last_of_each = involved.iter().flat_map(|&task| of(task).take(LAST_OF_TASK));
    let held = state.held().iter().filter(|held| involved.contains(&held.task));
    let blamed = story.failure.sites.iter().take(INVOLVED_MAX);
    let blamed = blamed.filter_map(|&site| events.iter().rposition(|event| event.op.site == site));
    let made = (0..count).filter(|&step| match events[step].outcome {
        Outcome::Spawned(task) => involved.contains(&task),
        _ => false,
    });
    let preempted = (1..count).rev().filter(|&step| moves[step] == Move::Preemption);
    let telling = blamed.chain(last_of_each).chain(held.map(|held| held.step)).chain(made).chain(preempted);
    for step in telling {
        // A gap takes a row as well.
        if with_gaps(&kept, steps, count).len() >= rows_max {
            break;
        }
        kept.insert(first[step]);
    }
    kept
}

fn with_gaps(kept: &BTreeSet<usize>, steps: &[usize], count: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut left_out: Vec<usize> = Vec::new();
    for step in steps.iter().copied().chain([count]) {
        if step < count && !kept.contains(&step) {
            left_out.push(step);
            continue;
        }
        match left_out[..] {
            [] => {}
            // A gap would take as much room as the event.
            [alone] => rows.push(Row::Event(alone)),
            [start, ..] => rows.push(Row::Gap(start, step, left_out.len())),
        }
        left_out.clear();
        if step < count {
            rows.push(Row::Event(step));
        }
    }
    rows
}

/// How the run ended, for the tasks involved.
fn last(story: &Story) -> Vec<Row> {
    let inside = super::stopped_inside(story.failure.kind);
    let state = State::after(&story.trace.events);
    let tasks = story.failure.tasks.iter().take(INVOLVED_MAX);
    tasks
        .filter_map(|&task| {
            let pending = story.trace.pending.iter().find(|(who, _)| *who == task);
            match pending {
                _ if inside => Some(Row::Fell(task)),
                Some(&(_, op)) if state.blocks(task, &op) => Some(Row::Stuck(task, op)),
                _ => None,
            }
        })
        .collect()
}
