//! Joining the tasks of a subject so that no failure is lost.

use crate::shim::thread::JoinHandle;

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
