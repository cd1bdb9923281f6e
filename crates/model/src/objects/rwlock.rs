//! A readers-writer lock without preference: whoever could have it may be picked.

use crate::ids::TaskId;
use alloc::vec::Vec;

/// Who holds it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RwLock {
    /// The writer.
    pub writer: Option<TaskId>,
    /// The readers; a task that reads twice is in it twice. Kept sorted, since the order in which
    /// readers came means nothing.
    pub readers: Vec<TaskId>,
}

impl RwLock {
    /// Whether it can be read now.
    pub fn readable(&self) -> bool {
        self.writer.is_none()
    }

    /// Whether it can be written now.
    pub fn writable(&self) -> bool {
        self.writer.is_none() && self.readers.is_empty()
    }

    /// Adds a reader.
    pub fn add_reader(&mut self, task: TaskId) {
        let at = self.readers.partition_point(|&reader| reader <= task);
        self.readers.insert(at, task);
    }

    /// Takes one reader out; false if `task` does not read. A guard may be dropped by another
    /// task than the one that made it, so any reader will do then.
    pub fn remove_reader(&mut self, task: TaskId) -> bool {
        let at = self.readers.iter().position(|&reader| reader == task);
        match at {
            Some(at) => {
                self.readers.remove(at);
                true
            }
            None => self.readers.pop().is_some(),
        }
    }

    /// Takes the writer out; false if `task` does not write.
    pub fn remove_writer(&mut self, task: TaskId) -> bool {
        let held = self.writer == Some(task);
        if held {
            self.writer = None;
        }
        held
    }
}
