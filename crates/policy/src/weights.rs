//! Learns what [`crate::walks`] goes by: which accesses of a recorded run were contended.

use alloc::vec::Vec;
use raddle_model::plan::{Contended, TaskWeight, Weights};
use raddle_model::{Access, Kind, ObjectId, Op, PointSet, TaskId, Trace};

/// At most this many accesses of one task are kept: a plan is data that travels.
const ACCESSES_MAX: usize = 1 << 14;

struct Found {
    task: TaskId,
    index: u32,
    op: Op,
}

/// The contended accesses of a run under these points: those to objects that at least two tasks
/// access, one of them writing. A condition variable and its mutex count as one object. What the
/// tasks were about to do when the run ended counts as done: in a deadlock it matters most.
///
/// Where tasks wait for notifications, how often each gets at the object depends on who came when: what a task has left
/// there in one run says nothing of the next. So of such an object only the first access of each task is
/// kept: they wait for each other once, and from then on all who stand there are drawn alike.
pub fn learn(trace: &Trace, points: &PointSet) -> Weights {
    let mut length = 0;
    let mut done = alloc::vec![0; trace.names.len()];
    let mut found = Vec::new();
    for event in &trace.events {
        done[event.task.index()] = event.index + 1;
        if points.contains(&event.op) {
            length += 1;
            push(&mut found, event.task, event.index, event.op);
        }
    }
    for &(task, op) in &trace.pending {
        push(&mut found, task, done[task.index()], op);
    }
    let mut objects = Objects::default();
    for Found { op, .. } in &found {
        objects.join(op.object, op.second);
    }
    for Found { task, op, .. } in &found {
        objects.access(op.object, *task, op.access() == Access::Write);
    }
    let mut tasks: Vec<TaskWeight> =
        trace.names.iter().map(|&name| TaskWeight { name, accesses: Vec::new() }).collect();
    // For each task the objects with waiting that it has been at.
    let mut met: Vec<Vec<u32>> = alloc::vec![Vec::new(); tasks.len()];
    for Found { task, index, op } in &found {
        let accesses = &mut tasks[task.index()].accesses;
        let Some(object) = objects.contended(op.object) else { continue };
        if objects.waited(op.object) {
            if met[task.index()].contains(&object) {
                continue;
            }
            met[task.index()].push(object);
        }
        if accesses.len() < ACCESSES_MAX {
            accesses.push(Contended {
                index: *index,
                site: op.site,
                object,
                write: op.access() == Access::Write,
            });
        }
    }
    tasks.retain(|task| !task.accesses.is_empty());
    tasks.sort_unstable_by_key(|task| task.name);
    Weights { length, tasks }
}

/// A join cannot come before the exit it waits for: there is nothing to decide between them.
fn push(found: &mut Vec<Found>, task: TaskId, index: u32, op: Op) {
    if op.object.is_some() && op.kind != Kind::Join {
        found.push(Found { task, index, op });
    }
}

/// Sets of objects that count as one, with who accesses them.
#[derive(Default)]
struct Objects {
    entries: Vec<Entry>,
    numbers: u32,
}

#[derive(Clone, Copy)]
struct Entry {
    parent: u32,
    first: Option<TaskId>,
    shared: bool,
    written: bool,
    waited: bool,
    number: Option<u32>,
}

impl Objects {
    fn entry(&mut self, object: ObjectId) -> usize {
        while self.entries.len() <= object.index() {
            self.entries.push(Entry {
                parent: self.entries.len() as u32,
                first: None,
                shared: false,
                written: false,
                waited: false,
                number: None,
            });
        }
        let mut at = object.index();
        while self.entries[at].parent as usize != at {
            at = self.entries[at].parent as usize;
        }
        at
    }

    fn join(&mut self, a: ObjectId, b: ObjectId) {
        let a = self.entry(a);
        if b.is_some() {
            let b = self.entry(b);
            self.entries[b].parent = a as u32;
            self.entries[a].waited = true;
        }
    }

    fn access(&mut self, object: ObjectId, task: TaskId, write: bool) {
        let at = self.entry(object);
        let entry = &mut self.entries[at];
        entry.shared |= entry.first.is_some_and(|first| first != task);
        entry.first = entry.first.or(Some(task));
        entry.written |= write;
    }

    /// Whether it is a condition variable with its mutex.
    fn waited(&mut self, object: ObjectId) -> bool {
        let at = self.entry(object);
        self.entries[at].waited
    }

    fn contended(&mut self, object: ObjectId) -> Option<u32> {
        let at = self.entry(object);
        let entry = &mut self.entries[at];
        if !entry.shared || !entry.written {
            return None;
        }
        Some(*entry.number.get_or_insert_with(|| {
            self.numbers += 1;
            self.numbers - 1
        }))
    }
}
