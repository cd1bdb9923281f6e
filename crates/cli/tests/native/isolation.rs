//! Runs in one process, by calling main again, beside runs in copies of it.

use crate::support::{build, ended, files, raddle, run};
use serde_json::Value;
use std::path::Path;

/// What both ways must agree on.
fn essence(json: &Value) -> Vec<Value> {
    ["runs", "steps", "distinct_partial_orders", "failing_runs"].map(|key| json[key].clone()).to_vec()
}

#[test]
fn a_program_that_begins_anew_has_the_same_runs_in_one_process() {
    let program = build("again.c");
    let outcome = |isolation: &str, jobs: &str| {
        let options = ["--isolation", isolation, "--jobs", jobs, "--runs", "1200"];
        let (ended, _) = run(&program, &options);
        assert_eq!(ended.code, Some(0), "{isolation}: {}{}", ended.stdout, ended.stderr);
        essence(&ended.json())
    };
    let forked = outcome("fork", "1");
    assert!(forked[2].as_u64() > Some(10), "there is little to tell apart: {forked:?}");
    assert_eq!(outcome("in-process", "1"), forked);
    assert_eq!(outcome("in-process", "2"), forked);
}

#[test]
fn a_program_that_remembers_is_found_out() {
    let (ended, _) = run(&build("mindful.c"), &["--isolation", "in-process", "--runs", "2500"]);
    assert_eq!(ended.kinds(), ["nondeterminism"], "{}", ended.stdout);
    assert_eq!(ended.code, Some(1));
    assert!(ended.json()["runs"].as_u64() <= Some(1_001), "{}", ended.stdout);
    let (ended, _) = run(&build("mindful.c"), &["--runs", "1200"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
}

#[test]
fn failures_of_a_function_in_place_of_main_are_found_and_replayed() {
    let found = |isolation: &str| {
        let options = ["--isolation", isolation, "--entry", "check", "--runs", "400", "--stop-after", "0"];
        let (campaign, out) = run(&build("entry.c"), &options);
        assert!(campaign.kinds().iter().any(|kind| kind == "assertion"), "{}", campaign.stdout);
        assert_eq!(campaign.code, Some(1), "{}", campaign.stderr);
        for file in files(out.path()) {
            let mut command = raddle();
            command.args(["replay", "--format", "json"]).arg(&file);
            let replayed = ended(&command.output().expect("the command starts"));
            assert_eq!(replayed.json()["identical"], true, "{}: {}", file.display(), replayed.stdout);
        }
        (campaign.kinds(), essence(&campaign.json()))
    };
    assert_eq!(found("in-process"), found("fork"));
}

#[test]
fn a_function_that_is_not_there_is_named() {
    let (refused, _) = run(&build("entry.c"), &["--entry", "nothing_of_the_kind"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("has no function `nothing_of_the_kind`"), "{}", refused.stderr);
}

/// What came of a program that ends in some way.
fn end_of(program: &Path, how: &str, isolation: &str) -> (Vec<Value>, Vec<String>) {
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut command = raddle();
    command.args(["run", "--isolation", isolation, "--runs", "8", "--stop-after", "0", "--hang-ms", "300"]);
    command.args(["--format", "json", "--time", "60", "--out"]).arg(out.path()).arg(program).arg(how);
    let campaign = ended(&command.output().expect("the command starts"));
    (essence(&campaign.json()), campaign.kinds())
}

#[test]
fn every_end_is_the_same_in_one_process() {
    let program = build("ends.c");
    for how in ["exit", "_exit", "abort", "kill", "null", "stack", "spin", "fork", "copy", "orphan"] {
        let [apart, together] = ["fork", "in-process"].map(|isolation| end_of(&program, how, isolation));
        assert_eq!(apart, together, "{how}");
        assert_eq!(apart.0[0], 8, "{how}");
    }
}
