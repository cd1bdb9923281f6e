//! Runs that are interrupted in the middle of something, by a fault or because nothing happens any more: the report says
//! where, in the program's own source, and what led there.

use crate::support::{build, ended, files, raddle, run_with};

/// The line that has the place in its comment.
fn line(how: &str) -> usize {
    let source = include_str!("c/interrupted.c");
    let mark = format!("here: {how}");
    let at = source.lines().position(|line| line.contains(&mark));
    at.expect("the place is marked") + 1
}

fn look(how: &str, kind: &str, options: &[&str]) {
    let options = [&["--runs", "20", "--hang-ms", "500", "--races", "off"], options].concat();
    let (found, out) = run_with(&build("interrupted.c"), &options, &[how]);
    assert_eq!(found.kinds(), [kind], "{how} {options:?}: {}{}", found.stdout, found.stderr);
    let json = found.json();
    let failure = &json["failures"][0];
    let said = failure["message"].as_str().expect("a message");
    assert!(said.starts_with("main/0 ") || said.starts_with("main/1 "), "{how} {options:?}: {said}");
    let site = &failure["sites"][0];
    assert!(
        site["file"].as_str().is_some_and(|file| file.ends_with("interrupted.c")),
        "{how} {options:?}: {site}"
    );
    assert_eq!(site["line"], line(how), "{how} {options:?}");
    // What came before is there, too, and it is found again.
    let [file] = &files(out.path())[..] else { panic!("one file") };
    let shown = ended(&raddle().arg("show").arg(file).output().expect("the command starts")).stdout;
    assert!(shown.contains("lock lock  interrupted.c:"), "{how} {options:?}: {shown}");
    let again = ended(&raddle().arg("replay").arg(file).output().expect("the command starts"));
    assert!(again.stdout.contains(said), "{how} {options:?}: {}{}", again.stdout, again.stderr);
}

#[test]
fn who_computes_for_ever_says_where() {
    for isolation in ["reset", "fork", "in-process"] {
        look("loop", "hang", &["--isolation", isolation]);
    }
    look("loop", "hang", &["--backend", "threads"]);
    look("loop", "hang", &["--strategy", "odpor"]);
}

#[test]
fn who_waits_in_the_kernel_says_where() {
    for isolation in ["reset", "fork"] {
        look("kernel", "hang", &["--isolation", isolation]);
    }
    look("kernel", "hang", &["--backend", "threads"]);
}

#[test]
fn a_crash_in_a_library_is_told_where_the_program_called_it() {
    for isolation in ["reset", "fork"] {
        look("library", "crash", &["--isolation", isolation]);
    }
    look("library", "crash", &["--backend", "threads"]);
}

#[test]
fn a_crash_without_a_stack_is_told_all_the_same() {
    for isolation in ["reset", "fork"] {
        look("stack", "crash", &["--isolation", isolation]);
    }
}
