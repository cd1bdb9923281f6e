//! The three lines of a report do what they say, as they are printed.

use crate::fixture::NAME;
use crate::support::{file_in, lines_to_copy, path_with_raddle, run, scratch, shell, test};

#[test]
fn lines_of_a_demo_work_as_printed() {
    let scratch = scratch();
    let demo = run(scratch.path(), &["demo"]).expect_code(1);
    three_lines_work(&demo.out, scratch.path());
}

#[test]
fn lines_of_a_failing_test_work_as_printed() {
    let scratch = scratch();
    let path = path_with_raddle();
    let failed = test(NAME, scratch.path(), &[("PATH", path.to_str().expect("text"))]);
    three_lines_work(&failed.err, scratch.path());
}

fn three_lines_work(report: &str, directory: &std::path::Path) {
    let lines = lines_to_copy(report);
    let [replay, minimize, show] = &lines[..] else { panic!("three lines: {lines:#?} in {report}") };
    let replayed = shell(replay, directory).expect_code(1);
    assert!(replayed.out.contains("in the same run step by step"), "{replayed:#?}");
    let minimized = shell(minimize, directory).expect_code(1);
    assert!(minimized.out.contains("minimized: "), "{minimized:#?}");
    let shown = shell(show, directory).expect_code(1);
    let headline = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    assert_eq!(headline(&shown.out), headline(&replayed.out));
    // Minimizing prints lines of its own.
    let again = lines_to_copy(&minimized.out);
    assert_eq!(again.len(), 2, "{again:#?}");
    for line in again {
        shell(&line, directory).expect_code(1);
    }
}

#[test]
fn without_the_command_a_test_names_cargo() {
    let scratch = scratch();
    let failed = test(NAME, scratch.path(), &[("PATH", "/nowhere")]);
    let lines = lines_to_copy(&failed.err);
    assert_eq!(lines.len(), 2, "{lines:#?}");
    for (line, variable) in lines.iter().zip(["RADDLE_REPLAY", "RADDLE_MINIMIZE"]) {
        assert!(line.ends_with(&format!("cargo test -p raddle-cli {NAME} -- --exact --nocapture")), "{line}");
        // Building all over again would take minutes: the variables are taken from the line, and the test started.
        let words: Vec<(&str, &str)> = line.split(' ').map_while(|word| word.split_once('=')).collect();
        assert_eq!(words[0].0, variable);
        let again = test(NAME, scratch.path(), &words);
        assert!(again.err.contains("an update was lost"), "{again:#?}");
        assert!(again.out.contains("1 passed"), "{again:#?}");
        if variable == "RADDLE_REPLAY" {
            assert!(again.err.contains("1 distinct failure (1 run failed)"), "{again:#?}");
        }
    }
}

#[test]
fn a_failure_replays_as_often_as_wanted() {
    let scratch = scratch();
    test(NAME, scratch.path(), &[]);
    let file = file_in(scratch.path());
    let file = file.to_str().expect("text");
    let replayed =
        run(scratch.path(), &["replay", file, "--times", "5", "--format", "json"]).expect_code(1).json();
    assert_eq!(replayed["identical"], true, "{replayed}");
    assert_eq!(replayed["failing_runs"], 5, "{replayed}");
    assert_eq!(replayed["failures"][0]["kind"], "assertion", "{replayed}");
    let shown = run(scratch.path(), &["show", file, "--format", "json"]).expect_code(1).json();
    assert_eq!(shown["kind"], "assertion");
    let elsewhere = scratch.path().join("other place");
    let out = elsewhere.to_str().expect("text");
    let minimized =
        run(scratch.path(), &["minimize", file, "--out", out, "--format", "json"]).expect_code(1).json();
    assert_eq!(minimized["preemptions"], 1, "{minimized}");
    assert!(file_in(&elsewhere).is_file());
}
