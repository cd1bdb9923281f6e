//! What threads have in common besides memory and what is modelled: files of others, streams, what the process has one
//! of. No operation tells of it, so searches that go by dependence would leave out its orders without a word: here is
//! noted whether two threads meet there in a run, and the search says so in the end. The same for what
//! interrupts another thread.
//!
//! Which address a block of memory gets hangs on the order, too, and is nobody's business.

use crate::run::{Run, active, with};
use alloc::vec::Vec;
use raddle_model::TaskId;
use raddle_model::trace::Hidden;

/// Who has used what, while there was more than one thread.
#[derive(Clone, Default, Debug)]
pub struct Common {
    uses: Vec<Use>,
    // Each thread, who made it, and when.
    made: Vec<(TaskId, TaskId, u64)>,
    // Counts what is noted here.
    time: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Use {
    what: Hidden,
    // Which of its kind.
    key: usize,
    writes: bool,
    // Who, or who has waited for that one; and when it last did.
    task: TaskId,
    time: u64,
}

impl Common {
    /// A thread is made: what its maker has done before has happened before all that it does.
    pub(crate) fn make(&mut self, task: TaskId, by: TaskId) {
        self.time += 1;
        self.made.push((task, by, self.time));
    }

    /// A thread was waited for: what it did has happened before what the other does.
    pub(crate) fn join(&mut self, task: TaskId, by: TaskId) {
        self.time += 1;
        let Common { uses, time, .. } = self;
        uses.iter_mut().filter(|of| of.task == task).for_each(|of| (of.task, of.time) = (by, *time));
    }

    /// Whether something was used before all that a thread does from now on.
    fn is_before(&self, of: &Use, task: TaskId) -> bool {
        of.task == task
            || self
                .made
                .iter()
                .any(|&(made, by, time)| made == task && of.time < time && self.is_before(of, by))
    }

    /// Whether a use meets one that could as well come after it.
    fn meets(&mut self, new: Use) -> bool {
        self.time += 1;
        let same = |of: &Use| (of.what, of.key) == (new.what, new.key);
        let meets = |of: &Use| same(of) && (of.writes || new.writes) && !self.is_before(of, new.task);
        let met = self.uses.iter().any(meets);
        let time = self.time;
        let again = |of: &&mut Use| same(of) && (of.task, of.writes) == (new.task, new.writes);
        match self.uses.iter_mut().find(again) {
            Some(known) => known.time = time,
            None => self.uses.push(Use { time, ..new }),
        }
        met
    }
}

impl Run {
    /// Whether anybody wants to know, and there is anything to know.
    fn is_searched_among_several(&self) -> bool {
        self.searched && self.several
    }

    /// The running thread does something to another that no operation tells in full.
    pub(crate) fn hides(&mut self, what: Hidden) {
        if self.is_searched_among_several() {
            self.engine.hide(what);
        }
    }

    pub(crate) fn uses(&mut self, what: Hidden, key: usize, writes: bool) {
        if !self.is_searched_among_several() {
            return;
        }
        let task = self.running;
        if self.common.meets(Use { what, key, writes, task, time: 0 }) {
            self.engine.hide(what);
        }
    }
}

/// The running thread uses something that others may use, too. Which of its kind it is, a number tells.
pub fn uses(what: Hidden, key: usize, writes: bool) {
    if active() {
        with(|run| run.uses(what, key, writes));
    }
}

/// The running thread takes or frees a number of a file, which are the lowest that are free.
pub fn numbers_file() {
    uses(Hidden::NUMBERS, 0, true);
}

/// The same for a key of thread-specific values.
pub fn numbers_key() {
    uses(Hidden::NUMBERS, 1, true);
}

/// Something is given back: who uses the next one of that number or address uses another.
pub fn gives_back(what: Hidden, key: usize) {
    if active() {
        with(|run| run.common.uses.retain(|other| (other.what, other.key) != (what, key)));
    }
}

/// The running thread does something to another that no operation tells in full.
pub fn hides(what: Hidden) {
    if active() {
        with(|run| run.hides(what));
    }
}
