//! What the tests of the std-shaped types share.

use raddle::{Check, Report, thread};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Runs of a test that looks at all of them.
const RUNS: u64 = 1000;

fn explore(body: impl Fn() + Send + Sync + 'static) -> Report {
    explore_by(Check::new(), body)
}

/// Many runs under settings of one's own.
pub(crate) fn explore_by(check: Check, body: impl Fn() + Send + Sync + 'static) -> Report {
    let out = std::env::temp_dir().join(format!("raddle-test-sync-{}", std::process::id()));
    let check = check.runs(RUNS).out(out);
    // A body in which nothing can be chosen is an error, and some of these need no second task.
    let explored = check.explore(move || {
        let other = thread::spawn(|| ());
        thread::yield_now();
        other.join().unwrap();
        body();
    });
    explored.unwrap()
}

/// Every one of many runs ends as it should.
#[track_caller]
pub(crate) fn passes(body: impl Fn() + Send + Sync + 'static) {
    let report = explore(body);
    assert!(report.failures().is_empty(), "{}", report.text());
}

/// What the body gave in many runs.
#[track_caller]
pub(crate) fn outcomes<T: Ord + Send + 'static>(body: impl Fn() -> T + Send + Sync + 'static) -> BTreeSet<T> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let into = seen.clone();
    passes(move || {
        let outcome = body();
        into.lock().unwrap().insert(outcome);
    });
    std::mem::take(&mut *seen.lock().unwrap())
}

/// The failure that one of many runs ends with: its kind and its message.
#[track_caller]
pub(crate) fn failure_of(body: impl Fn() + Send + Sync + 'static) -> String {
    let report = explore(body);
    let found = report.failures().first().unwrap_or_else(|| panic!("no run failed: {}", report.text()));
    format!("{}: {}", found.kind(), found.message())
}

/// Whether a failure is a deadlock.
#[track_caller]
pub(crate) fn assert_deadlock(failure: &str) {
    assert!(failure.starts_with("deadlock: "), "{failure}");
}
