//! Systematic search through C programs: the published numbers of partial orders, exactly; failures after which the
//! others run on; and going on after an interruption.

use crate::support::{Ended, build, ended, raddle};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn command(options: &[&str], out: &Path, program: &str, size: u64) -> Command {
    let mut command = raddle();
    command.args(["run", "--runs", "100000000", "--time", "3600", "--races", "off", "--format", "json"]);
    command.arg("--out").arg(out).args(options).arg(build("counts.c")).args([program, &size.to_string()]);
    command
}

fn search(options: &[&str], program: &str, size: u64) -> Ended {
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    ended(&command(options, out.path(), program, size).output().expect("the command starts"))
}

/// `odpor` runs so many partial orders, each once, and nothing is left.
fn check(options: &[&str], program: &str, size: u64, expected: u64) {
    let found = search(&[&["--strategy", "odpor"], options].concat(), program, size);
    assert_eq!(found.code, Some(0), "{program} {size}: {}{}", found.stdout, found.stderr);
    let json = found.json();
    let figures = ["runs", "distinct_partial_orders"].map(|figure| json[figure].as_u64().expect("a number"));
    assert_eq!(figures, [expected; 2], "{program} {size}");
    assert_eq!(json["exhausted"], true, "{program} {size}");
}

fn largest(name: &str) -> u64 {
    raddle_tiers::size(name)
}

#[test]
fn readers_and_one_writer() {
    (2..=largest("native_readers")).for_each(|n| check(&[], "readers", n, 1 << n));
}

#[test]
fn the_last_zero_of_an_array() {
    (2..=largest("native_lastzero")).for_each(|n| check(&[], "lastzero", n, (n + 3) << (n - 2)));
}

#[test]
fn indexer() {
    (12..=largest("native_indexer")).for_each(|n| check(&[], "indexer", n, 8u64.pow(n as u32 - 11)));
}

#[test]
fn filesystem() {
    (14..=largest("native_filesystem")).for_each(|n| check(&[], "filesystem", n, 1 << (n - 13)));
}

#[test]
fn increments() {
    (2..=largest("native_increments")).for_each(|n| check(&[], "increments", n, (1..=n).product()));
    for (tasks, expected) in [(2, 4), (3, 36)] {
        check(&[], "in_two_parts", tasks, expected);
        // Where every access is a point from the start, nothing has to be learned first.
        check(&["--points", "all"], "plainly", tasks, expected);
    }
}

#[test]
fn store_buffering() {
    check(&[], "buffering", 2, 3);
}

/// All searches agree, and what is raced for is found out on the way.
#[test]
fn every_search_goes_through_all() {
    for strategy in ["dfs", "random-dfs", "pcb", "dpor", "odpor"] {
        for program in ["plainly", "increments"] {
            let found = search(&["--strategy", strategy], program, 2);
            assert_eq!(found.code, Some(0), "{strategy}: {}{}", found.stdout, found.stderr);
            assert_eq!(found.json()["exhausted"], true, "{strategy}, {program}: {}", found.stdout);
        }
    }
    let found = search(&["--strategy", "pcb:bound=0"], "increments", 3);
    assert_eq!(found.json()["exhausted_within"], "with at most 0 preemptions", "{}", found.stdout);
}

/// Several servers share a search: no partial order is run twice, and none is lost.
#[test]
fn several_jobs_share_a_search() {
    for jobs in ["2", "3"] {
        check(&["--jobs", jobs], "readers", 6, 1 << 6);
        check(&["--jobs", jobs], "lastzero", 5, 8 << 3);
        check(&["--jobs", jobs], "increments", 4, 24);
        for strategy in ["dfs", "pcb", "dpor"] {
            let found = search(&["--strategy", strategy, "--jobs", jobs], "increments", 2);
            assert_eq!(found.json()["exhausted"], true, "{strategy}: {}", found.stdout);
            assert_eq!(found.json()["distinct_partial_orders"], 2, "{strategy}: {}", found.stdout);
        }
    }
}

/// A failed assertion stops its task; the search goes on, and is complete.
#[test]
fn a_failure_ends_only_its_task() {
    let found = search(&["--strategy", "odpor", "--stop-after", "0"], "failing", 3);
    assert_eq!((found.code, found.kinds()), (Some(1), vec![String::from("assertion")]), "{}", found.stdout);
    let json = found.json();
    assert_eq!((&json["runs"], &json["exhausted"]), (&8.into(), &true.into()), "{}", found.stdout);
    assert_eq!(json["failing_runs"], 4, "{}", found.stdout);
}

/// Killed again and again, the search has as many runs as one that is left alone.
#[test]
fn a_search_survives_being_killed() {
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let journal = out.path().join("journal");
    let resume = ["--strategy", "odpor", "--resume", journal.to_str().expect("a name")];
    let size = || std::fs::metadata(&journal).map_or(0, |file| file.len());
    let mut kills = 0;
    for jobs in ["1", "2", "3", "1"] {
        let options = [&resume[..], &["--jobs", jobs]].concat();
        let before = size();
        let mut process = command(&options, out.path(), "readers", 11)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command starts");
        // As soon as it has done something, long before it has done all.
        while size() == before && process.try_wait().expect("it can be asked").is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        process.kill().expect("it can be killed");
        kills += u64::from(!process.wait().expect("it ends").success());
    }
    assert!(kills > 0, "the search is too small to be interrupted");
    let found = ended(&command(&resume, out.path(), "readers", 11).output().expect("the command starts"));
    assert_eq!(found.code, Some(0), "{}{}", found.stdout, found.stderr);
    let json = found.json();
    let note = json["notes"].as_array().expect("notes")[0].as_str().expect("a text").to_owned();
    let before: u64 = note.split(' ').find_map(|word| word.parse().ok()).expect("a number");
    assert_eq!(before + json["runs"].as_u64().expect("a number"), 1 << 11, "{note}");
    assert!(!journal.exists(), "a search that is over leaves no journal");
}
