//! `raddle hapset`: files are shown and merged, and wrong ones are named.

use crate::support::{run, scratch};
use raddle_model::hapset::{Frame, Pair, Statement};
use raddle_wire::{HapsetFile, hapset};

/// A file that knows one pair.
fn file(program: &str, of: u32, before: u32) -> Vec<u8> {
    let at = |line| Statement {
        frame: Frame { file: "src/bank.rs".into(), line, column: 9 },
        context: Vec::new(),
    };
    let sets = [Pair { of: at(of), older: false, before: at(before) }].into_iter().collect();
    hapset::encode(&HapsetFile { tool: "0.1.0".into(), programs: vec![program.into()], runs: 10, sets })
}

#[test]
fn files_are_merged_and_shown() {
    let scratch = scratch();
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(scratch.path().join(name), bytes).unwrap();
    write("a.hapset", file("one", 7, 3));
    write("b.hapset", file("two", 7, 4));
    let merge = ["hapset", "merge", "a.hapset", "b.hapset", "a.hapset", "--out", "a.hapset"];
    assert_eq!(run(scratch.path(), &merge).expect_code(0).out, "2 pairs in a.hapset\n");
    assert_eq!(
        run(scratch.path(), &["hapset", "show", "a.hapset"]).expect_code(0).out,
        "2 pairs from 30 runs of one, two\nsrc/bank.rs:7:9 (thr 1): {src/bank.rs:3:9, src/bank.rs:4:9}\n"
    );
    let json = run(scratch.path(), &["hapset", "show", "a.hapset", "--format", "json"]).expect_code(0).json();
    assert_eq!(json["pairs"][1]["before"], "src/bank.rs:4:9");
    assert_eq!((&json["pairs"][1]["older"], &json["runs"]), (&false.into(), &30.into()));
}

#[test]
fn a_wrong_file_is_named_and_nothing_is_written() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("text"), "hello").unwrap();
    for file in ["text", "missing"] {
        let ended = run(scratch.path(), &["hapset", "merge", file, "--out", "new"]).expect_code(2);
        assert!(ended.err.contains(file), "{ended:#?}");
        assert!(ended.err.contains("--hapset") && !ended.err.contains("failure file"), "{ended:#?}");
        assert!(!scratch.path().join("new").exists());
    }
}
