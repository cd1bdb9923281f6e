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
    /// Which event.
    pub key: Key,
    /// What was done.
    pub kind: Kind,
    /// How it ended. Tasks are left out of it: their ids mean nothing in another run.
    pub outcome: String,
    /// The task in its outcome.
    pub task: Option<Vec<u32>>,
    /// For each node of the graph, whether it happened before this one.
    pub past: Vec<bool>,
}

/// A partial order. Equal graphs are equal partial orders.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Graph {
    /// Every event, in the order of keys, which is the same for all linearizations.
    pub nodes: Vec<Node>,
}

impl Graph {
    /// The partial order of a trace.
    pub fn of(trace: &Trace) -> Graph {
        let paths = paths(trace);
        let before = closure(trace);
        let mut order: Vec<usize> = (0..trace.events.len()).collect();
        let key = |i: usize| (&paths[trace.events[i].task.index()], trace.events[i].index);
        order.sort_by_key(|&i| key(i));
        let node = |&i: &usize| {
            let event = &trace.events[i];
            let (outcome, task) = match event.outcome {
                Outcome::Woke(task) => (String::from("Woke"), Some(task)),
                Outcome::Spawned(task) => (String::from("Spawned"), Some(task)),
                other => (format!("{other:?}"), None),
            };
            Node {
                key: (key(i).0.clone(), key(i).1),
                kind: event.op.kind,
                outcome,
                task: task.map(|task| paths[task.index()].clone()),
                past: order.iter().map(|&j| before[i][j]).collect(),
            }
        };
        Graph { nodes: order.iter().map(node).collect() }
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
