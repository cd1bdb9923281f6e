//! How much of a search is left, as Knuth estimates the size of a backtrack tree (1975): branches that have
//! not been taken are taken to be as large as those at the same depth that have, give or take what those
//! differ by. New branches are found on the way, so this is a guess from what is known now.

/// Runs that are left.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outlook {
    /// Probably more than this.
    pub low: f64,
    /// About so many.
    pub about: f64,
    /// Probably fewer than this.
    pub high: f64,
}

/// Sizes of the branches that have been left for good, by depth.
#[derive(Clone, Default, Debug)]
pub(crate) struct Sizes {
    depths: Vec<Depth>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Depth {
    /// Runs before the branch that is being taken.
    begun: u64,
    branches: f64,
    runs: f64,
    squares: f64,
}

impl Sizes {
    /// A branch is taken, after so many runs.
    pub(crate) fn begin(&mut self, depth: usize, runs: u64) {
        if self.depths.len() <= depth {
            self.depths.resize(depth + 1, Depth::default());
        }
        self.depths[depth].begun = runs;
    }

    /// That branch is left for good, after so many runs.
    pub(crate) fn end(&mut self, depth: usize, runs: u64) {
        let Some(depth) = self.depths.get_mut(depth) else { return };
        // Signed numbers become such in one instruction, and nobody makes so many runs.
        let size = runs.saturating_sub(depth.begun) as i64 as f64;
        depth.branches += 1.0;
        depth.runs += size;
        depth.squares += size * size;
    }

    /// Adds what another one knows.
    pub(crate) fn join(&mut self, other: &Sizes) {
        if self.depths.len() < other.depths.len() {
            self.depths.resize(other.depths.len(), Depth::default());
        }
        for (mine, theirs) in self.depths.iter_mut().zip(&other.depths) {
            mine.branches += theirs.branches;
            mine.runs += theirs.runs;
            mine.squares += theirs.squares;
        }
    }

    /// What is left, given how many branches are known and not taken at each depth.
    pub(crate) fn outlook(&self, waiting: impl Iterator<Item = usize>) -> Outlook {
        let (mut about, mut variance, mut least) = (0.0, 0.0, 0.0);
        let mut at = 0;
        for (depth, waiting) in waiting.enumerate().filter(|&(_, waiting)| waiting > 0) {
            let waiting = waiting as f64;
            // Where no branch was left yet, one is at least as large as those below it.
            at = at.max(depth);
            while self.depths.get(at).is_some_and(|depth| depth.branches == 0.0) {
                at += 1;
            }
            let known = self.depths.get(at);
            let (mean, spread, seen) = known.map_or((1.0, 0.0, 1.0), |depth| {
                let mean = depth.runs / depth.branches;
                (mean, (depth.squares / depth.branches - mean * mean).max(0.0), depth.branches)
            });
            about += waiting * mean;
            variance += waiting * spread + waiting * waiting * spread / seen;
            least += waiting;
        }
        let margin = 2.0 * variance.sqrt();
        Outlook { low: (about - margin).max(least), about, high: about + margin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_branches_leave_nothing_to_guess() {
        let mut sizes = Sizes::default();
        for branch in 0..3 {
            sizes.begin(2, branch * 10);
            sizes.end(2, branch * 10 + 10);
        }
        let outlook = sizes.outlook([0, 0, 4].into_iter());
        assert_eq!(outlook, Outlook { low: 40.0, about: 40.0, high: 40.0 });
        // What is above is at least as large, for all that is known.
        assert_eq!(sizes.outlook([1, 0, 0].into_iter()).about, 10.0);
        assert_eq!(sizes.outlook([0, 0, 0, 5].into_iter()).about, 5.0);
    }

    #[test]
    fn different_branches_give_an_interval() {
        let mut sizes = Sizes::default();
        for (begun, ended) in [(0, 5), (5, 20), (20, 30)] {
            sizes.begin(0, begun);
            sizes.end(0, ended);
        }
        let Outlook { low, about, high } = sizes.outlook([2].into_iter());
        assert_eq!(about, 20.0);
        assert!(2.0 <= low && low < about && about < high, "{low} {high}");
    }
}
