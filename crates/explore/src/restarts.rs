//! When a search in random order begins anew: after 16 runs, 16, 32, 16, 16, 32, 64, … as Luby, Sinclair and Zuckerman
//! ("Optimal speedup of Las Vegas algorithms", 1993) advise who does not know how long a good search takes. What the
//! first decisions of a run are, a search depth first changes last; a restart changes them at once.
//!
//! Nothing is forgotten by it: what was not run yet is left behind in the tree, and nothing is run twice.

use raddle_wire::Unpack;
use raddle_wire::journal::{Put, Take};

/// Runs before the first restart.
const UNIT_RUNS: u64 = 16;

/// Decisions that may be left behind, as many as the paper keeps states to go back to ("Guided test", §4: 100,000). With
/// more there are no restarts, so that memory stays bounded.
pub(crate) const LEFT_BEHIND_MAX: usize = 100_000;

/// How many there were.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Restarts {
    count: u64,
    /// Runs since the last one.
    runs: u64,
}

impl Restarts {
    /// A run has ended.
    pub(crate) fn run(&mut self) {
        self.runs += 1;
    }

    /// Whether it is time. If so that begins anew, too.
    pub(crate) fn is_due(&mut self) -> bool {
        let due = self.runs >= UNIT_RUNS * luby(self.count + 1);
        if due {
            *self = Restarts { count: self.count + 1, runs: 0 };
        }
        due
    }

    pub(crate) fn save(self, put: &mut Put<'_>) {
        put.number(self.count);
        put.number(self.runs);
    }

    pub(crate) fn load(take: &mut Take<'_>) -> Result<Restarts, Unpack> {
        Ok(Restarts { count: take.number()?, runs: take.number()? })
    }
}

/// 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8, …: number `at` of them, from 1 on.
fn luby(mut at: u64) -> u64 {
    loop {
        let bits = u64::BITS - at.leading_zeros();
        if at.count_ones() == bits {
            return 1 << (bits - 1);
        }
        at -= (1 << (bits - 1)) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_searches_are_frequent_and_long_ones_come() {
        let first: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(first, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
        let mut restarts = Restarts::default();
        let mut after = Vec::new();
        for run in 1..=128 {
            restarts.run();
            if restarts.is_due() {
                after.push(run);
            }
        }
        assert_eq!(after, [16, 32, 64, 80, 96, 128]);
    }
}
