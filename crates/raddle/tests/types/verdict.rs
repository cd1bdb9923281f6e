//! How a body ends: always well, or with which failure.

use raddle::{Check, Error};

fn check(runs: u64) -> Check {
    let out = std::env::temp_dir().join(format!("raddle-test-verdict-{}", std::process::id()));
    Check::new().runs(runs).out(out)
}

/// Runs `body` often under random schedules; no run may fail.
#[track_caller]
pub(crate) fn passes(body: impl Fn() + Send + Sync + 'static) {
    passes_runs(300, body);
}

/// The same, this often.
#[track_caller]
pub(crate) fn passes_runs(runs: u64, body: impl Fn() + Send + Sync + 'static) {
    match check(runs).explore(body) {
        Ok(report) => assert!(!report.failed(), "{}", report.text()),
        // One task is enough for many of these tests.
        Err(error) => assert_eq!(error, Error::NotControlled),
    }
}

/// Kind and message of the first failure of `body` under random schedules.
#[track_caller]
pub(crate) fn failure_of(body: impl Fn() + Send + Sync + 'static) -> (String, String) {
    let report = check(2_000).explore(body).unwrap();
    let found = report.failures().first().expect("no run failed");
    (found.kind().to_owned(), found.message().to_owned())
}
