//! What the tests of the std-shaped types share.

use raddle_model::Tail;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// Runs of a test that looks at all of them.
pub(crate) const RUNS: u64 = 1000;

/// Every one of many runs ends as it should.
pub(crate) fn passes(body: impl Fn() + Send + Sync + 'static) {
    raddle::probe(RUNS, Tail::Random, body);
}

/// What the body gave in many runs.
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
pub(crate) fn failure_of(body: impl Fn() + Send + Sync + 'static) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| passes(body))).expect_err("no run failed");
    panic.downcast_ref::<String>().expect("a failure is told in words").clone()
}

/// Whether a failure is a deadlock.
#[track_caller]
pub(crate) fn assert_deadlock(failure: &str) {
    assert!(failure.contains("kind: Deadlock"), "{failure}");
}
