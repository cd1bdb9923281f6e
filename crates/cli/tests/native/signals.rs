//! Signals that a program sends itself: a handler runs at the same place in all runs of a plan, and where nobody handles one
//! that ends the process it is a failure like any other.

use crate::support::{Ended, build, ended, files, raddle, run_with};
use std::collections::BTreeSet;

/// What a thread does while it is sent a signal, and who is sent it.
const DOES: [&[&str]; 8] = [
    &["atomic"],
    &["exchange"],
    &["mutex"],
    &["plain"],
    &["semaphore"],
    &["pipe"],
    &["anybody", "atomic"],
    &["anybody", "mutex"],
];

/// The results of all runs: each is a failure, which is recorded and compared.
fn results(arguments: &[&str], options: &[&str]) -> BTreeSet<String> {
    let options = [options, &["--stop-after", "0", "--races", "off"]].concat();
    let (ended, _out) = run_with(&build("handled.c"), &options, arguments);
    let json = ended.json();
    let failures = json["failures"].as_array().unwrap_or_else(|| panic!("{}", ended.stderr));
    let message = |failure: &serde_json::Value| failure["message"].as_str().expect("a message").to_owned();
    failures.iter().map(message).collect()
}

/// What one says of itself, for these numbers.
fn said(numbers: &[u32]) -> BTreeSet<String> {
    numbers.iter().map(|number| format!("assertion `!\"{number}\"` failed in tell")).collect()
}

#[test]
fn a_handler_runs_where_it_has_run_in_all_runs_of_a_plan() {
    for arguments in DOES {
        for points in ["sync", "all"] {
            for way in [
                &["--strategy", "random"][..],
                &["--strategy", "pct"],
                &["--strategy", "pos"],
                &["--strategy", "walks"],
                &["--strategy", "random", "--isolation", "fork"],
                &["--strategy", "random", "--backend", "threads"],
            ] {
                let way = [way, &["--points", points, "--runs", "200"]].concat();
                let results = results(arguments, &way);
                assert!(results.is_subset(&said(&[4, 5, 7, 9])), "{arguments:?} {way:?}: {results:?}");
            }
        }
    }
}

#[test]
fn a_handler_runs_before_or_after_each_operation() {
    for (arguments, numbers) in [
        // What it has done is lost where the other half of an addition comes after it. Too late is never.
        (&["atomic"][..], &[4, 5, 7, 9][..]),
        (&["anybody", "atomic"], &[5, 4, 7, 9]),
        (&["exchange"], &[4, 5, 7, 9]),
        (&["mutex"], &[4, 5, 7, 9]),
    ] {
        for strategy in ["dfs", "random"] {
            let results = results(arguments, &["--strategy", strategy, "--runs", "2000"]);
            assert_eq!(results, said(numbers), "{arguments:?} {strategy}");
        }
    }
}

/// The one failure that some runs show, and its file shown and replayed.
fn failure(how: &str, options: &[&str]) -> (Ended, serde_json::Value, String) {
    let (found, out) = run_with(&build("killed.c"), &[options, &["--races", "off"]].concat(), &[how]);
    let files = files(out.path());
    let [file] = &files[..] else { panic!("{how} {options:?}: {}{}", found.stdout, found.stderr) };
    let again = raddle().args(["replay", "--format", "json"]).arg(file).output().expect("the command starts");
    let shown = raddle().arg("show").arg(file).output().expect("the command starts");
    let smaller = raddle().args(["minimize", "--out"]).arg(out.path().join("smaller")).arg(file).output();
    assert!(smaller.expect("the command starts").status.code() == Some(1), "{how} {options:?}");
    (found, ended(&again).json(), ended(&shown).stdout)
}

#[test]
fn who_sends_itself_a_signal_that_nobody_handles_has_failed() {
    for (how, name) in [
        ("raise", "SIGTERM"),
        ("segv", "SIGSEGV"),
        ("kill", "SIGINT"),
        ("sure", "SIGKILL"),
        ("queue", "SIGUSR2"),
        ("thread", "SIGUSR1"),
        ("number", "SIGTERM"),
        ("call", "SIGTERM"),
        ("again", "SIGPIPE"),
        ("write", "SIGPIPE"),
        ("writev", "SIGPIPE"),
        ("send", "SIGPIPE"),
        ("sendmsg", "SIGPIPE"),
        ("stream", "SIGPIPE"),
    ] {
        for options in [
            &["--runs", "100"][..],
            &["--runs", "100", "--isolation", "fork"],
            &["--runs", "100", "--backend", "threads"],
            &["--strategy", "dfs"],
        ] {
            let (found, again, shown) = failure(how, options);
            let json = found.json();
            assert_eq!(found.kinds(), ["crash"], "{how} {options:?}: {}", found.stdout);
            assert_eq!(
                json["failures"][0]["message"],
                format!("main/0 is killed by {name}"),
                "{how} {options:?}"
            );
            assert_eq!(again["identical"], true, "{how} {options:?}: {again}");
            // In a stream it is libc that writes.
            assert!(how == "stream" || shown.contains(" ×"), "{how} {options:?}: {shown}");
            assert!(shown.contains("killed.c:"), "{how} {options:?}: {shown}");
        }
    }
}

#[test]
fn signals_that_end_nothing_do_not() {
    for how in ["ignored", "quietly", "spared"] {
        for isolation in ["reset", "fork"] {
            let options = ["--runs", "100", "--races", "off", "--isolation", isolation, "--expect-exit", "0"];
            let (ended, _out) = run_with(&build("killed.c"), &options, &[how]);
            assert_eq!(ended.code, Some(0), "{how} {isolation}: {}{}", ended.stdout, ended.stderr);
        }
    }
}
