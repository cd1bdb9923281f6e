//! The same plan gives the same run, in every process: with the address layout drawn anew, with other environments
//! and in other directories.

use crate::support::{build, ended, files, raddle};
use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn failure_files_are_the_same_byte_for_byte() {
    let program = build("counter.c");
    let mut seen = BTreeSet::new();
    for size in [0, 1, 333, 4_000, 20_000] {
        let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let mut command = raddle();
        command.args(["run", "--time", "60", "--stop-after", "0", "--runs", "200", "--out"]).arg(out.path());
        command.arg(&program).env("PADDING", "x".repeat(size)).current_dir(out.path());
        let ended = ended(&command.output().expect("the command starts"));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let found = files(out.path());
        assert!(found.len() >= 2, "an assertion and races: {found:?}");
        let content: Vec<_> = found
            .iter()
            .map(|file| (file.file_name().map(ToOwned::to_owned), std::fs::read(file).expect("a file")))
            .collect();
        seen.insert(content);
    }
    assert_eq!(seen.len(), 1, "a run depends on what is no part of its plan");
}

#[test]
fn address_layouts_do_differ() {
    let program = build("counter.c");
    let layouts: BTreeSet<Vec<u8>> =
        (0..4).map(|_| Command::new(&program).output().expect("the program starts").stdout).collect();
    assert!(layouts.len() > 1, "the kernel does not draw address layouts: the test above proves little");
}

#[test]
fn replays_are_exact() {
    let (ended_run, out) = crate::support::run(&build("counter.c"), &[]);
    assert_eq!(ended_run.code, Some(1), "{}", ended_run.stderr);
    for file in files(out.path()) {
        let mut command = raddle();
        command.args(["replay", "--times", "20", "--format", "json"]).arg(&file);
        let ended = ended(&command.output().expect("the command starts"));
        assert_eq!(ended.json()["identical"], true, "{}: {}", file.display(), ended.stdout);
    }
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let program = build("counter.c");
    let outcome = |jobs: &str| {
        let options = ["--jobs", jobs, "--runs", "300", "--stop-after", "0"];
        let (ended, out) = crate::support::run(&program, &options);
        let mut json = ended.json();
        for varying in ["seconds", "runs_per_second"] {
            json[varying] = 0.into();
        }
        // Whether it pays to move the start hangs on time, too.
        json["isolation"]["moved"] = 0.into();
        let path = out.path().display().to_string();
        let contents: Vec<Vec<u8>> =
            files(out.path()).iter().map(|f| std::fs::read(f).expect("a file")).collect();
        (json.to_string().replace(&path, ""), contents)
    };
    let one = outcome("1");
    assert_eq!(outcome("3"), one);
    assert_eq!(outcome("2"), one);
}
