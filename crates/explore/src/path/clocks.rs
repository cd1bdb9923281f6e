//! The clocks of a path: a stack, as everything that is kept from run to run. A clock is made of lanes of eight tasks, so that
//! most of them are copied and joined in a few instructions; tasks that lead to nothing in it need not be there.
//!
//! A step that meets nobody has the clock of the step before it of its task. So what a clock says of the task itself means
//! nothing: that is told by the numbers of its steps.

use core::ops::Range;

/// Tasks of a lane.
pub(super) const TASKS: usize = 8;

/// Some tasks.
pub(crate) type Lane = [u32; TASKS];

/// For each step: for each other task how many of its steps have happened before it.
#[derive(Clone, Default, Debug)]
pub(super) struct Clocks(Vec<Lane>);

impl Clocks {
    /// Where the next clock begins.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.0.len()
    }

    /// Forgets all from here on.
    pub(super) fn truncate(&mut self, at: usize) {
        self.0.truncate(at);
    }

    /// The clock that lies there.
    #[cfg(test)]
    pub(super) fn get(&self, at: Range<usize>) -> &[u32] {
        self.0[at].as_flattened()
    }

    /// Whether the clock that lies there has a step of a task.
    #[inline]
    pub(super) fn has(&self, at: &Range<usize>, task: usize, index: u32) -> bool {
        let lane = at.start + task / TASKS;
        lane < at.end && self.0[lane][task % TASKS] > index
    }

    /// Begins a clock with all that another has.
    #[inline]
    fn push_copy(&mut self, other: Range<usize>) {
        self.0.extend_from_within(other);
    }

    /// The last clock, which begins here, knows so many steps of a task.
    #[inline]
    pub(super) fn set(&mut self, at: usize, task: usize, steps: u32) {
        let lane = at + task / TASKS;
        if self.0.len() <= lane {
            self.0.resize(lane + 1, Lane::default());
        }
        self.0[lane][task % TASKS] = steps;
    }

    /// A new clock: all that another has, and so many steps of a task.
    pub(super) fn push_with(&mut self, other: Range<usize>, task: usize, steps: u32) -> Range<usize> {
        let at = self.end();
        self.push_copy(other);
        self.set(at, task, steps);
        at..self.end()
    }

    /// A new clock: all that two others have, and so many steps of a task.
    #[inline(always)]
    pub(super) fn push_joined(
        &mut self,
        one: Range<usize>,
        other: Range<usize>,
        task: usize,
        steps: u32,
    ) -> Range<usize> {
        if one.len() != 1 || other.len() != 1 || task >= TASKS {
            return self.push_joined_lanes(one, other, task, steps);
        }
        let at = self.end();
        let lane = joined(&self.0[one.start], &self.0[other.start]);
        self.0.push(with(&lane, task, steps));
        at..at + 1
    }

    #[inline(never)]
    fn push_joined_lanes(
        &mut self,
        one: Range<usize>,
        other: Range<usize>,
        task: usize,
        steps: u32,
    ) -> Range<usize> {
        let at = self.end();
        let lanes = one.len().max(other.len()).max(task / TASKS + 1);
        self.0.reserve(lanes);
        for lane in 0..lanes {
            let lane = match (lane < one.len(), lane < other.len()) {
                (true, true) => joined(&self.0[one.start + lane], &self.0[other.start + lane]),
                (true, false) => self.0[one.start + lane],
                (false, true) => self.0[other.start + lane],
                (false, false) => Lane::default(),
            };
            self.0.push(lane);
        }
        self.0[at + task / TASKS][task % TASKS] = steps;
        at..at + lanes
    }

    /// A clock takes in all that another has, and so many steps of a task. It is the last one, which begins at `begin`, or
    /// becomes that.
    #[inline(never)]
    pub(super) fn take_in(
        &mut self,
        clock: Range<usize>,
        begin: usize,
        other: Range<usize>,
        task: usize,
        steps: u32,
    ) -> Range<usize> {
        if self.end() == begin {
            self.push_copy(clock);
        }
        if self.0.len() - begin < other.len() {
            self.0.resize(begin + other.len(), Lane::default());
        }
        let (before, clock) = self.0.split_at_mut(begin);
        join_lanes(clock, &before[other]);
        self.set(begin, task, steps);
        begin..self.end()
    }

    /// A clock that lies elsewhere takes in one of these, and so many steps of a task.
    pub(super) fn join_into(&self, clock: &mut Vec<Lane>, other: Range<usize>, task: usize, steps: u32) {
        let lanes = other.len().max(task / TASKS + 1);
        if clock.len() < lanes {
            clock.resize(lanes, Lane::default());
        }
        join_lanes(clock, &self.0[other]);
        let own = &mut clock[task / TASKS][task % TASKS];
        *own = steps.max(*own);
    }
}

#[inline]
fn join_lanes(clock: &mut [Lane], other: &[Lane]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = joined(mine, theirs);
    }
}

/// What either of two lanes has. No task has so many steps that it matters whether they are signed, and that is compared faster.
#[inline]
fn joined(one: &Lane, other: &Lane) -> Lane {
    core::array::from_fn(|task| (one[task] as i32).max(other[task] as i32) as u32)
}

// Lanes that are put together are never written in parts: what is read as a whole right after that is waited for.

/// A lane, but for what it has of one task.
#[inline(always)]
fn with(lane: &Lane, task: usize, steps: u32) -> Lane {
    core::array::from_fn(|other| if other == task { steps } else { lane[other] })
}
