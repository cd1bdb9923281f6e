//! The clocks of a path: a stack, as everything that is kept from run to run. A clock is made of lanes of four tasks, so that
//! most of them are copied and joined in a few instructions; tasks that lead to nothing in it need not be there.

use core::ops::Range;

/// Four tasks.
pub(crate) type Lane = [u32; 4];

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

    /// Begins a clock with all that another has.
    #[inline]
    pub(super) fn push_copy(&mut self, other: Range<usize>) {
        // Nearly always one lane.
        for lane in other {
            let lane = self.0[lane];
            self.0.push(lane);
        }
    }

    /// The last clock, which begins here, knows so many steps of a task.
    #[inline]
    pub(super) fn set(&mut self, at: usize, task: usize, steps: u32) {
        let lane = at + task / 4;
        if self.0.len() <= lane {
            self.0.resize(lane + 1, Lane::default());
        }
        self.0[lane][task % 4] = steps;
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
        *mine = core::array::from_fn(|task| mine[task].max(theirs[task]));
    }
}
