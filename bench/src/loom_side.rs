//! Loom: its search, measured by what one execution costs.
//!
//! Loom explores systematically and would not end on the larger bodies, so it is stopped after a number
//! of executions; where its search ends earlier, it is started again.
//!
//! It is measured in its default setting and with a bound on preemptions, as its documentation advises
//! for larger programs: the bound costs it about a third of its speed on the long bodies, so the default is
//! the harder rival.

use crate::bodies::{Body, EXECUTIONS, define_execute};
use loom::model::Builder;
use std::sync::atomic::Ordering;

/// Loom's documentation advises two or three.
const PREEMPTION_BOUND: usize = 3;

/// Enough for the largest body: 4 threads with 250 mutex sections, a few branches each.
const BRANCHES_MAX: usize = 20_000;

define_execute!(loom);

pub(crate) fn unbounded(body: Body, executions: u64) {
    search(body, executions, None);
}

pub(crate) fn bounded(body: Body, executions: u64) {
    search(body, executions, Some(PREEMPTION_BOUND));
}

fn search(body: Body, executions: u64, preemption_bound: Option<usize>) {
    let end = EXECUTIONS.load(Ordering::Relaxed) + executions;
    loop {
        let left = end.saturating_sub(EXECUTIONS.load(Ordering::Relaxed));
        if left == 0 {
            return;
        }
        // Loom looks at its limit only at each checkpoint, before an execution, and counts from one.
        let limit = usize::try_from(left).expect("a number of executions fits in memory") + 1;
        let mut builder = Builder::new();
        builder.max_branches = BRANCHES_MAX;
        builder.preemption_bound = preemption_bound;
        builder.checkpoint_interval = limit;
        builder.max_permutations = Some(limit);
        builder.check(move || execute(body));
    }
}
