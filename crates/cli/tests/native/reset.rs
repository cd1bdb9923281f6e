//! Runs that are repeated in one process are what they would be in processes of their own, whatever the program does
//! to itself: verdicts, traces and output are compared, and all memory after each run.

use crate::support::{Ended, build, run};
use std::path::Path;

fn campaign(program: &Path, isolation: &str, runs: &str) -> Ended {
    let options = ["--isolation", isolation, "--runs", runs, "--stop-after", "0", "--hang-ms", "2000"];
    run(program, &options).0
}

/// What must be the same, and the calls because of which runs had processes of their own.
fn compare(name: &str, runs: &str) -> Vec<String> {
    let program = build(name);
    let [fork, reset] = ["fork-checked", "reset-checked"].map(|isolation| {
        let ended = campaign(&program, isolation, runs);
        assert!(matches!(ended.code, Some(0 | 1)), "{name}, {isolation}: {}", ended.stderr);
        ended.json()
    });
    for field in ["runs", "steps", "failing_runs", "distinct_partial_orders", "runs_digest"] {
        assert_eq!(fork[field], reset[field], "{name}: {field}");
    }
    assert_eq!(fork["isolation"]["alone"].as_object().map(serde_json::Map::len), Some(0));
    assert_eq!(reset["isolation"]["why"], serde_json::Value::Null, "{name}");
    let alone = reset["isolation"]["alone"].as_object().expect("an object").clone();
    alone.into_iter().map(|(call, _)| call).collect()
}

#[test]
fn what_a_program_does_to_itself_does_not_reach_the_next_run() {
    let undone: &[&str] = &[];
    let runs = raddle_tiers::size("reset_fault_runs").to_string();
    for (name, alone) in [
        ("heap", None),
        ("foreign", None),
        ("close_all", Some(&["close"][..])),
        ("block_signals", Some(undone)),
        ("exhaust", Some(&["prlimit64"])),
        ("many_maps", Some(undone)),
        ("own_handler", Some(undone)),
        ("jump_out", Some(undone)),
        ("abort_in_malloc", None),
        ("kill_itself", Some(undone)),
        ("wipe", None),
        ("child", Some(&["clone"])),
        ("directory", Some(&["chdir"])),
        ("write_file", Some(&["openat"])),
        ("bind_file", Some(&["bind"])),
        ("deep", None),
        ("protect", Some(&["mprotect"])),
        ("looks", Some(undone)),
    ] {
        let calls = compare(&format!("faults/{name}.c"), &runs);
        if let Some(alone) = alone {
            assert_eq!(calls, alone, "{name}");
        }
    }
}

#[test]
fn a_program_that_can_be_reset_is_reset_in_every_run() {
    // Not `counter.c`: it prints addresses.
    for name in ["increments.c", "deadlock.c", "sections.c"] {
        assert_eq!(compare(name, "300"), [] as [&str; 0], "{name}");
    }
}

#[test]
fn the_summary_says_which_runs_were_not_reset_and_why() {
    let ended = campaign(&build("faults/directory.c"), "reset", "50");
    let json = ended.json();
    assert_eq!(json["isolation"]["name"], "reset");
    let alone = json["isolation"]["alone"]["chdir"].as_u64().expect("a number");
    assert!((5..45).contains(&alone), "about half of the runs: {alone}");
}

#[test]
fn a_run_that_hangs_is_one_verdict_and_the_next_one_is_right() {
    let program = build("faults/hang.c");
    let [reset, fork] = ["reset", "fork"].map(|isolation| {
        let options = ["--isolation", isolation, "--runs", "8", "--stop-after", "0", "--hang-ms", "300"];
        run(&program, &options).0.json()
    });
    assert_eq!(reset["failing_runs"], fork["failing_runs"]);
    assert_eq!(reset["failures"][0]["kind"], "hang");
    assert_eq!(reset["runs"], 8);
}

/// What a run has written for the first time is not put back before the next scan has shown it, and until then runs may
/// go astray. Nobody hears of those, and nobody waits for them.
#[test]
fn runs_that_were_disturbed_are_never_waited_for() {
    let program = build("faults/rare_page.c");
    let [reset, fork] = ["reset", "fork"].map(|isolation| campaign(&program, isolation, "600").json());
    for field in ["runs", "steps", "failing_runs", "distinct_partial_orders", "runs_digest"] {
        assert_eq!(reset[field], fork[field], "{field}");
    }
    assert_eq!(reset["failing_runs"], 0);
    assert_eq!(reset["isolation"]["alone"].as_object().map(serde_json::Map::len), Some(0));
}
