//! What reports call the things of a program, and what is one row of them.

use crate::support::{build, ended, files, raddle, run_with};

/// The report of the one failure that a few runs show, for people and for tools.
fn report(what: &str, options: &[&str]) -> (String, serde_json::Value) {
    let (found, out) = run_with(&build("told.c"), &[&["--runs", "20"][..], options].concat(), &[what]);
    let [file] = &files(out.path())[..] else { panic!("not one failure: {}", found.stdout) };
    let show = |more: &[&str]| {
        let output = raddle().arg("show").arg(file).args(more).output().expect("the command starts");
        ended(&output)
    };
    (show(&[]).stdout, show(&["--format", "json"]).json())
}

#[test]
fn an_eventfd_in_a_group_is_no_socket() {
    let (text, _) = report("group", &[]);
    assert!(text.contains("write eventfd#1") && text.contains("epoll_wait eventfd#1"), "{text}");
    assert!(!text.contains("socket"), "{text}");
}

#[test]
fn a_race_says_whose_stack_it_is_on() {
    let (text, _) = report("stack", &[]);
    assert!(text.contains("a variable on the stack of main, "), "{text}");
}

#[test]
fn what_is_done_to_many_words_is_one_row() {
    let (text, json) = report("block", &["--points", "all"]);
    let rows = |word: &str| text.lines().filter(|line| line.contains('│') && line.contains(word)).count();
    assert_eq!((rows("free "), rows("read several at"), rows("write several at copy")), (1, 1, 1), "{text}");
    assert_eq!(rows("write copy") + rows("cell#2"), 0, "{text}");
    let events = json["events"].as_array().expect("a list");
    let freed: Vec<_> = events.iter().filter(|event| event["kind"] == "free").collect();
    assert_eq!(freed.len(), 1, "{json}");
    assert_eq!(freed[0]["parts"], 20, "{json}");
}
