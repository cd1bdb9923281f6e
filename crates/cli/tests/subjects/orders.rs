//! What sampled runs show of a subject a search has run, if it says that it has run everything there is.
//!
//! Compared are the partial orders of runs that end by themselves: a sampled run is over when something fails, while in a search
//! the other tasks go on. And only of the later ones: which accesses are scheduling points is found out in the first.

use crate::expectation::{bugs, mended};
use crate::{COMPILERS, campaign};
use std::collections::BTreeSet;
use std::path::Path;

/// The partial orders of runs from a number on that have ended by themselves.
fn orders(log: &Path, first: u64) -> BTreeSet<String> {
    let text = std::fs::read_to_string(log).expect("a log");
    let runs = text.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let later = runs.filter(|run| run[0].parse::<u64>().expect("a number") >= first && run[5] == "finished");
    later.map(|run| run[1].to_owned()).collect()
}

#[test]
fn sampling_shows_nothing_that_an_exhausted_search_has_not() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let log = directory.path().join("log");
    let path = log.to_str().expect("a path in UTF-8");
    let subjects: Vec<_> =
        bugs().into_iter().chain(mended()).filter(|subject| subject.later.is_none()).collect();
    let wanted = raddle_tiers::size("order_subjects") as usize;
    let (mut wrong, mut compared) = (Vec::new(), 0);
    // At any size: a search has said of this one that everything was run, and missed something.
    let once_wrong = |name: &str| name == "use_after_free";
    let step = subjects.len().div_ceil(wanted);
    for (number, subject) in subjects.iter().enumerate() {
        if number % step != 0 && !once_wrong(&subject.name) {
            continue;
        }
        let options = |strategy: &'static str| ["--strategy", strategy, "--log", path];
        let search = campaign(subject, COMPILERS[0], "order_search_runs", &options("odpor")).0;
        if search["exhausted"] != true {
            continue;
        }
        let searched = orders(&log, 0);
        let sampled = campaign(subject, COMPILERS[0], "order_subject_runs", &options("random")).0;
        let more: Vec<String> = orders(&log, raddle_tiers::size("order_subject_runs") / 4)
            .difference(&searched)
            .cloned()
            .collect();
        if sampled["runs"].is_null() || !more.is_empty() {
            wrong.push(format!("{}: {more:?} of {}", subject.name, sampled["distinct_partial_orders"]));
        }
        compared += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= wanted.min(subjects.len()) / 4, "only {compared} searches were done to the end");
}
