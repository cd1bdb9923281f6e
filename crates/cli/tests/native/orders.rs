//! A search that says it has run everything has: what a sampler shows in many runs of small programs with signals,
//! cancellation, files, time and state of the process is among what `dfs` has shown, and among what `dpor` and `odpor` have
//! shown unless they say what they know no order of.

use crate::support::{build, run_with};
use std::collections::BTreeSet;
use std::path::Path;

/// Runs of a sampler in which it learns what is raced for: before that a run is told in fewer steps.
const LEARNS: usize = 200;

const SIGNALS: &str = "but for the order of signals";
const CANCELLATIONS: &str = "but for the order of cancellations";
const FILES: &str = "but for the order of calls on files and streams";
const PROCESS: &str = "but for the order of calls that use what the process has one of";
const PARTS: &str = "but for the order of accesses to several parts of one atomic";
const NUMBERS: &str = "but for the order of calls that take or free numbers of files or keys";

/// Each program, and what a search that goes by dependence says about having run everything.
const PROGRAMS: &[(&str, Option<&str>)] = &[
    ("cancel_point", Some(CANCELLATIONS)),
    ("cancel_state", Some(CANCELLATIONS)),
    ("cancel_wait", Some(CANCELLATIONS)),
    ("signal_handled", Some(SIGNALS)),
    ("signal_masked", Some(SIGNALS)),
    ("signal_waited", Some(SIGNALS)),
    ("signal_anybody", Some(SIGNALS)),
    ("signal_to_waiter", Some(SIGNALS)),
    ("signal_action", Some(SIGNALS)),
    ("signal_nobody", Some(SIGNALS)),
    ("pipe_order", None),
    ("pipe_poll", None),
    ("pipe_close", None),
    ("pipe_several", Some(FILES)),
    ("pipe_three", Some(FILES)),
    ("group_both", None),
    ("futex_limit", None),
    ("futex_moved", None),
    ("futex_chosen", None),
    ("semaphore_limit", None),
    ("join_try", None),
    ("file_names", Some(FILES)),
    ("file_position", Some(FILES)),
    ("stream_order", Some(FILES)),
    ("file_numbers", Some(NUMBERS)),
    ("key_numbers", Some(NUMBERS)),
    ("environment", Some(PROCESS)),
    ("random_numbers", Some(PROCESS)),
    ("thread_name", Some(PROCESS)),
    ("process_copy", Some(PROCESS)),
    ("atomic_half", None),
    ("atomic_whole", None),
    ("atomic_version", None),
    ("futex_half", None),
    ("atomic_again", None),
    ("atomic_quarters", Some(PARTS)),
    ("futex_plain", None),
    ("pipe_closed", None),
    ("pipe_renamed", Some(FILES)),
    ("pipe_asked", None),
    ("pipe_flags", None),
    ("pipe_stream", None),
    ("socket_shut", None),
    ("stream_locked", Some(FILES)),
    ("nothing_hidden", None),
];

/// What one run was: its partial order and how it ended. Exit codes that differ from the first are told apart only by
/// what is found, so the program's own code is asked for by `--expect-exit`.
type Shown = BTreeSet<(String, String)>;

/// The runs that a log tells of, but for the first ones.
fn shown(log: &Path, without: usize) -> Shown {
    let text = std::fs::read_to_string(log).expect("a log");
    let rows = text.lines().skip(1 + without).map(|line| line.split('\t').collect::<Vec<_>>());
    rows.map(|row| (row[1].to_owned(), row[5].to_owned())).collect()
}

/// Runs a strategy. Whether, and within which bound, everything was run; and what was shown.
fn campaign(program: &str, strategy: &str, runs: &str) -> ((bool, Option<String>), Shown) {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let log = place.path().join("log");
    let file = log.to_str().expect("a name");
    let options =
        ["--strategy", strategy, "--runs", runs, "--stop-after", "0", "--races", "off", "--log", file];
    // The same code is no failure in all strategies, whichever of them meets it first.
    let (ended, _out) =
        run_with(&build("orders.c"), &[&options[..], &["--expect-exit", "0"]].concat(), &[program]);
    let json = ended.json();
    let within = json["exhausted_within"].as_str().map(str::to_owned);
    let without = if strategy == "random" { LEARNS } else { 0 };
    ((json["exhausted"] == true, within), shown(&log, without))
}

#[test]
fn a_sampler_shows_nothing_that_an_exhausted_search_has_not() {
    let runs = raddle_tiers::size("order_runs").to_string();
    let mut holes = Vec::new();
    for &(program, bound) in PROGRAMS {
        let (_, sampled) = campaign(program, "random", &runs);
        assert!(!sampled.is_empty(), "{program}: no run is looked at");
        for strategy in ["dfs", "dpor", "odpor"] {
            let (exhausted, searched) = campaign(program, strategy, "100000");
            let said = match bound {
                Some(bound) if strategy != "dfs" => (false, Some(bound.to_owned())),
                _ => (true, None),
            };
            if exhausted != said {
                holes.push(format!("{program}, {strategy}: it says {exhausted:?}"));
            }
            let more = sampled.difference(&searched).count();
            if exhausted.0 && more > 0 {
                holes.push(format!("{program}, {strategy}: {more} more are there"));
            }
        }
    }
    assert!(holes.is_empty(), "{holes:#?}");
}

/// The bounds are there for a reason: without them `odpor` would be wrong.
#[test]
fn what_is_not_seen_is_missed() {
    for program in ["signal_handled", "cancel_point"] {
        let (_, sampled) = campaign(program, "random", "2000");
        let (_, searched) = campaign(program, "odpor", "100000");
        assert!(!sampled.is_subset(&searched), "{program}: the bound is not needed any more");
    }
}

#[test]
fn a_block_that_is_given_back_has_its_place_in_every_order() {
    for at in ["0", "10000"] {
        for strategy in ["dfs", "dpor", "odpor", "random"] {
            for points in ["sync", "shared", "all"] {
                let options =
                    ["--strategy", strategy, "--points", points, "--runs", "2000", "--stop-after", "0"];
                let (ended, _) = run_with(&build("gone.c"), &options, &[at]);
                let mut kinds = ended.kinds();
                kinds.dedup();
                assert_eq!(kinds, ["memory", "race"], "{at} {strategy} {points}: {}", ended.stdout);
                let exhausted = ended.json()["exhausted"] == true;
                assert_eq!(exhausted, strategy != "random", "{at} {strategy} {points}: {}", ended.stdout);
            }
        }
    }
}
