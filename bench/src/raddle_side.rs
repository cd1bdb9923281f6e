//! Raddle: its `random` and its `pct`, as a user calls them, the fingerprint of every run included.

use crate::bodies::{Body, define_execute};

define_execute!(raddle);

pub(crate) fn random(body: Body, executions: u64) {
    check("random", body, executions);
}

pub(crate) fn pct(body: Body, executions: u64) {
    check("pct", body, executions);
}

fn check(strategy: &str, body: Body, executions: u64) {
    raddle::Check::new().strategy(strategy).runs(executions).run(move || execute(body));
}
