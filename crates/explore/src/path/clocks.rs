//! The clocks of a path: a stack, as everything that is kept from run to run. A clock is made of lanes of eight tasks, so that
//! most of them are copied and joined in a few instructions; tasks that lead to nothing in it need not be there.

use core::ops::Range;

/// Tasks of a lane.
pub(super) const TASKS: usize = 8;

/// Some tasks.
pub(crate) type Lane = [u32; TASKS];

/// For each step: for each task how many of its steps have happened before it, itself included.
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
    #[inline]
    pub(super) fn get(&self, at: Range<usize>) -> &[u32] {
        self.0[at].as_flattened()
    }

    /// The first lane of the clock that lies there.
    #[inline]
    pub(super) fn lane(&self, at: usize) -> &Lane {
        &self.0[at]
    }

    /// A clock of one lane.
    #[inline]
    pub(super) fn push(&mut self, lane: Lane) {
        self.0.push(lane);
    }

    /// Begins a clock with all that another has.
    #[inline]
    pub(super) fn push_copy(&mut self, other: Range<usize>) {
        if other.len() == 1 {
            let lane = self.0[other.start];
            return self.0.push(lane);
        }
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

    /// The last clock, which begins here, takes in what an earlier one has.
    #[inline]
    pub(super) fn join(&mut self, at: usize, other: Range<usize>) {
        if self.0.len() - at < other.len() {
            self.0.resize(at + other.len(), Lane::default());
        }
        let (before, clock) = self.0.split_at_mut(at);
        join_lanes(clock, &before[other]);
    }

    /// A clock that lies elsewhere takes in one of these.
    pub(super) fn join_into(&self, clock: &mut Vec<Lane>, other: Range<usize>) {
        if clock.len() < other.len() {
            clock.resize(other.len(), Lane::default());
        }
        join_lanes(clock, &self.0[other]);
    }
}

#[inline]
fn join_lanes(clock: &mut [Lane], other: &[Lane]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = joined(mine, theirs);
    }
}

/// What either of two lanes has.
#[inline]
pub(super) fn joined(one: &Lane, other: &Lane) -> Lane {
    core::array::from_fn(|task| one[task].max(other[task]))
}

// Lanes that are put together are never written in parts: what is read as a whole right after that is waited for.

/// A lane, but for what it has of one task.
#[inline(always)]
pub(super) fn with(lane: &Lane, task: usize, steps: u32) -> Lane {
    core::array::from_fn(|other| if other == task { steps } else { lane[other] })
}

/// What two lanes have together.
#[inline(always)]
pub(super) fn added(one: &Lane, other: &Lane) -> Lane {
    core::array::from_fn(|task| one[task].wrapping_add(other[task]))
}
