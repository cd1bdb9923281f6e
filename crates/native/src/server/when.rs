//! When checkpoints are worth it, by what they have cost so far. Whatever comes out of this changes how long a search
//! takes, and nothing else.
//!
//! Searches mostly go back a little, and seldom far. So checkpoints lie at distances from the end of a run that double:
//! each in the middle between the one before it and the end, as long as to run from one to the next takes clearly longer
//! than to take it. Before the first choice everything is the same in all runs: that is where the first one lies.

/// A checkpoint is taken if to run up to it has taken so many times as long.
const PAYS: u64 = 2;
/// So many that could not be taken, and no more are tried.
const FAILURES_MAX: u32 = 8;

/// What is known of runs and checkpoints.
#[derive(Clone, Debug)]
pub(crate) struct When {
    /// Scheduling points of the last run.
    length: u32,
    /// What one costs to run to, and a checkpoint to take.
    point_ns: u64,
    take_ns: u64,
    failures: u32,
    /// Whether nothing of this matters, and all are taken: for tests.
    always: bool,
}

impl When {
    /// Until better is known, a checkpoint costs so much.
    pub(crate) fn new(take_ns: u64) -> When {
        When { length: 0, point_ns: 0, take_ns, failures: 0, always: false }
    }

    /// Whatever they cost.
    pub(crate) fn always(&mut self) {
        self.always = true;
    }

    /// Where the next one lies, after so many scheduling points.
    pub(crate) fn next(&self, points: u32) -> Option<u32> {
        let gap = self.length.saturating_sub(points) / 2;
        let pays = gap > 0 && self.pays(u64::from(gap) * self.point_ns);
        pays.then_some(points + gap)
    }

    /// Whether a checkpoint is worth it that so much time leads up to.
    pub(crate) fn pays(&self, ns: u64) -> bool {
        self.always || ns >= PAYS * self.take_ns && self.failures < FAILURES_MAX
    }

    /// One was taken.
    pub(crate) fn took(&mut self, ns: u64) {
        self.take_ns = (3 * self.take_ns + ns) / 4;
    }

    /// One could not be taken, or was of no use.
    pub(crate) fn failed(&mut self) {
        self.failures += 1;
    }

    /// A run of so many points has been run from one of them on.
    pub(crate) fn ran(&mut self, points: u32, from: u32, ns: u64) {
        self.length = points;
        // Short ways say little of what a point costs.
        if points > from && (self.point_ns == 0 || points - from >= self.length / 4) {
            self.point_ns = ns / u64::from(points - from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn distances_to_the_end_are_halved_until_they_do_not_pay() {
        let mut when = When::new(1_000);
        assert_eq!(when.next(0), None);
        when.ran(1_000, 0, 100_000);
        let mut places = Vec::new();
        while let Some(next) = when.next(places.last().copied().unwrap_or(0)) {
            places.push(next);
        }
        assert_eq!(places, [500, 750, 875, 937, 968]);
        when.took(100_000_000);
        assert_eq!(when.next(0), None);
    }

    #[test]
    fn whoever_fails_often_is_not_asked_again() {
        let mut when = When::new(10);
        when.ran(1_000, 0, 100_000);
        for _ in 0..FAILURES_MAX {
            assert!(when.next(0).is_some());
            when.failed();
        }
        assert_eq!(when.next(0), None);
    }
}
