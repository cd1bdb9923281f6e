//! Signals that a program sends itself: a handler runs at the same place in all runs of a plan.

use crate::support::{build, run_with};
use std::collections::BTreeSet;

/// What a thread does while it is sent a signal, and who is sent it.
const DOES: [&[&str]; 8] = [
    &["atomic"],
    &["exchange"],
    &["mutex"],
    &["plain"],
    &["semaphore"],
    &["pipe"],
    &["anybody", "atomic"],
    &["anybody", "mutex"],
];

/// The results of all runs: each is a failure, which is recorded and compared.
fn results(arguments: &[&str], options: &[&str]) -> BTreeSet<String> {
    let options = [options, &["--stop-after", "0", "--races", "off"]].concat();
    let (ended, _out) = run_with(&build("handled.c"), &options, arguments);
    let json = ended.json();
    let failures = json["failures"].as_array().unwrap_or_else(|| panic!("{}", ended.stderr));
    let message = |failure: &serde_json::Value| failure["message"].as_str().expect("a message").to_owned();
    failures.iter().map(|failure| message(failure)).collect()
}

/// What one says of itself, for these numbers.
fn said(numbers: &[u32]) -> BTreeSet<String> {
    numbers.iter().map(|number| format!("assertion `!\"{number}\"` failed in tell")).collect()
}

#[test]
fn a_handler_runs_where_it_has_run_in_all_runs_of_a_plan() {
    for arguments in DOES {
        for points in ["sync", "all"] {
            for way in [
                &["--strategy", "random"][..],
                &["--strategy", "pct"],
                &["--strategy", "pos"],
                &["--strategy", "walks"],
                &["--strategy", "random", "--isolation", "fork"],
                &["--strategy", "random", "--backend", "threads"],
            ] {
                let way = [way, &["--points", points, "--runs", "200"]].concat();
                let results = results(arguments, &way);
                assert!(results.is_subset(&said(&[4, 5, 7, 9])), "{arguments:?} {way:?}: {results:?}");
            }
        }
    }
}

#[test]
fn a_handler_runs_before_or_after_each_operation() {
    for (arguments, numbers) in [
        // What it has done is lost where the other half of an addition comes after it. Too late is never.
        (&["atomic"][..], &[4, 5, 7, 9][..]),
        (&["anybody", "atomic"], &[5, 4, 7, 9]),
        (&["exchange"], &[4, 5, 7, 9]),
        (&["mutex"], &[4, 5, 7, 9]),
    ] {
        for strategy in ["dfs", "random"] {
            let results = results(arguments, &["--strategy", strategy, "--runs", "2000"]);
            assert_eq!(results, said(numbers), "{arguments:?} {strategy}");
        }
    }
}
