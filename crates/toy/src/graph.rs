//! The partial order of a run as a plain graph: program order, spawns, and every pair of events
//! that [`Op::conflicts`](raddle_model::Op::conflicts) puts into the order of the trace, all of it
//! closed transitively. Slow and simple, and written without a look at the fingerprint, which is
//! judged by it.

use raddle_model::{Kind, Outcome, TaskId, Trace};
use std::collections::BTreeMap;

/// An event across runs: the path of spawn indexes of its task, and its index within the task.
pub type Key = (Vec<u32>, u32);

/// What an event is, and what came before it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node {
    /// What was done.
    pub kind: Kind,
    /// How it ended; tasks are left out of it.
    pub outcome: String,
    /// The task in its outcome.
    pub task: Option<Vec<u32>>,
    /// All events that happened before it, in order.
    pub past: Vec<Key>,
}

/// A partial order. Equal graphs are equal partial orders.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Graph {
    /// Every event.
    pub events: BTreeMap<Key, Node>,
}

impl Graph {
    /// The partial order of a trace.
    pub fn of(trace: &Trace) -> Graph {
        let paths = paths(trace);
        let key = |i: usize| {
            let event = &trace.events[i];
            (paths[event.task.index()].clone(), event.index)
        };
        let before = closure(trace);
        let node = |(i, event): (usize, &raddle_model::Event)| {
            let (outcome, task) = match event.outcome {
                Outcome::Woke(task) => (String::from("Woke"), Some(task)),
                Outcome::Spawned(task) => (String::from("Spawned"), Some(task)),
                other => (format!("{other:?}"), None),
            };
            let mut past: Vec<Key> = (0..i).filter(|&j| before[i][j]).map(key).collect();
            past.sort();
            let node = Node {
                kind: event.op.kind,
                outcome,
                task: task.map(|task| paths[task.index()].clone()),
                past,
            };
            (key(i), node)
        };
        Graph { events: trace.events.iter().enumerate().map(node).collect() }
    }
}

/// For each task the path of spawn indexes from main, counted off the trace.
fn paths(trace: &Trace) -> Vec<Vec<u32>> {
    let mut paths: Vec<Vec<u32>> = vec![Vec::new()];
    let mut children: BTreeMap<TaskId, u32> = BTreeMap::new();
    for event in &trace.events {
        if let Outcome::Spawned(child) = event.outcome {
            assert_eq!(child.index(), paths.len(), "tasks are numbered in order");
            let nth = children.entry(event.task).or_default();
            let mut path = paths[event.task.index()].clone();
            path.push(*nth);
            *nth += 1;
            paths.push(path);
        }
    }
    paths
}

/// `closure[i][j]`: event `j` happened before event `i`.
fn closure(trace: &Trace) -> Vec<Vec<bool>> {
    let events = &trace.events;
    let mut before = vec![vec![false; events.len()]; events.len()];
    for i in 0..events.len() {
        for j in (0..i).rev() {
            // What is already known to lie in the past adds nothing.
            if before[i][j] {
                continue;
            }
            let (earlier, later) = (&events[j], &events[i]);
            let spawned = earlier.outcome == Outcome::Spawned(later.task);
            if earlier.task == later.task || spawned || earlier.op.conflicts(&later.op) {
                before[i][j] = true;
                let (past, rest) = before.split_at_mut(i);
                for (known, new) in rest[0].iter_mut().zip(&past[j]) {
                    *known |= new;
                }
            }
        }
    }
    before
}
