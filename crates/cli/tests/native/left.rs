//! Processes that are left behind for others to go on from: never one that shares with them what the kernel keeps, never too
//! many, and none that is still there when nobody needs it.

use crate::campaigns::{end, own, running, send, start, until};
use crate::checkpoints::{compare, saved, search};
use crate::support::build;

/// Most of them for each server, as the runtime has it.
const LEFT_MAX: usize = 12;

#[test]
fn what_the_kernel_keeps_tells_nobody_apart() {
    // While such a thing is there nobody is left behind; before and after there may be.
    for what in ["pipe", "socketpair", "eventfd", "epoll", "file", "memory", "input"] {
        assert!(compare("left/objects.c", "dfs", "40", &[what]) > 0, "{what}");
    }
    // Memory that processes share ends it for good.
    compare("left/objects.c", "dfs", "20", &["shared"]);
    let found = search(&build("left/objects.c"), ["dfs", "fork", "always"], "20", &["shared"]);
    assert_eq!(saved(&found), [0, 0], "{found}");
}

#[test]
fn who_has_asked_for_its_number_is_not_left_behind() {
    compare("left/itself.c", "dfs", "30", &[]);
    let found = search(&build("left/itself.c"), ["dfs", "fork", "always"], "30", &[]);
    assert_eq!(saved(&found), [0, 0], "{found}");
    assert_eq!(found["failing_runs"], 0, "{found}");
}

#[test]
fn runs_go_on_from_processes_that_are_left_behind() {
    let program = build("prefix.c");
    let plain = search(&program, ["odpor", "fork", "off"], "30", &["700"]);
    let found = search(&program, ["odpor", "fork", "always"], "30", &["700"]);
    let [hits, events] = saved(&found);
    assert_eq!(found["steps"], plain["steps"], "{found}");
    assert!(hits > 20 && events > hits * 1400, "{found}");
}

#[test]
fn nobody_is_left_when_the_command_has_ended() {
    let options = ["--isolation", "fork", "--checkpoints", "always", "--strategy", "dfs", "--jobs", "2"];
    // Interrupted, told to end, killed.
    for how in ["-INT", "-TERM", "-KILL"] {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let program = own("prefix.c", place.path());
        let child = start(&program, &["50"], &options, &place.path().join("out"));
        let mut most = 0;
        // Each job has two servers, of which one has runs: one goes on while others are left behind.
        until(|| {
            most = most.max(running(&program));
            most > 4 + 2 + 2
        });
        for _ in 0..50 {
            most = most.max(running(&program));
            std::thread::sleep(std::time::Duration::from_millis(4));
        }
        assert!(most <= 4 + 2 * (LEFT_MAX + 2), "{most}");
        send(how, &child);
        let ended = end(child, &program);
        assert_eq!(ended.code.is_none(), how == "-KILL", "{how}: {}", ended.stderr);
    }
}

#[test]
fn nobody_is_left_when_all_is_done_or_fails() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    for name in ["prefix.c", "faults/wipe.c", "faults/child.c", "faults/kill_itself.c"] {
        let program = own(name, place.path());
        let _ = search(&program, ["dfs", "fork", "always"], "20", &[]);
        until(|| running(&program) == 0);
    }
}
