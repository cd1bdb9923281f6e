//! `raddle demo` and `raddle strategies`.

use crate::support::{file_in, run, scratch};
use raddle_subjects::{Expect, bug};

#[test]
fn every_demo_fails_with_its_kind_and_replays() {
    for program in bug::PROGRAMS {
        let Expect::Kind(kind) = program.expect else { panic!("{} has no kind", program.name) };
        let scratch = scratch();
        let found = run(scratch.path(), &["demo", program.name, "--format", "json"]).expect_code(1).json();
        assert_eq!(found["failures"][0]["kind"], kind, "{}: {found}", program.name);
        for field in [
            "schema",
            "program",
            "strategy",
            "seed",
            "runs",
            "steps",
            "distinct_partial_orders",
            "unseen_probability",
            "exhausted",
            "failing_runs",
            "seconds",
            "runs_per_second",
        ] {
            assert!(!found[field].is_null(), "{field}: {found}");
        }
        let file = file_in(&scratch.path().join("raddle-out"));
        let file = file.to_str().expect("text");
        let again =
            run(scratch.path(), &["replay", file, "--times", "2", "--format", "json"]).expect_code(1).json();
        assert_eq!(again["identical"], true, "{}: {again}", program.name);
    }
}

#[test]
fn a_seed_means_the_same_runs() {
    let scratch = scratch();
    let find = |seed: &str| {
        let found =
            run(scratch.path(), &["demo", "aba_stack", "--seed", seed, "--format", "json"]).expect_code(1);
        found.json()["failures"][0]["run"].as_u64().expect("a number")
    };
    assert_eq!(find("3"), find("3"));
    assert!((0..5).any(|seed| find(&seed.to_string()) != find("3")));
}

#[test]
fn finding_nothing_is_no_failure() {
    let scratch = scratch();
    // One run of this program under this seed is not enough.
    let ended = run(scratch.path(), &["demo", "aba_stack", "--runs", "1"]).expect_code(0);
    assert!(ended.out.contains("nothing was found"), "{ended:#?}");
}

#[test]
fn strategies_and_demos_are_listed() {
    let scratch = scratch();
    let text = run(scratch.path(), &["strategies"]).expect_code(0).out;
    let json = run(scratch.path(), &["strategies", "--format", "json"]).expect_code(0).json();
    let names: Vec<&str> =
        json["strategies"].as_array().expect("a list").iter().filter_map(|s| s["name"].as_str()).collect();
    assert_eq!(names, raddle_policy::strategies().iter().map(|known| known.name).collect::<Vec<_>>());
    assert!(names.iter().all(|name| text.contains(name)));
    let demos = run(scratch.path(), &["demo", "--list", "--format", "json"]).expect_code(0).json();
    assert_eq!(demos["programs"].as_array().expect("a list").len(), bug::PROGRAMS.len());
}
