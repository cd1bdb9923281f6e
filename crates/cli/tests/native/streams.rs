//! Connections of a program with itself are done without the kernel where runs are repeated. Whatever is done with them, it
//! shows nothing that runs in processes of their own, where the kernel does everything, do not show.

use crate::support::{build, ended, raddle};
use std::path::Path;

/// What is done besides sending and receiving; see `c/streams.c`.
const ALL: std::ops::RangeInclusive<u32> = 0..=39;

fn campaign(program: &Path, isolation: &str, what: u32) -> serde_json::Value {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut command = raddle();
    command.args(["run", "--isolation", isolation, "--runs", "40", "--stop-after", "0", "--format", "json"]);
    command.args(["--time", "60", "--out"]).arg(directory.path()).arg(program).arg(what.to_string());
    let ended = ended(&command.output().expect("the command starts"));
    assert!(matches!(ended.code, Some(0 | 1)), "{what}, {isolation}: {}", ended.stderr);
    ended.json()
}

/// Every third, so that three tests share the work.
fn compare(from: u32) {
    let program = build("streams.c");
    for what in ALL.skip(from as usize).step_by(3) {
        let [fork, reset] =
            ["fork-checked", "reset-checked"].map(|isolation| campaign(&program, isolation, what));
        for field in ["runs", "steps", "failing_runs", "distinct_partial_orders", "runs_digest", "warnings"] {
            assert_eq!(fork[field], reset[field], "{what}: {field}");
        }
        assert_eq!(reset["isolation"]["name"], "reset", "{what}");
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
