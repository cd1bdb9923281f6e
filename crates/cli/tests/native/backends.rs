//! Kernel threads in place of fibers: everything ends as it does with fibers, and nothing is left of a thread that is
//! over.

use crate::support::{build, ended, files, raddle, run, run_with};

#[test]
fn every_end_has_the_verdict_that_it_has_with_fibers() {
    for how in [
        "exit", "_exit", "abort", "kill", "null", "stack", "spin", "wait", "copy", "fork", "print", "orphan",
        "",
    ] {
        let [fibers, threads] = ["fibers", "threads"].map(|backend| {
            let options = ["--runs", "20", "--hang-ms", "1000", "--steps-max", "3000", "--expect-exit", "0"];
            let options = [&options[..], &["--isolation", "fork-checked", "--backend", backend]].concat();
            let json = run_with(&build("ends.c"), &options, &[how]).0.json();
            assert_eq!(json["backend"], backend);
            json
        });
        for field in ["runs", "failing_runs", "runs_digest"] {
            assert_eq!(fibers[field], threads[field], "{how}: {field}");
        }
        let messages = |json: &serde_json::Value| {
            let failures = json["failures"].as_array().expect("failures").clone();
            failures.iter().map(|failure| failure["message"].to_string()).collect::<Vec<_>>()
        };
        assert_eq!(messages(&fibers), messages(&threads), "{how}");
    }
}

#[test]
fn signals_reach_whom_they_are_for() {
    let options = ["--runs", "100", "--expect-exit", "0", "--races", "off", "--backend", "threads"];
    let (ended, _out) = run(&build("signals.c"), &options);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn a_thread_that_is_over_leaves_no_kernel_thread_and_its_stack_is_used_again() {
    let options = ["--runs", "3", "--expect-exit", "0", "--isolation", "fork-checked", "--backend"];
    let [fibers, threads] = ["fibers", "threads"]
        .map(|backend| run(&build("generations.c"), &[&options[..], &[backend]].concat()).0.json());
    assert_eq!(threads["failing_runs"], 0, "{threads}");
    // It prints the addresses of its threads' variables, which lie where they would lie with fibers.
    assert_eq!(fibers["runs_digest"], threads["runs_digest"]);
}

#[test]
fn a_failure_of_one_backend_is_the_same_file_with_the_other_and_replays_with_both() {
    let found = ["fibers", "threads"].map(|backend| {
        let options = ["--runs", "200", "--stop-after", "0", "--isolation", "fork", "--backend", backend];
        run(&build("counter.c"), &options).1
    });
    let contents = found.each_ref().map(|out| {
        let files = files(out.path());
        assert!(files.len() >= 3, "an assertion and races: {files:?}");
        files.iter().map(|file| std::fs::read(file).expect("a file")).collect::<Vec<_>>()
    });
    assert_eq!(contents[0], contents[1]);
    for file in files(found[0].path()) {
        let mut command = raddle();
        command.args(["replay", "--times", "5", "--backend", "threads", "--format", "json"]).arg(&file);
        let ended = ended(&command.output().expect("the command starts"));
        assert_eq!(ended.json()["identical"], true, "{}: {}", file.display(), ended.stdout);
    }
}

#[test]
fn what_needs_fibers_is_refused_or_done_otherwise_and_said() {
    let program = build("increments.c");
    let (ended, _out) = run(&program, &["--backend", "threads", "--isolation", "in-process"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(ended.stderr.contains("needs fibers"), "{}", ended.stderr);
    let (ended, _out) = run(&program, &["--backend", "threads", "--runs", "20"]);
    let json = ended.json();
    assert_eq!((&json["backend"], &json["isolation"]["name"]), (&"threads".into(), &"fork".into()));
    let why = json["isolation"]["why"].as_str().expect("a reason");
    assert!(why.contains("cannot be undone"), "{why}");
    let (ended, _out) = run(&program, &["--runs", "20"]);
    assert_eq!(ended.json()["backend"], "fibers");
}
