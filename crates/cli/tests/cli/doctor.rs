//! `raddle doctor`: what it says works was used, and what does not work is said.

use crate::support::{path_with_raddle, run, scratch, shell};

#[test]
fn what_the_tests_of_this_project_use_is_found() {
    let scratch = scratch();
    let ended = run(scratch.path(), &["doctor", "--format", "json"]).expect_code(0);
    let json = ended.json();
    assert_eq!((&json["schema"], &json["works"]), (&"raddle.doctor.v1".into(), &true.into()));
    let checks = json["checks"].as_array().expect("checks");
    let names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().expect("a name")).collect();
    let expected = [
        "fsgsbase",
        "glibc",
        "kernel-threads",
        "fork",
        "userfaultfd",
        "pagemap-scan",
        "syscall-user-dispatch",
    ];
    assert_eq!(names, expected);
    assert!(
        checks.iter().all(|check| check["detail"].as_str().is_some_and(|detail| !detail.is_empty())),
        "{json}"
    );
    let works = |family: &str, wrapper: &str| {
        let mut compilers = json["compilers"].as_array().expect("compilers").iter();
        compilers.any(|one| one["family"] == family && one["wrapper"] == wrapper && one["works"] == true)
    };
    for family in ["gcc", "clang"] {
        assert!(works(family, "cc") && works(family, "c++"), "{family}: {json}");
    }
    let text = run(scratch.path(), &["doctor"]).expect_code(0).out;
    assert!(expected.iter().all(|name| text.contains(name)), "{text}");
    assert!(text.contains("What a run changes can be undone"), "{text}");
    assert_eq!(json["backend"], "fibers");
    assert!(text.contains("`auto` chooses fibers, since the thread pointer was moved"), "{text}");
}

#[test]
fn without_a_compiler_it_says_so() {
    let scratch = scratch();
    let path = path_with_raddle();
    let directory = std::env::split_paths(&path).next().expect("a directory");
    let line = format!("PATH={} raddle doctor", directory.display());
    let ended = shell(&line, scratch.path()).expect_code(2);
    assert!(ended.out.contains("none was found"), "{}", ended.out);
    assert!(ended.err.contains("install gcc or clang"), "{}", ended.err);
}

#[test]
fn a_probe_fails_where_what_it_asks_for_is_refused() {
    // The loader needs one descriptor, and so does the first thing that is opened; the second finds none.
    let scratch = scratch();
    let ended = shell("ulimit -n 4; raddle doctor --probe pagemap-scan", scratch.path()).expect_code(1);
    assert!(ended.out.contains("pagemap: Too many open files"), "{}", ended.out);
    run(scratch.path(), &["doctor", "--probe", "no-such"]).expect_code(2);
}
