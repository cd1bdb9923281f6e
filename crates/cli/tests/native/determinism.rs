//! The same plan gives the same run, in every process: with the address layout drawn anew, with other environments
//! and in other directories.

use crate::support::{build, ended, files, raddle};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The failures that are found in a program in different surroundings, byte for byte: each time that is not as before counts.
fn found_in_surroundings(program: &Path, options: &[&str]) -> BTreeSet<Vec<(PathBuf, Vec<u8>)>> {
    let mut seen = BTreeSet::new();
    for size in [0, 1, 333, 4_000, 20_000] {
        let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let mut command = raddle();
        command.args(["run", "--time", "60", "--stop-after", "0", "--runs", "200"]).args(options);
        command.arg("--out").arg(out.path());
        command.arg(program).env("PADDING", "x".repeat(size)).current_dir(out.path());
        let ended = ended(&command.output().expect("the command starts"));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let found = files(out.path());
        assert!(found.len() >= 2, "an assertion and races: {found:?}");
        let name = |file: &Path| PathBuf::from(file.file_name().expect("files have names"));
        let content = found.iter().map(|file| (name(file), std::fs::read(file).expect("a file")));
        seen.insert(content.collect());
    }
    seen
}

#[test]
fn failure_files_are_the_same_byte_for_byte() {
    let seen = found_in_surroundings(&build("counter.c"), &[]);
    assert_eq!(seen.len(), 1, "a run depends on what is no part of its plan");
}

#[test]
fn what_hangs_on_addresses_repeats_where_they_are_fixed() {
    let program = build("selves.c");
    let seen = found_in_surroundings(&program, &["--addresses", "fixed"]);
    assert_eq!(seen.len(), 1, "a run depends on where it is");
    let (by_chance, _out) = crate::support::run(&program, &["--runs", "50"]);
    assert!(by_chance.kinds().contains(&"nondeterminism".to_owned()), "{}", by_chance.stdout);
    assert!(by_chance.stdout.contains("--addresses fixed"), "{}", by_chance.stdout);
    let (fixed, out) = crate::support::run(&program, &["--addresses", "fixed", "--races", "off"]);
    assert_eq!(fixed.kinds(), ["assertion"], "{}", fixed.stdout);
    // Whoever replays it need not know.
    let [file] = &files(out.path())[..] else { panic!("one file") };
    let command = &mut raddle();
    command.args(["replay", "--times", "20", "--format", "json"]).arg(file);
    let again = ended(&command.output().expect("the command starts"));
    assert_eq!(again.json()["identical"], true, "{}", again.stdout);
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
