//! What is found in each program, and how the command ends.

use crate::support::{build, build_plainly, build_source, build_with, ended, files, raddle, run, run_with};

#[test]
fn a_lost_update_and_its_races() {
    let (ended, _out) = run(&build("counter.c"), &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert_eq!(ended.kinds(), ["assertion", "race", "race"]);
}

#[test]
fn a_deadlock_and_its_minimum() {
    let (ended_run, out) = run(&build("deadlock.c"), &[]);
    assert_eq!(ended_run.kinds(), ["deadlock"]);
    let message = ended_run.json()["failures"][0]["message"].to_string();
    assert!(message.contains("waits for a held by"), "{message}");
    let [file] = &files(out.path())[..] else { panic!("one file") };
    let output = raddle().arg("minimize").arg(file).output().expect("the command starts");
    let text = ended(&output).stdout;
    assert!(text.contains("1 preemption now"), "{text}");
    // By their names, also in the file.
    for text in [text, ended(&raddle().arg("show").arg(file).output().expect("the command starts")).stdout] {
        for said in ["waits for a held by", "holds b, since step", "lock a  deadlock.c:", "b: mutex"] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
}

#[test]
fn exceptions_are_told_as_the_program_calls_them() {
    for (how, thrown) in [("object", "bank::Overdrawn (account of Ada)"), ("number", "int")] {
        let (ended, _out) = run_with(&build("thrown.cc"), &["--runs", "20"], &[how]);
        assert_eq!(ended.kinds(), ["exception"], "{}", ended.stderr);
        let json = ended.json();
        let said = json["failures"][0]["message"].as_str().expect("a message");
        assert!(said.contains(&format!(" throws {thrown}, and nobody catches it")), "{said}");
    }
}

#[test]
fn memory_is_told_with_what_was_done_to_it() {
    let (found, out) = run_with(&build("thrown.cc"), &["--runs", "20"], &["freed"]);
    assert_eq!(found.kinds(), ["memory"], "{}", found.stderr);
    let [file] = &files(out.path())[..] else { panic!("one file") };
    let shown = ended(&raddle().arg("show").arg(file).output().expect("the command starts")).stdout;
    let source = include_str!("c/thrown.cc");
    for (who, deed) in [("main/", "// read"), ("freed ", "// freed"), ("allocated ", "// allocated")] {
        let line = source.lines().position(|line| line.ends_with(deed)).expect("it is marked") + 1;
        let place = format!("thrown.cc:{line}:");
        let told = shown.lines().any(|line| line.trim_start().starts_with(who) && line.contains(&place));
        assert!(told, "{deed}: {shown}");
    }
}

#[test]
fn one_thread_is_nothing_to_control() {
    let (ended, _out) = run(&build("alone.c"), &["--runs", "10"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stdout);
}

#[test]
fn a_program_without_the_runtime_is_named() {
    let (ended, _out) = run(&build_plainly("alone.c"), &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(ended.stderr.contains("raddle cc"), "{}", ended.stderr);
}

#[test]
fn dormant_programs_run_by_themselves() {
    let output = std::process::Command::new(build("sections.c")).output().expect("the program starts");
    assert!(output.status.success());
}

/// The kinds of failures of one way to end.
fn ends(how: &str) -> (Vec<String>, String) {
    let options = ["--runs", "20", "--hang-ms", "500", "--steps-max", "2000", "--expect-exit", "0"];
    let (ended, _out) = run_with(&build("ends.c"), &options, &[how]);
    (ended.kinds(), ended.stdout)
}

#[test]
fn every_end_has_its_verdict() {
    for (how, kinds) in [
        ("exit", &["exit"][..]),
        ("_exit", &["exit"]),
        ("abort", &["crash"]),
        ("kill", &["crash"]),
        ("null", &["crash"]),
        ("stack", &["crash"]),
        ("spin", &["hang"]),
        ("wait", &["livelock"]),
        ("copy", &["memory"]),
        ("fork", &[]),
        ("print", &[]),
        ("orphan", &[]),
        ("", &[]),
    ] {
        let (found, said) = ends(how);
        assert_eq!(found, kinds, "{how}: {said}");
    }
}

#[test]
fn who_only_writes_does_not_hold_up_the_others() {
    let (ended, _out) = run(&build("writes.c"), &["--runs", "20", "--hang-ms", "2000"]);
    assert_eq!((ended.kinds(), ended.code), (vec![], Some(0)), "{}", ended.stdout);
}

#[test]
fn nobody_is_left_behind() {
    ends("orphan");
    ends("spin");
    let program = build("ends.c");
    let running = std::fs::read_dir("/proc").expect("processes").filter_map(|entry| {
        std::fs::read_link(entry.ok()?.path().join("exe")).ok().filter(|exe| *exe == program)
    });
    // Other tests of this executable may be running the same program: they are waited for.
    let mut left = running.count();
    for _ in 0..200 {
        if left == 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        left = std::fs::read_dir("/proc")
            .expect("processes")
            .filter_map(|entry| std::fs::read_link(entry.ok()?.path().join("exe")).ok())
            .filter(|exe| *exe == program)
            .count();
    }
    assert_eq!(left, 0, "processes of the program are still there");
}

#[test]
fn standard_input_is_the_same_in_every_run() {
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let input = out.path().join("input");
    std::fs::write(&input, "hello\nworld\n").expect("a file");
    let mut command = raddle();
    command.args(["run", "--format", "json", "--runs", "50", "--expect-exit", "0", "--out"]).arg(out.path());
    command.arg(build("ends.c")).arg("input").stdin(std::fs::File::open(&input).expect("a file"));
    let ended = ended(&command.output().expect("the command starts"));
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    assert_eq!(ended.json()["runs"], 50);
}

#[test]
fn the_last_thread_ends_the_process() {
    let (ended, _out) = run(&build("last_thread.c"), &["--runs", "300", "--expect-exit", "0"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
}

/// Whichever comes first: what is shown is the run that did not exit with 0, and it repeats.
#[test]
fn a_run_that_exits_with_zero_is_not_the_one_that_failed() {
    let mut first = [0, 0];
    for seed in 0..12 {
        let seed = seed.to_string();
        let (found, out) = run(&build("order.c"), &["--runs", "200", "--seed", &seed]);
        let failure = &found.json()["failures"][0];
        assert_eq!(failure["message"], "the program exits with 1 instead of 0", "{}", found.stdout);
        first[usize::from(failure["run"] == 0)] += 1;
        let file = files(out.path()).pop().expect("a failure file");
        let again = ended(&raddle().arg("replay").arg(file).output().expect("the command starts"));
        assert!(again.stdout.contains("the program exits with 1 instead of 0"), "{}", again.stdout);
    }
    assert!(first.iter().all(|&times| times > 0), "both ways must have been seen: {first:?}");
    let (found, _out) = run(&build("order.c"), &["--strategy", "odpor"]);
    assert_eq!(found.json()["failures"][0]["message"], "the program exits with 1 instead of 0");
    let (asked, _out) = run(&build("order.c"), &["--runs", "200", "--expect-exit", "1"]);
    assert_eq!(asked.json()["failures"][0]["message"], "the program exits with 0 instead of 1");
}

/// As the shell sees it: of a code there is one byte.
#[test]
fn an_exit_code_is_what_other_processes_see() {
    let exits = |code: &str, expected: &str| {
        run_with(&build("ends.c"), &["--runs", "5", "--expect-exit", expected], &["exit", code]).0
    };
    assert_eq!(exits("-1", "255").code, Some(0));
    assert_eq!(exits("256", "0").code, Some(0));
    let other = exits("-1", "0");
    assert_eq!(other.json()["failures"][0]["message"], "the program exits with 255 instead of 0");
    assert_eq!(exits("0", "256").code, Some(2));
}

#[test]
fn what_keeps_a_campaign_from_its_work_is_said_once_and_right() {
    let said = |options: &[&str]| {
        let mut command = raddle();
        let ended =
            ended(&command.arg("run").args(options).arg(build("counter.c")).output().expect("it starts"));
        assert_eq!(ended.code, Some(2), "{options:?}: {}{}", ended.stdout, ended.stderr);
        ended.stderr
    };
    let unwritable = said(&["--out", "/proc/nobody/writes/here"]);
    assert_eq!(unwritable.matches("raddle: ").count(), 1, "{unwritable}");
    assert!(unwritable.contains("name another directory with --out"), "{unwritable}");
    assert!(said(&["--time", "0"]).contains("has ended within 0 s"));
}

/// It is told at another place than it happens at, and known again all the same.
#[test]
fn a_race_in_a_header_is_repeated_and_minimized() {
    let (found, out) = run(&build("header.cc"), &["--runs", "100"]);
    assert!(found.kinds().iter().all(|kind| kind == "race") && !found.kinds().is_empty(), "{}", found.stdout);
    for site in
        found.json()["failures"].as_array().expect("a list").iter().flat_map(|race| race["sites"].as_array())
    {
        assert!(site.iter().all(|site| site["line"] == 8), "{}", found.stdout);
    }
    for file in files(out.path()) {
        let mut replay = raddle();
        let again =
            ended(&replay.args(["replay", "--format", "json"]).arg(&file).output().expect("it starts"));
        assert_eq!(again.json()["identical"], true, "{}{}", again.stdout, again.stderr);
        let smaller = ended(&raddle().arg("minimize").arg(&file).output().expect("it starts"));
        assert_eq!(smaller.code, Some(1), "{}{}", smaller.stdout, smaller.stderr);
    }
}

#[test]
fn what_is_inlined_from_a_header_is_told_where_it_was_inlined() {
    let (found, out) = run(&build("inlined.cc"), &["--races", "off", "--runs", "100"]);
    assert_eq!(found.kinds(), ["assertion"], "{}", found.stdout);
    let shown = ended(&raddle().arg("show").args(files(out.path())).output().expect("it starts")).stdout;
    assert!(!shown.contains("/usr/") && !shown.contains("atomic_base.h"), "{shown}");
    for place in ["inlined.cc:10", "inlined.cc:12", "inlined.cc:24"] {
        assert!(shown.contains(place), "{place}: {shown}");
    }
    // Nor is a race in it only that of the innermost function.
    let known = out.path().join("known");
    for (line, races) in [("race:^main$\n", 1), ("race:^add\n", 0), ("race:^work\n", 0)] {
        std::fs::write(&known, line).expect("a file");
        let options = ["--runs", "100", "--stop-after", "0", "--suppressions"];
        let (found, _) =
            run(&build("inlined.cc"), &[&options[..], &[known.to_str().expect("a path")]].concat());
        assert_eq!(found.kinds().iter().filter(|kind| *kind == "race").count(), races, "{line}");
    }
}

#[test]
fn who_throws_out_of_a_once_leaves_it_to_the_next() {
    for strategy in ["random", "dfs", "odpor"] {
        let (ended, _out) = run(&build("once.cc"), &["--strategy", strategy, "--runs", "2000"]);
        assert_eq!(ended.code, Some(0), "{strategy}: {}{}", ended.stdout, ended.stderr);
    }
}

#[test]
fn who_locks_what_is_destroyed_is_told_by_searches_too() {
    for strategy in ["random", "dfs", "dpor", "odpor"] {
        let (ended, _out) = run(&build("destroyed.c"), &["--strategy", strategy, "--runs", "100"]);
        assert_eq!(ended.kinds(), ["misuse"], "{strategy}: {}", ended.stdout);
        assert!(ended.stdout.contains("a mutex that was destroyed"), "{strategy}: {}", ended.stdout);
    }
}

#[test]
fn who_uses_a_lock_that_is_destroyed_or_destroys_one_that_is_held_is_told() {
    for (what, message) in [
        ("", None),
        ("held", Some("main destroys a mutex that main/0 holds")),
        ("read", Some("main destroys a rwlock that main/0 holds")),
        ("lock", Some("main locks a mutex that was destroyed")),
        ("try", Some("main locks a mutex that was destroyed")),
        ("unlock", Some("main unlocks a mutex that was destroyed")),
        ("wait", Some("main waits with a mutex that was destroyed")),
    ] {
        let (ended, _out) = run_with(&build("misused.c"), &["--strategy", "odpor"], &[what]);
        let json = ended.json();
        let told: Vec<_> = json["failures"].as_array().expect("a list").iter().collect();
        assert_eq!(told.len(), usize::from(message.is_some()), "{what}: {json}");
        if let Some(message) = message {
            assert_eq!(told[0]["kind"], "misuse", "{what}: {json}");
            assert_eq!(told[0]["message"], message, "{what}");
        }
    }
}

#[test]
fn searches_know_that_who_comes_too_late_could_have_come_earlier() {
    let held = "main destroys a mutex that main/0 holds";
    let late = "main/0 locks a mutex that was destroyed";
    let lost =
        "main/0 writes 4 bytes at offset 0 of a block of 48 bytes that main has allocated and main has freed";
    for (what, expected) in [("kept", vec![held, late]), ("freed", vec![held, late, lost])] {
        for strategy in ["dfs", "dpor", "odpor"] {
            let options = ["--strategy", strategy, "--stop-after", "0", "--races", "off"];
            let (ended, _out) = run_with(&build("too_late.c"), &options, &[what]);
            let json = ended.json();
            assert_eq!(json["exhausted"], true, "{what}: {json}");
            let failures = json["failures"].as_array().expect("a list").iter();
            let mut told: Vec<_> = failures.filter_map(|failure| failure["message"].as_str()).collect();
            told.sort_unstable();
            assert_eq!(told, expected, "{strategy}, {what}: {json}");
        }
    }
}

#[test]
fn locks_that_follow_each_other_in_the_same_memory_are_different_ones() {
    for options in [["--strategy", "random"], ["--strategy", "odpor"], ["--isolation", "fork"]] {
        let (ended, _out) = run(&build("anew.cc"), &[&options[..], &["--runs", "50"]].concat());
        assert_eq!(ended.code, Some(0), "{options:?}: {}{}", ended.stdout, ended.stderr);
    }
}

#[test]
fn a_program_that_depends_on_addresses_is_told() {
    let (ended, _out) = run(&build("pointer.c"), &["--runs", "50"]);
    assert_eq!(ended.kinds(), ["nondeterminism"]);
}

#[test]
fn signals_reach_whom_they_are_for() {
    let (ended, _out) = run(&build("signals.c"), &["--runs", "200", "--expect-exit", "0", "--races", "off"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn a_run_of_two_hundred_thousand_events() {
    let (ended, _out) = run(&build("events.c"), &["--runs", "2", "--expect-exit", "0"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    // The additions, four threads made, ended and joined, the last load and the end.
    assert_eq!(ended.json()["steps"], 2 * (200_000 + 4 * 3 + 2));
}

#[test]
fn a_race_is_replayed_and_minimized_as_one_though_the_run_fails_later() {
    let (found, out) = run_with(&build("ends_anyway.c"), &["--runs", "50", "--stop-after", "0"], &[]);
    assert_eq!(found.kinds(), ["crash", "race"], "{}", found.stderr);
    let recorded = files(out.path());
    let race = recorded.iter().find(|file| file.to_string_lossy().contains("-race-")).expect("a race");
    let replayed =
        ended(&raddle().args(["replay", "--format", "json"]).arg(race).output().expect("it starts"));
    assert_eq!(replayed.json()["identical"], true, "{}", replayed.stdout);
    assert_eq!(replayed.kinds(), ["race"], "{}", replayed.stdout);
    let smaller = ended(&raddle().arg("minimize").arg(race).output().expect("it starts"));
    assert!(smaller.stdout.contains("and nothing orders them"), "{}", smaller.stdout);
    assert!(!smaller.stdout.contains("crash:"), "{}", smaller.stdout);
}

#[test]
fn whoever_has_changed_the_source_is_told_that_an_older_program_is_replayed() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let source = place.path().join("counter.c");
    std::fs::write(&source, include_str!("c/counter.c")).expect("a file");
    let program = build_with("gcc", &source, place.path());
    let (_, out) = run(&program, &[]);
    let file = &files(out.path())[0];
    let replay = || ended(&raddle().arg("replay").arg(file).output().expect("the command starts"));
    assert!(!replay().stderr.contains("has been changed"), "{}", replay().stderr);
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
    let handle = std::fs::File::options().append(true).open(&source).expect("it is there");
    handle.set_modified(later).expect("its time can be set");
    let said = replay().stderr;
    assert!(said.contains("counter.c has been changed since the program was built"), "{said}");
}

#[test]
fn what_is_minimized_has_no_more_preemptions_than_before() {
    let spin = "#include <pthread.h>\n#include <sched.h>\n#include <stdatomic.h>\nstatic atomic_int one, other;\n\
        static void *looks(void *at) { while (!atomic_load(at ? &one : &other)) sched_yield(); return 0; }\n\
        int main(void) { pthread_t thread; pthread_create(&thread, 0, looks, &one); looks(0); }\n";
    for steps in ["3000", "100000"] {
        let (found, out) = run(&build_source("spin", spin), &["--runs", "1", "--steps-max", steps]);
        assert_eq!(found.kinds(), ["livelock"], "{}", found.stderr);
        let [file] = &files(out.path())[..] else { panic!("one file") };
        let output = raddle().args(["minimize", "--format", "json"]).arg(file).output();
        let json = ended(&output.expect("the command starts")).json();
        let count = |name: &str| json[name].as_u64().unwrap_or_else(|| panic!("{name}: {json}"));
        assert!(count("preemptions") <= count("preemptions_before"), "{steps}: {json}");
    }
}
