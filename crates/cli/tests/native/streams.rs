//! Connections of a program with itself are done without the kernel where runs are repeated. Whatever is done with them, it
//! shows nothing that runs in processes of their own, where the kernel does everything, do not show.

use crate::support::{build, ended, raddle};
use std::path::Path;

/// What is done besides sending and receiving; see `c/streams.c`.
const ALL: std::ops::RangeInclusive<u32> = 0..=43;

/// The same for pairs that are made at once; see `c/pairs.c`.
const PAIRS: std::ops::RangeInclusive<u32> = 0..=43;
/// What is done with pairs that needs the kernel in no run: the start is moved once, and nobody has to begin again.
const WITHOUT_KERNEL: [u32; 15] = [0, 1, 2, 3, 4, 5, 6, 16, 17, 30, 31, 35, 38, 41, 42];

fn campaign(program: &Path, isolation: &str, what: &[&str]) -> serde_json::Value {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut command = raddle();
    command.args(["run", "--isolation", isolation, "--runs", "40", "--stop-after", "0", "--format", "json"]);
    command.args(["--time", "60", "--out"]).arg(directory.path()).arg(program).args(what);
    let ended = ended(&command.output().expect("the command starts"));
    assert!(matches!(ended.code, Some(0 | 1)), "{what:?}, {isolation}: {}", ended.stderr);
    ended.json()
}

/// What repeated runs show, which is what others do.
fn same(program: &Path, what: &[&str]) -> serde_json::Value {
    let [fork, reset] = ["fork-checked", "reset-checked"].map(|isolation| campaign(program, isolation, what));
    for field in ["runs", "steps", "failing_runs", "distinct_partial_orders", "runs_digest", "warnings"] {
        assert_eq!(fork[field], reset[field], "{what:?}: {field}");
    }
    assert_eq!(reset["isolation"]["name"], "reset", "{what:?}");
    reset
}

/// Every third, so that three tests share the work.
fn compare(from: u32) {
    let program = build("streams.c");
    for what in ALL.skip(from as usize).step_by(3) {
        same(&program, &[&what.to_string()]);
    }
}

fn compare_pairs(when: &str) {
    let program = build("pairs.c");
    for what in PAIRS {
        let reset = same(&program, &[&what.to_string(), when]);
        if WITHOUT_KERNEL.contains(&what) {
            assert_eq!(reset["isolation"]["moved"], 1, "{what} {when}: {reset}");
            assert_eq!(
                reset["isolation"]["alone"].as_object().map(serde_json::Map::len),
                Some(0),
                "{what} {when}"
            );
        }
    }
}

#[test]
fn connections_without_the_kernel_are_like_those_with_it() {
    compare(0);
}

#[test]
fn connections_without_the_kernel_are_like_those_with_it_too() {
    compare(1);
}

#[test]
fn connections_without_the_kernel_are_like_those_with_it_as_well() {
    compare(2);
}

#[test]
fn pairs_that_are_there_when_runs_begin_are_like_those_of_the_kernel() {
    compare_pairs("before");
}

#[test]
fn pairs_that_are_made_in_a_run_are_like_those_of_the_kernel() {
    compare_pairs("inside");
}
