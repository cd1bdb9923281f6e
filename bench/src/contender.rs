//! Who is measured, and who is compared with whom.

use crate::bodies::Body;
#[cfg(feature = "raddle")]
use crate::raddle_side;
use crate::{loom_side, shuttle_side};

/// A tool with one of its strategies.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    /// Executes a body at least this many times.
    pub(crate) run: fn(Body, u64),
}

/// In the order in which a round runs them: each of Raddle's just before what it is compared with.
pub(crate) const CONTENDERS: &[Contender] = &[
    #[cfg(feature = "raddle")]
    Contender { name: "raddle random", run: raddle_side::random },
    Contender { name: "shuttle random", run: shuttle_side::random },
    #[cfg(feature = "raddle")]
    Contender { name: "raddle pct", run: raddle_side::pct },
    Contender { name: "shuttle pct", run: shuttle_side::pct },
    #[cfg(feature = "raddle")]
    Contender { name: "raddle odpor", run: raddle_side::odpor },
    Contender { name: "loom", run: loom_side::unbounded },
    Contender { name: "loom bound 3", run: loom_side::bounded },
];

/// A ratio of executions per second that is wanted.
pub(crate) struct Comparison {
    pub(crate) ours: &'static str,
    pub(crate) theirs: &'static str,
    /// What is aimed at on the worst body.
    pub(crate) goal: f64,
    /// What the worst body must not fall below.
    pub(crate) floor: f64,
}

pub(crate) const COMPARISONS: &[Comparison] = &[
    Comparison { ours: "raddle random", theirs: "shuttle random", goal: 20.0, floor: 10.0 },
    Comparison { ours: "raddle pct", theirs: "shuttle pct", goal: 20.0, floor: 10.0 },
    Comparison { ours: "raddle odpor", theirs: "loom", goal: 20.0, floor: 10.0 },
    Comparison { ours: "raddle odpor", theirs: "loom bound 3", goal: 20.0, floor: 10.0 },
    Comparison { ours: "raddle random", theirs: "loom", goal: 40.0, floor: 20.0 },
    Comparison { ours: "raddle random", theirs: "loom bound 3", goal: 40.0, floor: 20.0 },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::{self, EXECUTIONS};
    use std::sync::atomic::Ordering;

    /// One test for all, since they share the counter.
    #[test]
    fn every_contender_executes_every_body_as_often_as_asked() {
        for body in bodies::all() {
            for contender in CONTENDERS {
                let before = EXECUTIONS.load(Ordering::Relaxed);
                (contender.run)(body, 3);
                let executions = EXECUTIONS.load(Ordering::Relaxed) - before;
                assert_eq!(executions, 3, "{} on {body}", contender.name);
            }
        }
    }
}
