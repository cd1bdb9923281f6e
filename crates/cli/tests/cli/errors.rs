//! What goes wrong is said in two lines, what and what to do; the exit code is 2.

use crate::fixture::NAME;
use crate::support::{file_in, raddle, run, scratch, test};

#[test]
fn an_unknown_strategy_gets_the_nearest_and_the_list() {
    let ended = run(scratch().path(), &["demo", "--strategy", "rapso"]).expect_code(2);
    for part in ["rapos", "random", "pct", "walks"] {
        assert!(ended.err.contains(part), "{ended:#?}");
    }
}

#[test]
fn wrong_usage_is_refused() {
    for arguments in [
        &[][..],
        &["demos"],
        &["demo", "no_such_program"],
        &["demo", "--runs", "0"],
        &["demo", "--seed", "x"],
        &["replay"],
        &["bench", "rapos", "--subjects", "Stack"],
        &["bench", "rapos", "--points", "all"],
    ] {
        let ended = run(scratch().path(), arguments).expect_code(2);
        assert!(!ended.err.is_empty(), "{arguments:?}");
    }
}

#[test]
fn what_is_no_failure_file_is_said_to_be_none() {
    let scratch = scratch();
    let file = scratch.path().join("notes.raddle");
    std::fs::write(&file, "nothing of the kind").unwrap();
    for command in ["replay", "minimize", "show"] {
        let ended = run(scratch.path(), &[command, "notes.raddle"]).expect_code(2);
        assert!(ended.err.contains("notes.raddle"), "{ended:#?}");
        let ended = run(scratch.path(), &[command, "gone.raddle"]).expect_code(2);
        assert!(ended.err.contains("gone.raddle"), "{ended:#?}");
    }
}

#[test]
fn a_changed_program_diverges_or_passes_and_says_so() {
    let scratch = scratch();
    test(NAME, scratch.path(), &[]);
    let file = file_in(scratch.path());
    let replay = |how: &str| {
        let mut command = raddle();
        let output =
            command.arg("replay").arg(&file).env("FIXTURE", how).output().expect("the command starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, err) = replay("longer");
    assert_eq!(code, Some(2), "{out}\n{err}");
    assert!(err.contains("expected") && err.contains("found"), "{err}");
    let (code, out, err) = replay("harmless");
    assert_eq!(code, Some(0), "{out}\n{err}");
    assert!(out.contains("does not happen any more"), "{out}");
}

#[test]
fn a_missing_executable_names_the_command_that_builds_it() {
    let scratch = scratch();
    test(NAME, scratch.path(), &[]);
    let file = file_in(scratch.path());
    let mut failure = raddle::tool::read(&file).unwrap();
    let raddle_wire::Target::Library { executable, .. } = &mut failure.target else {
        panic!("a library failure")
    };
    *executable = scratch.path().join("deps/gone-0123456789abcdef").display().to_string();
    std::fs::write(&file, raddle_wire::failure::encode(&failure)).unwrap();
    let ended = run(scratch.path(), &["replay", file.to_str().expect("text")]).expect_code(2);
    assert!(ended.err.contains("cargo test -p raddle-cli --no-run"), "{ended:#?}");
}
