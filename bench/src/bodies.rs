//! What is run: small programs, written once and compiled against the types of each tool.
//!
//! Every thread does nothing but the operations that are counted, so the time is the tool's own. All
//! threads share one mutex or one atomic: each operation conflicts with those of every other thread.

use std::fmt;
use std::sync::atomic::AtomicU64;

/// How many executions have begun. Each body counts itself, so that no tool's own word is needed.
pub(crate) static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

/// What a thread does again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Lock, increment, unlock.
    Mutex,
    /// A sequentially consistent `fetch_add`.
    Atomic,
}

/// One program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) work: Work,
    pub(crate) threads: usize,
    /// Mutex sections or atomic operations of each thread.
    pub(crate) operations: usize,
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work = match self.work {
            Work::Mutex => "mutex",
            Work::Atomic => "atomic",
        };
        // Padded by the caller's width, as a table needs it.
        f.pad(&format!("{work} {}x{}", self.threads, self.operations))
    }
}

/// All programs, in the order of the table.
pub(crate) fn all() -> Vec<Body> {
    let mut bodies = Vec::new();
    for work in [Work::Mutex, Work::Atomic] {
        for threads in [2, 4] {
            for operations in [5, 25, 250] {
                bodies.push(Body { work, threads, operations });
            }
        }
    }
    bodies
}

/// Defines `fn execute(body)`: one execution of a body with the mutex, atomic and threads of one tool.
///
/// The `Arc` is std's for every tool. Loom has one of its own, and each of its counts is one more
/// scheduling point: with std's all tools do the same operations, which is in loom's favour.
macro_rules! define_execute {
    ($tool:ident) => {
        fn execute(body: $crate::bodies::Body) {
            use std::sync::Arc;
            use $crate::bodies::Work;
            use $tool::sync::Mutex;
            use $tool::sync::atomic::{AtomicUsize, Ordering};
            use $tool::thread;

            $crate::bodies::EXECUTIONS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let operations = body.operations;
            let handles: Vec<_> = match body.work {
                Work::Mutex => {
                    let counter = Arc::new(Mutex::new(0usize));
                    let spawn = |_| {
                        let counter = Arc::clone(&counter);
                        thread::spawn(move || (0..operations).for_each(|_| *counter.lock().unwrap() += 1))
                    };
                    (0..body.threads).map(spawn).collect()
                }
                Work::Atomic => {
                    let counter = Arc::new(AtomicUsize::new(0));
                    let spawn = |_| {
                        let counter = Arc::clone(&counter);
                        thread::spawn(move || {
                            for _ in 0..operations {
                                counter.fetch_add(1, Ordering::SeqCst);
                            }
                        })
                    };
                    (0..body.threads).map(spawn).collect()
                }
            };
            for handle in handles {
                handle.join().unwrap();
            }
        }
    };
}
pub(crate) use define_execute;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twelve_bodies_with_names_of_their_own() {
        let mut names: Vec<String> = all().iter().map(Body::to_string).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 12);
        assert!(names.contains(&"mutex 4x250".to_string()));
    }
}
