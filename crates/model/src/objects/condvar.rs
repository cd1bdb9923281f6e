//! A condition variable: who waits. Which waiter a notification wakes is a decision.

use crate::ids::TaskId;
use alloc::vec::Vec;

/// The waiters that have not been woken.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Condvar {
    /// In the order in which they came.
    pub waiters: Vec<TaskId>,
}

impl Condvar {
    /// Takes a waiter out that leaves on its own.
    pub fn leave(&mut self, task: TaskId) {
        self.waiters.retain(|&waiter| waiter != task);
    }
}
