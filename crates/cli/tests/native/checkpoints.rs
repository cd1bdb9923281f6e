//! Runs of a search that go on from a checkpoint are what they would be from the beginning: what happened in them, what they
//! wrote, how they ended, and what the search makes of it.

use crate::support::{Ended, build, ended, raddle, run_with};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What must be the same whatever is gone on from.
const SAME: [&str; 9] = [
    "runs",
    "steps",
    "distinct_partial_orders",
    "exhausted",
    "exhausted_within",
    "failing_runs",
    "warnings",
    "runs_digest",
    "hapset",
];

pub(crate) fn search(program: &Path, how: [&str; 3], runs: &str, arguments: &[&str]) -> serde_json::Value {
    let [strategy, isolation, checkpoints] = how;
    let options = [
        ["--strategy", strategy],
        ["--isolation", isolation],
        ["--checkpoints", checkpoints],
        ["--runs", runs],
        ["--stop-after", "0"],
        ["--hang-ms", "500"],
        ["--steps-max", "3000"],
    ];
    let (ended, _out) = run_with(program, &options.concat(), arguments);
    assert!(matches!(ended.code, Some(0 | 1)), "{program:?}, {how:?}: {}{}", ended.stdout, ended.stderr);
    ended.json()
}

fn kinds(json: &serde_json::Value) -> Vec<(&str, u64)> {
    let failures = json["failures"].as_array().expect("a list").iter();
    failures
        .map(|found| (found["kind"].as_str().expect("a kind"), found["run"].as_u64().expect("a number")))
        .collect()
}

/// How many runs went on from checkpoints, and how many events they did not execute again.
pub(crate) fn saved(json: &serde_json::Value) -> [u64; 2] {
    ["checkpoint_hits", "checkpoint_events"].map(|field| json[field].as_u64().expect("a number"))
}

/// Compares a search without checkpoints, in processes of their own, with the same with as many as possible.
pub(crate) fn compare(name: &str, strategy: &str, runs: &str, arguments: &[&str]) -> u64 {
    let program = build(name);
    let plain = search(&program, [strategy, "fork-checked", "off"], runs, arguments);
    assert_eq!(saved(&plain), [0, 0], "{name}");
    let mut hits = 0;
    for how in [["reset-checked", "off"], ["reset-checked", "always"], ["fork-checked", "always"]] {
        let found = search(&program, [strategy, how[0], how[1]], runs, arguments);
        for field in SAME {
            assert_eq!(found[field], plain[field], "{name}, {strategy}, {how:?}: {field}");
        }
        assert_eq!(kinds(&found), kinds(&plain), "{name}, {strategy}, {how:?}");
        hits += saved(&found)[0];
    }
    hits
}

#[test]
fn whatever_a_program_does_it_does_from_a_checkpoint_too() {
    for name in ["increments.c", "deadlock.c", "sections.c", "signals.c"] {
        for strategy in ["odpor", "dfs", "dpor", "pcb", "hapset"] {
            assert!(compare(name, strategy, "15", &[]) > 0, "{name}, {strategy}");
        }
    }
    assert!(compare("sections.c", "random-dfs", "15", &[]) > 0);
}

#[test]
fn what_a_checkpoint_cannot_keep_is_run_from_the_beginning() {
    for name in ["open", "seek", "shared", "unmap"] {
        compare(&format!("late/{name}.c"), "odpor", "8", &[]);
    }
}

#[test]
fn what_came_before_the_first_choice_happens_once() {
    assert!(compare("prefix.c", "odpor", "12", &["40"]) > 3);
    let program = build("prefix.c");
    let found = search(&program, ["odpor", "reset", "auto"], "30", &["700"]);
    let [hits, events] = saved(&found);
    // None is kept of which the program has unmapped something; when they are taken hangs on time.
    assert!(hits > 20 && events > hits * 1400, "{found}");
}

#[test]
fn harm_after_a_checkpoint_is_told_as_ever() {
    for name in
        ["heap", "wipe", "abort_in_malloc", "kill_itself", "directory", "child", "block_signals", "many_maps"]
    {
        compare(&format!("faults/{name}.c"), "odpor", "6", &[]);
    }
    let found = search(&build("faults/hang.c"), ["dfs", "reset", "always"], "4", &[]);
    let plain = search(&build("faults/hang.c"), ["dfs", "fork", "off"], "4", &[]);
    assert_eq!((&found["runs"], kinds(&found)), (&plain["runs"], kinds(&plain)));
    assert_eq!(kinds(&found)[0].0, "hang");
}

/// The processes that run this program, other than those that others made directly.
fn grandchildren(program: &Path, of: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("processes").filter_map(|entry| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let parent: u32 = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
        let file: PathBuf = std::fs::read_link(format!("/proc/{id}/exe")).ok()?;
        (file == program).then_some((id, parent))
    });
    let all: Vec<(u32, u32)> = all.collect();
    let servers: Vec<u32> = all.iter().filter(|(_, parent)| *parent == of).map(|(id, _)| *id).collect();
    all.iter().filter(|(_, parent)| servers.contains(parent)).map(|(id, _)| *id).collect()
}

fn wait_for(child: std::process::Child) -> Ended {
    ended(&child.wait_with_output().expect("the command ends"))
}

#[test]
fn a_process_that_is_killed_takes_no_run_with_it() {
    // In one process runs go on with what was kept; or from processes that are left behind, which then are no more.
    for isolation in ["reset", "fork"] {
        kill_those_who_live_long(
            ["--isolation", isolation, "--strategy", "odpor", "--runs", "400"],
            "20000",
            1,
        );
    }
    // Samples are told of many at a time.
    kill_those_who_live_long(["--isolation", "reset", "--strategy", "random", "--runs", "40000"], "20", 1000);
}

/// Kills whoever is still there when more than so many runs are done: that is one who repeats them, or waits to. Others do a
/// single one, and are not to be disturbed.
fn kill_those_who_live_long(how: [&str; 6], length: &str, many: usize) {
    let program = build("prefix.c");
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let log = |name: &str| out.path().join(name);
    let command = |name: &str| {
        let mut command = raddle();
        command.arg("run").args(how).args(["--time", "60", "--format", "json", "--out"]);
        command.arg(out.path()).arg("--log").arg(log(name)).arg(&program).arg(length);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let undisturbed = wait_for(command("undisturbed").spawn().expect("the command starts")).json();
    let mut disturbed = command("disturbed").spawn().expect("the command starts");
    let done = || std::fs::read_to_string(log("disturbed")).map_or(0, |text| text.lines().count());
    let (mut old, mut before, mut killed) = (Vec::new(), 0, 0);
    while disturbed.try_wait().expect("the command").is_none() {
        let (now, runs) = (grandchildren(&program, disturbed.id()), done());
        if runs > before + many {
            if let Some(id) = now.iter().find(|id| old.contains(*id)).filter(|_| killed < 8) {
                killed += 1;
                let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
            }
            (old, before) = (now, runs);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let found = wait_for(disturbed).json();
    assert!(killed > 0, "{how:?}");
    for field in SAME {
        assert_eq!(found[field], undisturbed[field], "{how:?}: {field}");
    }
}
