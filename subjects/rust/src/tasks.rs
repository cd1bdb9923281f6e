//! Starting and joining the tasks of a subject.

use crate::shim::thread::{self, JoinHandle};

/// Starts a task after letting those that were started before it run, if the schedule wants so.
///
/// Spawning is no scheduling point in Raddle: without this all tasks of a subject would begin together. In the paper's
/// tool a thread that has been started competes with main for the next step, so that one started early mostly comes
/// first; that its simple random algorithm saw so few partial orders of the collections cannot be explained otherwise.
pub fn start(body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::yield_now();
    thread::spawn(body)
}

/// Joins all tasks in order; if any of them panicked, panics with what the first of them panicked with.
pub fn join_all(tasks: Vec<JoinHandle<()>>) {
    let mut first = None;
    for task in tasks {
        if let Err(payload) = task.join() {
            first.get_or_insert(payload);
        }
    }
    if let Some(payload) = first {
        std::panic::resume_unwind(payload);
    }
}
