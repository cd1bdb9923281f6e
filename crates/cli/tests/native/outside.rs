//! What comes from outside: from processes that the program has made, and from timers. Who waits for that is in no deadlock; who
//! waits when nothing can come any more is.

use crate::support::{Ended, build, run_with};

fn run(what: &[&str], isolation: &str, runs: &str) -> Ended {
    let options = ["--isolation", isolation, "--runs", runs, "--hang-ms", "3000", "--expect-exit", "0"];
    let options = [&options[..], &["--stop-after", "0", "--races", "off"]].concat();
    run_with(&build("outside.c"), &options, what).0
}

/// From a process: what it writes, its end, what its own child writes when it is no longer there itself.
const CHILDREN: &[&str] = &["read", "end", "socket", "poll", "common", "spawn", "grandchild"];
/// From a timer that is a file.
const FILES: &[&str] = &["timer", "select", "epoll"];
/// From a timer or a process by a signal, or by a thread.
const SIGNALS: &[&str] = &["handler", "pause", "sigwait", "thread", "died"];

fn is_waited_for(names: &[&str]) {
    let mut wrong = Vec::new();
    for name in names {
        for isolation in ["fork", "reset"] {
            let ended = run(&[name], isolation, "10");
            if ended.code != Some(0) {
                wrong.push(format!("{name} {isolation}: {}{}", ended.stdout, ended.stderr));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_a_deadlock_without(names: &[&str]) {
    let mut wrong = Vec::new();
    for name in names {
        for isolation in ["fork", "reset"] {
            let ended = run(&[name, "not"], isolation, "5");
            if ended.kinds() != ["deadlock"] {
                wrong.push(format!("{name} {isolation}: {}{}", ended.stdout, ended.stderr));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_process_does_is_waited_for() {
    is_waited_for(CHILDREN);
}

#[test]
fn a_process_that_is_gone_does_nothing() {
    let waits: Vec<&str> = CHILDREN.iter().copied().filter(|name| *name != "poll").collect();
    is_a_deadlock_without(&waits);
    let ended = run(&["poll", "not"], "fork", "5");
    assert_eq!(ended.code, Some(0), "the time is over: {}{}", ended.stdout, ended.stderr);
}

#[test]
fn timers_that_are_files_are_waited_for() {
    is_waited_for(FILES);
    is_a_deadlock_without(FILES);
}

#[test]
fn signals_of_timers_and_of_ended_processes_are_waited_for() {
    is_waited_for(SIGNALS);
    is_a_deadlock_without(SIGNALS);
}

#[test]
fn a_process_that_does_nothing_is_waited_for_until_that_is_a_hang() {
    for isolation in ["fork", "reset"] {
        let options = ["--isolation", isolation, "--runs", "1", "--hang-ms", "500"];
        let ended = run_with(&build("outside.c"), &options, &["stays"]).0;
        assert_eq!(ended.kinds(), ["hang"], "{isolation}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains("nothing comes from outside for 500 ms"), "{}", ended.stdout);
    }
}

#[test]
fn searches_wait_too_and_say_so() {
    for strategy in ["odpor", "dpor"] {
        for what in ["read", "timer"] {
            let options = ["--strategy", strategy, "--hang-ms", "3000", "--expect-exit", "0"];
            let ended = run_with(&build("outside.c"), &options, &[what]).0;
            assert_eq!(ended.code, Some(0), "{strategy} {what}: {}{}", ended.stdout, ended.stderr);
            let within = ended.json()["exhausted_within"].to_string();
            assert!(within.contains("but for the order of"), "{strategy} {what}: {}", ended.stdout);
        }
    }
}
