//! Shuttle: its `random` and its `pct`, as its own `check_random` and `check_pct` set them up.
//!
//! Its default features are taken, so it keeps no vector clocks: the faster of its two builds.

use crate::bodies::{Body, define_execute};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

/// A fixed seed: every round does the same work.
const SEED: u64 = 0;

/// The number of ordering constraints of the bugs looked for, a usual choice.
pub(crate) const PCT_DEPTH: usize = 3;

define_execute!(shuttle);

pub(crate) fn random(body: Body, executions: u64) {
    let scheduler = RandomScheduler::new_from_seed(SEED, count(executions));
    Runner::new(scheduler, Config::new()).run(move || execute(body));
}

pub(crate) fn pct(body: Body, executions: u64) {
    let scheduler = PctScheduler::new_from_seed(SEED, PCT_DEPTH, count(executions));
    Runner::new(scheduler, Config::new()).run(move || execute(body));
}

fn count(executions: u64) -> usize {
    usize::try_from(executions).expect("a number of executions fits in memory")
}
