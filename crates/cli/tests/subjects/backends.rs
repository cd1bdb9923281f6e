//! Fibers and kernel threads that take turns give the same runs: verdicts, fingerprints, steps and what is written.

use crate::expectation::{bugs, mended};
use crate::{COMPILERS, campaign};

#[test]
fn kernel_threads_give_the_runs_that_fibers_give() {
    let mut wrong = Vec::new();
    for subject in bugs().into_iter().chain(mended()).filter(|subject| subject.later.is_none()) {
        let [fibers, threads] = ["fibers", "threads"].map(|backend| {
            // What is written is part of the digest.
            let options = ["--isolation", "fork-checked", "--backend", backend];
            let json = campaign(&subject, COMPILERS[0], "backend_runs", &options).0;
            assert_eq!(json["backend"], backend, "{}: {json}", subject.name);
            json
        });
        for field in ["runs", "steps", "failing_runs", "distinct_partial_orders", "runs_digest"] {
            if fibers[field].is_null() || fibers[field] != threads[field] {
                wrong.push(format!("{}: {field} {} and {}", subject.name, fibers[field], threads[field]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
