//! Every call that waits: for a thread of the same program it waits in its turn and holds up nobody; if all wait it is a
//! deadlock, found at once, and not a hang.

use crate::support::{Ended, build, run_with};

fn calls() -> Vec<String> {
    let output = std::process::Command::new(build("blocking.c")).output().expect("the program starts");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn run(call: &str, mode: &str) -> Ended {
    let runs = raddle_tiers::size("blocking_runs").to_string();
    let options = ["--races", "off", "--hang-ms", "2000", "--steps-max", "5000", "--expect-exit", "0"];
    let options = [&options[..], &["--runs", &runs]].concat();
    run_with(&build("blocking.c"), &options, &[call, mode]).0
}

/// Calls that always end: there is nothing that both could wait for.
const ENDS: &[&str] = &["barrier", "sleep"];

#[test]
fn who_waits_for_another_thread_goes_on() {
    let mut wrong = Vec::new();
    for call in calls().iter().filter(|call| *call != "barrier3") {
        let ended = run(call, "peer");
        if ended.code != Some(0) {
            wrong.push(format!("{call}: {}{}", ended.stdout, ended.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn if_all_wait_it_is_a_deadlock() {
    let mut wrong = Vec::new();
    for call in calls().iter().filter(|call| !ENDS.contains(&call.as_str())) {
        let ended = run(call, "both");
        if ended.code != Some(1) || ended.kinds() != ["deadlock"] {
            wrong.push(format!("{call}: {}{}", ended.stdout, ended.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn dormant_they_are_the_kernels() {
    for call in calls().iter().filter(|call| *call != "barrier3") {
        let mut command = std::process::Command::new("timeout");
        let output =
            command.args(["60"]).arg(build("blocking.c")).args([call, "peer"]).output().expect("it starts");
        assert!(output.status.success(), "{call}: {output:?}");
    }
}

#[test]
fn locks_on_files_are_waited_for_in_turn() {
    let run = |how: &str, options: &[&str]| {
        let options = [&["--runs", "100", "--hang-ms", "2000"][..], options].concat();
        run_with(&build("file_locks.c"), &options, &[how]).0
    };
    for isolation in ["reset", "fork"] {
        for how in ["flock", "opened", "closed"] {
            let ended = run(how, &["--isolation", isolation]);
            assert_eq!(ended.code, Some(0), "{how} {isolation}: {}{}", ended.stdout, ended.stderr);
        }
        let ended = run("crossed", &["--isolation", isolation]);
        assert_eq!(ended.kinds(), ["deadlock"], "{isolation}: {}{}", ended.stdout, ended.stderr);
    }
    let ended = run("flock", &["--strategy", "odpor"]);
    let within = ended.json()["exhausted_within"].to_string();
    assert!(within.contains("but for the order of calls on files and streams"), "{}", ended.stdout);
}
