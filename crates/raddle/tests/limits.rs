//! A check ends when its time is over, whatever the run does that it is at, and says so.

use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::{Check, Error, thread};
use std::time::Duration;

/// Ends only if main comes first, or never.
fn endless(never: bool) {
    let first = Arc::new(Mutex::new(0));
    let take = |of: &Mutex<u32>, me: u32| {
        let mut first = of.lock().unwrap();
        if *first == 0 {
            *first = me;
        }
        *first
    };
    let others = first.clone();
    let other = thread::spawn(move || {
        let rounds = AtomicUsize::new(0);
        while take(&others, 2) == 2 || never {
            // Somebody who changes something is not held back.
            rounds.fetch_add(1, Ordering::Relaxed);
        }
    });
    take(&first, 1);
    other.join().unwrap();
}

fn check(strategy: &str, jobs: usize) -> Check {
    let check = Check::new().strategy(strategy).jobs(jobs).runs(u64::MAX).steps_max(50_000_000);
    check.time(Duration::from_millis(300)).hang_ms(3_600_000)
}

#[test]
fn time_ends_a_run_that_does_not_end() {
    for (strategy, jobs) in [("random", 1), ("random", 2), ("dfs", 1), ("odpor", 1), ("odpor", 2)] {
        let report = match check(strategy, jobs).explore(|| endless(false)) {
            Ok(report) => report,
            // What a sampler has not told yet is lost with the run that it is at.
            Err(Error::NoTime(_)) if strategy == "random" => continue,
            Err(error) => panic!("{strategy}, {jobs}: {error}"),
        };
        let notes = report.notes().join("\n");
        assert!(notes.contains("cut off in the middle of a run"), "{strategy}, {jobs}: {}", report.text());
        assert!(!report.exhausted() && report.exhausted_within().is_none(), "{strategy}: {}", report.text());
        assert!(!report.failed() && report.runs() > 0, "{strategy}: {}", report.text());
    }
}

#[test]
fn a_check_without_a_run_that_ends_is_no_pass() {
    for strategy in ["random", "odpor"] {
        let error = check(strategy, 1).explore(|| endless(true)).expect_err("no run ends");
        assert_eq!(error, Error::NoTime(Duration::from_millis(300)), "{strategy}");
        assert!(error.to_string().contains("no run has ended within 0.3 s"), "{error}");
    }
}
