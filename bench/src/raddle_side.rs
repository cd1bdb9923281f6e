//! Raddle: its `random`, its `pct` and its `odpor`, as a user calls them, the fingerprint of every run included.

use crate::bodies::{Body, EXECUTIONS, define_execute};
use std::sync::atomic::Ordering;
use std::time::Duration;

define_execute!(raddle);

pub(crate) fn random(body: Body, executions: u64) {
    check("random", body, executions);
}

pub(crate) fn pct(body: Body, executions: u64) {
    check("pct", body, executions);
}

/// A search that ends earlier is started again, as loom's is.
pub(crate) fn odpor(body: Body, executions: u64) {
    let end = EXECUTIONS.load(Ordering::Relaxed) + executions;
    loop {
        let left = end.saturating_sub(EXECUTIONS.load(Ordering::Relaxed));
        if left == 0 {
            return;
        }
        let check = raddle::Check::new().strategy("odpor").runs(left).time(Duration::MAX);
        check.explore(move || execute(body)).expect("there is something to explore");
    }
}

fn check(strategy: &str, body: Body, executions: u64) {
    raddle::Check::new().strategy(strategy).runs(executions).run(move || execute(body));
}
