//! Who went on last.

use raddle_model::TaskId;

/// Who went on last, if anybody has: one word, since every step writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Current(TaskId);

impl Default for Current {
    fn default() -> Current {
        Current(TaskId(u32::MAX))
    }
}

impl Current {
    #[inline(always)]
    pub(crate) fn of(task: TaskId) -> Current {
        Current(task)
    }

    /// Where somebody has.
    #[inline(always)]
    pub(crate) fn task(self) -> TaskId {
        debug_assert!(self != Current::default(), "raddle bug: nobody went on yet");
        self.0
    }

    #[inline]
    pub(crate) fn get(self) -> Option<TaskId> {
        (self != Current::default()).then_some(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_went_on_at_first() {
        assert_eq!(Current::default().get(), None);
        assert_eq!(Current::of(TaskId::MAIN).get(), Some(TaskId::MAIN));
    }
}
