//! Partial orders are counted right: programs whose number of them is known.

use crate::support::{build, run};

fn distinct(name: &str, runs: &str) -> u64 {
    let (ended, _out) = run(&build(name), &["--runs", runs]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    ended.json()["distinct_partial_orders"].as_u64().expect("a number")
}

#[test]
fn critical_sections() {
    assert_eq!(distinct("sections.c", "600"), 20);
}

#[test]
fn atomic_increments() {
    assert_eq!(distinct("increments.c", "600"), 24);
}
