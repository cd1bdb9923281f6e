//! Runs that begin at the first choice of another are what they would be had they begun before main, whatever main has
//! done by then; and where that could show, they do begin before main.

use crate::support::{Ended, build, ended, raddle};
use std::fs::File;
use std::io::Write;
use std::path::Path;

fn campaign(program: &Path, isolation: &str, strategy: &str, runs: &str, more: &[&str]) -> Ended {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let input = directory.path().join("input");
    File::create(&input).expect("a file").write_all(b"one two three").expect("a file that can be written");
    let mut command = raddle();
    command.args([
        "run",
        "--isolation",
        isolation,
        "--strategy",
        strategy,
        "--runs",
        runs,
        "--stop-after",
        "0",
    ]);
    command.args(["--format", "json", "--time", "60", "--out"]).arg(directory.path()).args(more).arg(program);
    ended(&command.stdin(File::open(&input).expect("a file")).output().expect("the command starts"))
}

/// Compares with runs in processes of their own. How often the start was moved, and for how many calls runs had
/// processes of their own.
fn compare(name: &str, strategy: &str, isolations: [&str; 2]) -> (u64, usize) {
    let program = build(name);
    let [fork, reset] = isolations.map(|isolation| {
        let ended = campaign(&program, isolation, strategy, "40", &[]);
        assert!(matches!(ended.code, Some(0 | 1)), "{name}, {isolation}: {}", ended.stderr);
        ended.json()
    });
    for field in ["runs", "steps", "failing_runs", "distinct_partial_orders", "runs_digest", "warnings"] {
        assert_eq!(fork[field], reset[field], "{name}, {strategy}: {field}");
    }
    assert_eq!(fork["isolation"]["moved"], 0);
    let alone = reset["isolation"]["alone"].as_object().expect("an object").len();
    (reset["isolation"]["moved"].as_u64().expect("a number"), alone)
}

const CHECKED: [&str; 2] = ["fork-checked", "reset-checked"];

#[test]
fn runs_begin_at_the_first_choice_under_every_strategy_that_samples() {
    for strategy in ["random", "rapos", "pct", "pos", "walks", "coverage"] {
        let (moved, alone) = compare("late/much.c", strategy, CHECKED);
        assert!(moved > 0 && alone == 0, "{strategy}: moved {moved}, alone {alone}");
    }
    let (moved, _) = compare("late/much.c", "random", ["fork", "reset"]);
    assert!(moved > 0, "a start that saves much is moved");
}

#[test]
fn what_is_not_part_of_a_snapshot_keeps_the_start_where_it_is() {
    for name in ["late/open.c", "late/shared.c", "late/peculiar.c"] {
        assert_eq!(compare(name, "random", CHECKED), (0, 0), "{name}");
    }
}

#[test]
fn a_call_that_concerns_what_came_before_the_start_moves_it_back() {
    for name in ["late/unmap.c", "late/seek.c", "late/closes.c"] {
        let (moved, alone) = compare(name, "random", CHECKED);
        assert!(moved > 0 && alone == 0, "{name}: moved {moved}, alone {alone}");
    }
}

#[test]
fn descriptors_that_are_open_at_the_start_are_put_back() {
    for isolations in [CHECKED, ["fork", "reset"]] {
        let (moved, alone) = compare("late/kept.c", "random", isolations);
        // Without checks the start is moved only if that pays.
        assert!(alone == 0 && (moved > 0 || isolations != CHECKED), "moved {moved}, alone {alone}");
    }
}

#[test]
fn what_was_open_at_the_start_and_is_closed_is_open_again() {
    let (moved, alone) = compare("late/shuts.c", "random", CHECKED);
    assert!(moved > 0 && alone == 0, "moved {moved}, alone {alone}");
}

