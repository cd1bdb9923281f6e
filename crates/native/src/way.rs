//! The way from one task to another, and back. All ways are this one, whoever has announced what: so a plan does not hang on
//! which of them was gone.

use crate::fiber::{self, Fiber};
use crate::run::with_active;
use crate::sent;
use raddle_model::{Outcome, TaskId};

/// From whom to whom to switch, or nowhere.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Way {
    from: *mut Fiber,
    to: *const Fiber,
}

impl Way {
    /// Both are boxed: `from` runs, `to` is new or was switched away from.
    #[inline(always)]
    pub(crate) fn new(from: *mut Fiber, to: *const Fiber) -> Way {
        Way { from, to }
    }

    /// Nobody else goes on.
    pub(crate) const NOWHERE: Way = Way { from: core::ptr::null_mut(), to: core::ptr::null() };

    /// Whether anybody goes on.
    pub(crate) fn leads_somewhere(self) -> bool {
        !self.from.is_null()
    }

    /// Switches. Comes back when it is this task's turn, and what it was about to do has happened: whoever was sent a
    /// signal has handled it before. All ways back are this one, so that a plan does not hang on which was taken.
    #[inline(always)]
    pub fn go(self) {
        if !self.from.is_null() {
            self.there_and_back();
        }
    }

    /// The same, and says how what `me` was about to do has ended.
    #[inline(always)]
    pub(crate) fn ends(self, me: TaskId) -> Outcome {
        self.there_and_back().unwrap_or_else(|| with_active(|run| run.engine.outcome(me)))
    }

    #[inline(always)]
    fn there_and_back(self) -> Option<Outcome> {
        // SAFETY: as `new` says.
        unsafe { fiber::switch(self.from, self.to) };
        with_active(|run| run.sent.interrupts()).then(sent::come_back)
    }
}
