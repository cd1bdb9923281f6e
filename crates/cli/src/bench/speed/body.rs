//! What is run: the bodies of the comparison with peers. Every task does nothing but the operations that are counted,
//! so the time is the tool's own; all share one mutex or one atomic.

use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
use std::fmt;

/// What a task does again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Lock, increment, unlock.
    Mutex,
    /// A sequentially consistent `fetch_add`.
    Atomic,
}

/// One program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) work: Work,
    pub(super) tasks: usize,
    /// Mutex sections or atomic operations of each task.
    pub(super) operations: usize,
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work = match self.work {
            Work::Mutex => "mutex",
            Work::Atomic => "atomic",
        };
        write!(f, "{work} {}x{}", self.tasks, self.operations)
    }
}

/// The bodies of the table.
pub(super) fn all() -> Vec<Body> {
    let mut bodies = Vec::new();
    for work in [Work::Mutex, Work::Atomic] {
        for tasks in [2, 4] {
            for operations in [5, 25, 250] {
                bodies.push(Body { work, tasks, operations });
            }
        }
    }
    bodies
}

impl Body {
    /// One run.
    pub(super) fn run(self) {
        let handles: Vec<_> = match self.work {
            Work::Mutex => {
                let counter = Arc::new(Mutex::new(0usize));
                let task = |_| {
                    let counter = Arc::clone(&counter);
                    thread::spawn(move || (0..self.operations).for_each(|_| *counter.lock().unwrap() += 1))
                };
                (0..self.tasks).map(task).collect()
            }
            Work::Atomic => {
                let counter = Arc::new(AtomicUsize::new(0));
                let task = |_| {
                    let counter = Arc::clone(&counter);
                    thread::spawn(move || {
                        for _ in 0..self.operations {
                            counter.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                };
                (0..self.tasks).map(task).collect()
            }
        };
        for handle in handles {
            handle.join().unwrap();
        }
    }
}
