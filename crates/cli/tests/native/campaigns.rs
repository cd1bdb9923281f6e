//! Campaigns that do not go their way: interrupted, with failures that nobody wants to hear of, on stripped programs.

use crate::support::{Ended, build, build_source, ended, files, raddle, run};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts a campaign that would go on for an hour.
pub(crate) fn start(program: &Path, arguments: &[&str], options: &[&str], out: &Path) -> Child {
    let mut command = raddle();
    command.args(["run", "--format", "json", "--time", "3600", "--runs", "100000000", "--stop-after", "0"]);
    command.args(options).arg("--out").arg(out).arg(program).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
}

/// Waits for something that must come; a minute is for machines that do much else.
pub(crate) fn until(mut what: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn send(signal: &str, child: &Child) {
    // Every shell has this one built in.
    let line = format!("kill {signal} {}", child.id());
    let status = Command::new("sh").args(["-c", &line]).status().expect("a shell");
    assert!(status.success());
}

/// Processes of a program of which nobody else runs copies.
pub(crate) fn running(program: &Path) -> usize {
    let exe =
        |entry: std::io::Result<std::fs::DirEntry>| std::fs::read_link(entry.ok()?.path().join("exe")).ok();
    std::fs::read_dir("/proc").expect("processes").filter_map(exe).filter(|exe| exe == program).count()
}

/// A copy of a program that only this test runs.
pub(crate) fn own(name: &str, at: &Path) -> std::path::PathBuf {
    let to = at.join("program");
    std::fs::copy(build(name), &to).expect("a copy");
    to
}

pub(crate) fn end(child: Child, program: &Path) -> Ended {
    let ended = ended(&child.wait_with_output().expect("the command ends"));
    until(|| running(program) == 0);
    ended
}

#[test]
fn what_was_found_before_an_interrupt_is_written_and_told() {
    for signal in ["-INT", "-TERM"] {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let program = own("counter.c", place.path());
        let out = place.path().join("out");
        let child = start(&program, &[], &[], &out);
        // Failures are there before the campaign is over.
        until(|| out.is_dir() && files(&out).len() >= 3);
        send(signal, &child);
        let ended = end(child, &program);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert_eq!(ended.kinds(), ["assertion", "race", "race"]);
        let notes = ended.json()["notes"].to_string();
        assert!(notes.contains("interrupted after"), "{notes}");
    }
}

#[test]
fn an_interrupt_does_not_wait_for_a_run_that_hangs() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let program = own("ends.c", place.path());
    let child = start(&program, &["spin"], &["--hang-ms", "600000"], &place.path().join("out"));
    // Two servers and the run.
    until(|| running(&program) >= 3);
    std::thread::sleep(Duration::from_millis(300));
    send("-INT", &child);
    let ended = end(child, &program);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(ended.stderr.contains("interrupted"), "{}", ended.stderr);
}

#[test]
fn suppressed_failures_are_neither_told_nor_counted() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let file = place.path().join("known");
    let program = build("counter.c");
    let options = ["--runs", "300", "--suppressions", file.to_str().expect("a path")];
    for (lines, kinds, told) in [
        ("race:no_such_thing\n", &["assertion", "race", "race"][..], 0),
        ("# known\nrace:counter\n", &["assertion"], 1),
        ("race_top:counter.c$\nrace:*\n", &["assertion"], 1),
    ] {
        std::fs::write(&file, lines).expect("a file");
        let (ended, out) = run(&program, &options);
        assert_eq!(ended.kinds(), kinds, "{lines}");
        assert_eq!(files(out.path()).len(), kinds.len(), "{lines}");
        assert_eq!(ended.json()["notes"].as_array().expect("notes").len(), told, "{lines}");
    }
    // A suppressed deadlock is no reason to stop, nor to fail.
    std::fs::write(&file, "deadlock:*\n").expect("a file");
    let (ended, _out) = run(&build("deadlock.c"), &options);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    assert_eq!((ended.json()["runs"].as_u64(), ended.json()["failing_runs"].as_u64()), (Some(300), Some(0)));
}

#[test]
fn a_file_that_has_no_suppressions_is_refused_with_its_line() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let file = place.path().join("known");
    let name = file.to_str().expect("a path");
    for (lines, word) in [(Some("race:x\nnonsense\n"), "line 2"), (None, "cannot be read")] {
        let _ = std::fs::remove_file(&file);
        if let Some(lines) = lines {
            std::fs::write(&file, lines).expect("a file");
        }
        let (ended, _out) = run(&build("counter.c"), &["--suppressions", name]);
        assert_eq!(ended.code, Some(2), "{}", ended.stdout);
        assert!(ended.stderr.contains(word), "{}", ended.stderr);
    }
}

#[test]
fn a_stripped_program_is_controlled_all_the_same() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let program = own("counter.c", place.path());
    let stripped = Command::new("strip").arg(&program).status().expect("strip starts");
    assert!(stripped.success());
    let (ended, _out) = run(&program, &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert_eq!(ended.kinds(), ["assertion", "race", "race"]);
    assert!(ended.stderr.contains("stripped"), "{}", ended.stderr);
}

/// Many threads that each do many things, of which only the last ones matter.
const LONG: &str = "
#include <assert.h>
#include <pthread.h>
static _Atomic int turns, shared;
static void *work(void *me) {
    for (int i = 0; i < 300; i++) turns++;
    int seen = shared;
    for (int i = 0; i < 30; i++) turns++;
    shared = seen + 1;
    return me;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    assert(shared == 3);
}
";

#[test]
fn who_does_not_wait_for_the_smallest_gets_the_smallest_so_far() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let program = place.path().join("program");
    std::fs::copy(build_source("long.c", LONG), &program).expect("a copy");
    let (found, out) = run(&program, &["--runs", "100"]);
    assert_eq!(found.kinds(), ["assertion"]);
    let file = &files(out.path())[0];
    let smaller = |interrupted: bool| {
        let mut command = raddle();
        command.args(["minimize", "--format", "json"]).arg(file);
        let child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        if interrupted {
            // A server, and what it runs.
            until(|| running(&program) >= 2);
            send("-INT", &child);
        }
        let ended = end(child, &program);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        ended.json()
    };
    let early = smaller(true);
    let early_file = early["file"].as_str().expect("a path").to_owned();
    let mut replay = raddle();
    let again = ended(&replay.args(["replay", "--format", "json", &early_file]).output().expect("it runs"));
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    let whole = smaller(false);
    let preemptions = |of: &serde_json::Value| of["preemptions"].as_u64().expect("a number");
    assert!(preemptions(&whole) <= 2, "{whole}");
    assert!(preemptions(&early) >= preemptions(&whole), "{early} {whole}");
}
