//! Libc's functions that read and write the program's memory do under control what they do without.

use crate::support::{build, run};
use std::process::Command;

#[test]
fn texts_are_the_same_under_control_and_without() {
    let program = build("printing.c");
    let output = Command::new(&program).output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 one 1.0\n".repeat(2));
    // Every access is a scheduling point: what is announced lies where it may.
    for points in ["sync", "all"] {
        let (ended, _out) = run(&program, &["--runs", "50", "--points", points]);
        // Threads that print nothing but their own texts do not race.
        assert_eq!(ended.json()["failing_runs"], 0, "{}{}", ended.stdout, ended.stderr);
        assert!(ended.kinds().is_empty(), "{}", ended.stdout);
    }
}
