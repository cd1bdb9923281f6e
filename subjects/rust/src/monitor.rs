//! Java's monitor: a recursive lock with `wait`, `notify` and `notify_all`.
//!
//! Built on one mutex and one condition variable. Entering a monitor that the task holds already is not an operation:
//! nobody else can tell that it happened, so it must not become a scheduling point. Whether the task holds it is
//! therefore kept outside of the controlled types. As in Java, a panic leaves the monitor open and not poisoned.

use crate::shim::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use crate::shim::thread::{self, ThreadId};

/// A recursive lock with a wait set.
#[derive(Debug, Default)]
pub struct Monitor {
    lock: Mutex<()>,
    changed: Condvar,
    // invariant: Some(t) only while t holds `lock`, so a task that reads its own name here is the owner.
    owner: std::sync::Mutex<Option<ThreadId>>,
}

/// The right to be inside; leaving happens when it is dropped.
#[derive(Debug)]
#[must_use = "the monitor is left when this is dropped"]
pub struct Inside<'a> {
    monitor: &'a Monitor,
    // None for an inner entry: the outermost one holds the lock.
    held: Option<MutexGuard<'a, ()>>,
}

impl Monitor {
    /// An open monitor.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters; returns at once if this task is inside already.
    #[track_caller]
    pub fn enter(&self) -> Inside<'_> {
        let me = thread::current().id();
        if self.owner() == Some(me) {
            return Inside { monitor: self, held: None };
        }
        let held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.set_owner(Some(me));
        Inside { monitor: self, held: Some(held) }
    }

    fn owner(&self) -> Option<ThreadId> {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_owner(&self, owner: Option<ThreadId>) {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = owner;
    }
}

impl Inside<'_> {
    /// Leaves the monitor, waits for a notification, enters again. Only from the outermost entry.
    #[track_caller]
    pub fn wait(&mut self) {
        let held = self.held.take().expect("wait from the outermost entry of a monitor");
        self.monitor.set_owner(None);
        let held = self.monitor.changed.wait(held).unwrap_or_else(PoisonError::into_inner);
        self.monitor.set_owner(Some(thread::current().id()));
        self.held = Some(held);
    }

    /// Waits until `blocked` no longer holds.
    #[track_caller]
    pub fn wait_while(&mut self, blocked: impl Fn() -> bool) {
        while blocked() {
            self.wait();
        }
    }

    /// Wakes one waiting task, whichever.
    #[track_caller]
    pub fn notify(&self) {
        self.monitor.changed.notify_one();
    }

    /// Wakes all waiting tasks.
    #[track_caller]
    pub fn notify_all(&self) {
        self.monitor.changed.notify_all();
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if self.held.is_some() {
            self.monitor.set_owner(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shim::Shared;
    use crate::shim::sync::Arc;

    #[test]
    fn entry_is_recursive_and_excludes_others() {
        let shared = Arc::new((Monitor::new(), Shared::new(0)));
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    for _ in 0..100 {
                        let _outer = shared.0.enter();
                        let _inner = shared.0.enter();
                        shared.1.update(|n| n + 1);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.join().unwrap();
        }
        assert_eq!(shared.1.get(), 400);
    }

    #[test]
    fn waiting_lets_others_in() {
        let shared = Arc::new((Monitor::new(), Shared::new(false)));
        let other = Arc::clone(&shared);
        let task = thread::spawn(move || {
            let inside = other.0.enter();
            other.1.set(true);
            inside.notify_all();
        });
        let mut inside = shared.0.enter();
        inside.wait_while(|| !shared.1.get());
        drop(inside);
        task.join().unwrap();
        assert_eq!(shared.0.owner(), None);
    }

    #[test]
    fn a_panic_inside_leaves_it_open() {
        let monitor = Arc::new(Monitor::new());
        let other = Arc::clone(&monitor);
        let task = thread::spawn(move || {
            let _inside = other.enter();
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(task.join().is_err());
        let _inside = monitor.enter();
    }
}
