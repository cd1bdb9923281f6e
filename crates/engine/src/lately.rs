//! What has happened lately: who went on last, and for how long nobody has come to a scheduling point.

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

/// Operations in a row that need not be scheduling points.
const QUIET_MAX: u32 = 10_000;

/// Operations since the last scheduling point. That one has happened shows in the number of steps, so that points have nothing
/// to do here.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    count: u32,
    /// After which step the last of them stands.
    last: u64,
}

impl Quiet {
    /// One more has happened, as this step.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, steps: u64) {
        self.count = if self.last + 1 == steps { self.count + 1 } else { 1 };
        self.last = steps;
    }

    /// Something else has happened as this step, which is no point either.
    pub(crate) fn pass(&mut self, steps: u64) {
        if self.last + 1 == steps {
            self.last = steps;
        }
    }

    /// Whether they were too many, after this many steps.
    #[inline(always)]
    pub(crate) fn is_long(&self, steps: u64) -> bool {
        self.count >= QUIET_MAX && self.last == steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_shows_in_the_number_of_steps() {
        let (mut quiet, mut steps) = (Quiet::default(), 0);
        let go_on = |quiet: &mut Quiet, count: u32, steps: &mut u64| {
            for _ in 0..count {
                *steps += 1;
                quiet.go_on(*steps);
            }
        };
        go_on(&mut quiet, QUIET_MAX - 1, &mut steps);
        assert!(!quiet.is_long(steps));
        // A choice is neither quiet nor a point.
        steps += 1;
        quiet.pass(steps);
        go_on(&mut quiet, 1, &mut steps);
        assert!(quiet.is_long(steps));
        // A point.
        steps += 1;
        assert!(!quiet.is_long(steps));
        quiet.pass(steps);
        assert!(!quiet.is_long(steps));
        go_on(&mut quiet, QUIET_MAX - 1, &mut steps);
        assert!(!quiet.is_long(steps));
    }

    #[test]
    fn nobody_went_on_at_first() {
        assert_eq!(Current::default().get(), None);
        assert_eq!(Current::of(TaskId::MAIN).get(), Some(TaskId::MAIN));
    }
}
