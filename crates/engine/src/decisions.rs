//! The decisions of a run so far: what they were, or only how many.

use alloc::vec::Vec;
use raddle_model::Decision;

/// A list that can be told to only count. To write each decision down is a good part of a step, and nobody reads those of
/// a run that can be had again from its seed.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    list: Vec<Decision>,
    count: usize,
    only_counts: bool,
}

impl Decisions {
    /// None yet.
    pub(crate) fn begin(&mut self) {
        self.list.clear();
        self.count = 0;
    }

    /// From the next run on they are counted, and not written down.
    pub(crate) fn only_count(&mut self, only_counts: bool) {
        self.only_counts = only_counts;
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, decision: Decision) {
        self.count += 1;
        if !self.only_counts {
            self.list.push(decision);
        }
    }

    /// The same where they are only counted.
    #[inline(always)]
    pub(crate) fn count_one(&mut self) {
        debug_assert!(self.only_counts, "raddle bug: a decision that is to be told is only counted");
        self.count += 1;
    }

    /// The same for so many at a time.
    pub(crate) fn count_more(&mut self, decisions: u64) {
        debug_assert!(self.only_counts, "raddle bug: decisions that are to be told are only counted");
        self.count += decisions as usize;
    }

    pub(crate) fn only_counts(&self) -> bool {
        self.only_counts
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Those after the first `count` are taken back.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.list.truncate(count);
        self.count = count;
    }

    /// What they were.
    pub(crate) fn list(&self) -> &[Decision] {
        assert!(!self.only_counts, "raddle bug: decisions that were only counted are to be told");
        &self.list
    }
}
