//! What programs tell ThreadSanitizer of themselves is heard here, too.

use crate::support::{COMPILERS, build, build_with, run_with, source};
use std::path::Path;

/// The kinds of failures that are found where the program tells `how`, which ends like a program without any bug but races.
fn found(program: &Path, how: &str, options: &[&str]) -> Vec<String> {
    let mut all = vec!["--stop-after", "0"];
    all.extend(options);
    let (ended, _out) = run_with(program, &all, &[how]);
    let kinds = ended.kinds();
    assert_eq!(ended.code, Some(i32::from(!kinds.is_empty())), "{how}: {}", ended.stderr);
    kinds
}

#[test]
fn what_is_told_orders_and_conceals_and_nothing_else_does() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    for compiler in COMPILERS {
        let program = build_with(compiler, &source("annotated.c"), place.path());
        for (how, races) in [
            ("nothing", true),
            ("told", false),
            ("told as before", false),
            ("ignored reads", false),
            ("ignored writes", false),
            ("ignored too late", true),
            ("benign", false),
            ("unannotated lock", true),
            ("annotated lock", false),
            ("lock as before", false),
            ("in vain", true),
            ("readers", true),
            ("either", true),
            ("coroutines", false),
            ("untold coroutines", true),
        ] {
            for isolation in ["reset", "fork"] {
                let kinds = found(&program, how, &["--runs", "100", "--isolation", isolation]);
                assert_eq!(kinds.iter().any(|kind| kind == "race"), races, "{how}, {isolation}: {kinds:?}");
                assert!(kinds.iter().all(|kind| kind == "race"), "{how}, {isolation}: {kinds:?}");
            }
        }
    }
}

#[test]
fn searches_know_that_it_matters_which_end_of_an_order_comes_first() {
    let program = build("annotated.c");
    for strategy in ["odpor", "dpor", "dfs"] {
        let (ended, _out) = run_with(&program, &["--strategy", strategy, "--stop-after", "0"], &["either"]);
        assert_eq!(ended.json()["exhausted"], true, "{strategy}: {}", ended.stdout);
        assert_eq!(ended.kinds(), ["race"], "{strategy}: {}", ended.stdout);
        if strategy == "odpor" {
            assert!(ended.json()["runs"].as_u64() >= Some(2), "{}", ended.stdout);
        }
    }
}

#[test]
fn a_program_that_nobody_controls_is_left_alone() {
    for how in ["told", "annotated lock", "coroutines", "benign"] {
        let output = std::process::Command::new(build("annotated.c")).arg(how).output().expect("it starts");
        assert!(output.status.success(), "{how}: {output:?}");
    }
}