#[test]
fn what_is_closed_is_heard_of_no_more() {
    for name in ["late/misleads.c", "late/deaf.c"] {
        let (moved, alone) = compare(name, "random", CHECKED);
        assert!(moved > 0 && alone == 0, "{name}: moved {moved}, alone {alone}");
    }
}

/// The same for processes that are made at the first choice, and for some that are not.
fn compare_copies(name: &str, strategy: &str) -> u64 {
    let program = build(name);
    let [main, late] = ["off", "always"].map(|checkpoints| {
        let more = ["--checkpoints", checkpoints, "--hang-ms", "1000"];
        let ended = campaign(&program, "fork-checked", strategy, "40", &more);
        assert!(matches!(ended.code, Some(0 | 1)), "{name}, {checkpoints}: {}", ended.stderr);
        ended.json()
    });
    for field in ["runs", "steps", "failing_runs", "distinct_partial_orders", "runs_digest", "warnings"] {
        assert_eq!(main[field], late[field], "{name}, {strategy}: {field}");
    }
    assert_eq!(main["isolation"]["moved"], 0);
    late["isolation"]["moved"].as_u64().expect("a number")
}

#[test]
fn copies_are_made_at_the_first_choice_under_every_strategy_that_samples() {
    for strategy in ["random", "rapos", "pct", "pos", "walks", "coverage"] {
        assert!(compare_copies("late/quiet.c", strategy) > 0, "{strategy}");
    }
}

#[test]
fn what_copies_would_share_keeps_the_start_where_it_is() {
    // What is open, or written, or mapped by all.
    for name in [
        "late/open.c",
        "late/shared.c",
        "late/peculiar.c",
        "late/kept.c",
        "late/seek.c",
        "late/much.c",
        "late/hears.c",
    ] {
        assert_eq!(compare_copies(name, "random"), 0, "{name}");
    }
    for name in ["late/unmap.c", "late/closes.c"] {
        compare_copies(name, "random");
    }
}

#[test]
fn copies_that_are_made_late_hang_and_crash_like_others() {
    for name in ["late/hangs.c", "late/dies.c"] {
        assert!(compare_copies(name, "random") > 0, "{name}");
    }
}

#[test]
fn copies_are_made_late_once_that_pays() {
    let program = build("late/quiet.c");
    let count = |checkpoints: &str| {
        let json = campaign(&program, "fork", "random", "200", &["--checkpoints", checkpoints]).json();
        (json["isolation"]["moved"].as_u64().expect("a number"), json["runs_digest"].clone())
    };
    let (moved, digest) = count("auto");
    assert!(moved > 0, "the runs of a campaign begin late");
    assert_eq!(count("off"), (0, digest));
}

#[test]
fn pages_that_copies_are_given_beforehand_are_their_own() {
    assert!(compare_copies("late/pages.c", "random") > 0);
    let program = build("late/pages.c");
    let [late, early] = ["auto", "off"].map(|checkpoints| {
        let json = campaign(&program, "fork", "random", "700", &["--checkpoints", checkpoints]).json();
        assert_eq!(json["failing_runs"], 0, "{json}");
        json
    });
    assert!(late["isolation"]["moved"] != 0, "copies are made late: {late}");
    assert_eq!(late["runs_digest"], early["runs_digest"]);
}

#[test]
fn stacks_lie_where_they_lie_in_every_other_process() {
    let program = build("stacks.c");
    let mut digests = Vec::new();
    for (isolation, more) in [
        ("fork-checked", ["--checkpoints", "off"]),
        ("fork-checked", ["--checkpoints", "always"]),
        ("fork-checked", ["--backend", "threads"]),
        ("reset-checked", ["--checkpoints", "auto"]),
    ] {
        let json = campaign(&program, isolation, "random", "12", &more).json();
        assert_eq!(json["failing_runs"], 0, "{isolation}, {more:?}: {json}");
        assert!(more[1] != "always" || json["isolation"]["moved"] != 0, "copies are made late: {json}");
        digests.push(json["runs_digest"].clone());
    }
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}
