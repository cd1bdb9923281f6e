//! Where tasks may be switched: how many points there are by each choice, and that what turns out to be shared becomes
//! one.

use crate::support::{build, ended, raddle};

/// Steps and kinds of failures of a campaign.
fn run(points: &str, arguments: &[&str]) -> (u64, Vec<String>) {
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut command = raddle();
    command.args(["run", "--format", "json", "--races", "off", "--time", "120", "--runs", "300"]);
    command.args(["--points", points, "--out"]).arg(out.path()).arg(build("sharing.c")).args(arguments);
    let ended = ended(&command.output().expect("the command starts"));
    (ended.json()["steps"].as_u64().expect("a number"), ended.kinds())
}

#[test]
fn unshared_memory_has_no_points_and_protected_memory_has_some() {
    let steps = ["sync", "shared", "all"].map(|points| {
        let (steps, kinds) = run(points, &[]);
        assert_eq!(kinds, [] as [&str; 0], "{points}");
        steps
    });
    let [sync, shared, all] = steps;
    assert!(sync < shared && 5 * shared < all, "{steps:?}");
}

#[test]
fn what_turns_out_to_be_shared_becomes_a_point() {
    // Among all accesses as points the few that matter are hit too seldom for so many runs.
    for points in ["sync", "shared"] {
        assert_eq!(run(points, &["check"]).1, ["assertion"], "{points}");
    }
}
