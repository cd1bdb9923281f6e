//! A mutex: plain or recursive.

use crate::ids::TaskId;

/// Who holds it, and how often.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mutex {
    /// The holder.
    pub owner: Option<TaskId>,
    /// How often the holder has taken it.
    pub depth: u32,
    /// Whether the holder may take it again.
    pub recursive: bool,
}

impl Mutex {
    /// Whether `task` can take it now.
    #[inline]
    pub fn available(&self, task: TaskId) -> bool {
        match self.owner {
            None => true,
            Some(owner) => self.recursive && owner == task,
        }
    }

    /// Takes it.
    #[inline]
    pub fn take(&mut self, task: TaskId, depth: u32) {
        self.owner = Some(task);
        self.depth += depth;
    }

    /// Gives it back once; false if `task` does not hold it.
    #[inline]
    pub fn give(&mut self, task: TaskId) -> bool {
        if self.owner != Some(task) {
            return false;
        }
        self.depth -= 1;
        if self.depth == 0 {
            self.owner = None;
        }
        true
    }
}
