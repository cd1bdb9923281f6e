//! What the tasks of the subjects share besides their bug: each writes lines, one by one, under a lock that all take.

use crate::shim::sync::Mutex;

/// Lines of all tasks.
#[derive(Debug, Default)]
pub struct Journal {
    lines: Mutex<usize>,
}

impl Journal {
    /// Writes so many lines.
    pub fn write(&self, lines: usize) {
        for _ in 0..lines {
            *self.lines.lock().unwrap() += 1;
        }
    }

    /// How many there are.
    pub fn lines(&self) -> usize {
        *self.lines.lock().unwrap()
    }
}
