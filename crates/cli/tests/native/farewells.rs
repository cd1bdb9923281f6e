//! What is done when a process ends is done in every run, though the runtime leaves out what does nothing; and copies that are
//! made cheaply are what others are: they have all processors, and their code tells its lines.

use crate::support::{Ended, build, build_library, ended, raddle, run_with};
use std::path::Path;

/// The ways in which runs can be had, all of which must show the same.
const WAYS: [&[&str]; 3] =
    [&["--isolation", "fork", "--checkpoints", "off"], &["--isolation", "fork"], &["--isolation", "reset"]];

fn failing(program: &Path, arguments: &[&str], way: &[&str]) -> (u64, Vec<String>) {
    let options = [way, &["--runs", "200", "--stop-after", "0"]].concat();
    let (ended, _) = run_with(program, &options, arguments);
    let failing = ended.json()["failing_runs"].as_u64();
    (failing.unwrap_or_else(|| panic!("{}{}", ended.stdout, ended.stderr)), ended.kinds())
}

#[test]
fn what_is_to_be_done_at_the_end_is_done() {
    let library = build_library("farewell/library.c");
    let library = library.to_str().expect("a plain path");
    let (expected, kinds) = failing(&build("farewell/handlers.c"), &["main"], WAYS[0]);
    assert!((40..160).contains(&expected), "{expected} of 200");
    assert_eq!(kinds, ["crash"]);
    for (name, arguments) in [
        ("farewell/handlers.c", &["main"][..]),
        ("farewell/handlers.c", &["atexit"]),
        ("farewell/handlers.c", &["on_exit"]),
        ("farewell/handlers.c", &["late"]),
        ("farewell/handlers.c", &["exit"]),
        ("farewell/handlers.c", &["loaded", library]),
        ("farewell/destructor.c", &[]),
        ("farewell/static.cc", &[]),
    ] {
        for way in WAYS {
            let found = failing(&build(name), arguments, way);
            assert_eq!(found, (expected, kinds.clone()), "{name} {arguments:?} {way:?}");
        }
    }
}

#[test]
fn to_end_quickly_is_an_end_like_any_other() {
    for how in ["main", "thread"] {
        for way in WAYS {
            let options = [way, &["--runs", "50", "--races", "off", "--expect-exit", "0"]].concat();
            let (ended, _) = run_with(&build("farewell/quick.c"), &options, &[how]);
            assert_eq!(ended.code, Some(0), "{how} {way:?}: {}{}", ended.stdout, ended.stderr);
        }
    }
}

#[test]
fn a_copy_has_all_processors_as_soon_as_it_could_tell() {
    let processors = std::thread::available_parallelism().expect("a number").to_string();
    for how in
        ["sched", "thread", "get_nprocs", "sysconf", "syscall", "system", "popen", "posix_spawn", "fork"]
    {
        let options = ["--isolation", "fork", "--runs", "100"];
        let (ended, _) = run_with(&build("processors.c"), &options, &[how, &processors]);
        assert_eq!(ended.code, Some(0), "{how}: {}{}", ended.stdout, ended.stderr);
    }
}

/// Builds with the wrapper, as users do.
fn wrapped(name: &str, at: &Path, words: &[&str]) -> Ended {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native/c").join(name);
    let mut command = raddle();
    command.env("RADDLE_CC", "gcc").env("TMPDIR", env!("CARGO_TARGET_TMPDIR"));
    command.env("RADDLE_CACHE", at.join("cache"));
    command.args(["cc", "-O1"]).args(words).arg(source).arg("-o").arg(at.join("program"));
    ended(&command.output().expect("the command starts"))
}

#[test]
fn code_in_large_pages_tells_its_lines() {
    // Where parts of the program are to be is said to GNU ld alone; the last of these takes another.
    for words in [&[][..], &["-no-pie"], &["-fuse-ld=gold"]] {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let built = wrapped("rare.c", directory.path(), words);
        assert_eq!(built.code, Some(0), "{words:?}: {}", built.stderr);
        let options = ["--isolation", "fork", "--runs", "20000"];
        let (found, _) = run_with(&directory.path().join("program"), &options, &[]);
        assert_eq!(found.kinds(), ["assertion"], "{words:?}: {}", found.stdout);
        let json = found.json();
        assert!(json["runs"].as_u64() > Some(64), "{words:?}: found too early to be of a late copy");
        assert_eq!(json["failures"][0]["sites"][0]["line"], 23, "{words:?}: {}", found.stdout);
    }
}
