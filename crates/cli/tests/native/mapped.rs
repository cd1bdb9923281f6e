//! Memory that the program maps: at two addresses it is one memory, and what is mapped anew is nobody's yet.

use crate::support::{build, run_with};

/// What a search says that goes by dependence, of the program with these arguments: kinds of failures, orders, and within
/// what it is exhausted.
fn searched(strategy: &str, arguments: &[&str]) -> (Vec<String>, u64, Option<String>) {
    let options = ["--strategy", strategy, "--stop-after", "0", "--expect-exit", "0"];
    let (ended, _out) = run_with(&build("mapped.c"), &options, arguments);
    let json = ended.json();
    let within = json["exhausted_within"].as_str().map(str::to_owned);
    assert_eq!(json["exhausted"] == true, within.is_none(), "{arguments:?}: {}", ended.stdout);
    let kinds = ended.kinds().into_iter().map(|kind| kind.to_string()).collect();
    (kinds, json["distinct_partial_orders"].as_u64().expect("a number"), within)
}

const WAYS: [&str; 3] = ["file", "remapped", "segment"];

#[test]
fn what_is_done_at_two_addresses_of_one_memory_has_an_order() {
    for strategy in ["odpor", "dpor", "dfs"] {
        for way in WAYS.into_iter().chain(["once", "privately"]) {
            for what in ["atomics", "locked"] {
                let (kinds, orders, within) = searched(strategy, &[way, what]);
                assert_eq!(
                    (kinds, orders, within),
                    (vec![String::from("exit")], 2, None),
                    "{strategy} {way} {what}"
                );
            }
            let (kinds, _, within) = searched(strategy, &[way, "plain"]);
            assert_eq!(
                (kinds, within),
                (vec![String::from("exit"), String::from("race")], None),
                "{strategy} {way}"
            );
        }
    }
}

#[test]
fn locks_are_the_same_at_two_addresses() {
    for way in WAYS {
        let (kinds, _, within) = searched("odpor", &[way, "crossed"]);
        assert_eq!((kinds, within), (vec![String::from("deadlock")], None), "{way}");
    }
}

#[test]
fn a_race_names_the_byte_of_what_is_mapped() {
    let (ended, _out) =
        run_with(&build("mapped.c"), &["--runs", "20", "--expect-exit", "0"], &["file", "plain"]);
    assert!(ended.stdout.contains("byte 0 of shared memory that is mapped"), "{}", ended.stdout);
}

#[test]
fn what_no_access_tells_of_a_mapped_file_is_said() {
    const FILES: &str = "but for the order of calls on files and streams";
    for arguments in [["mixed", "atomics"], ["", "written"]] {
        let (_, _, within) = searched("odpor", &arguments);
        assert_eq!(within.as_deref(), Some(FILES), "{arguments:?}");
    }
}

/// Both threads mostly get the same address, one after the other.
#[test]
fn memory_that_is_mapped_anew_has_no_past() {
    for isolation in ["fork", "reset", "in-process"] {
        let options = ["--runs", "100", "--isolation", isolation];
        let (ended, _out) = run_with(&build("mapped.c"), &options, &["", "own"]);
        assert_eq!(ended.code, Some(0), "{isolation}: {}", ended.stdout);
    }
}

#[test]
fn memory_that_is_unmapped_has_its_place_in_every_order() {
    for strategy in ["random", "dfs", "dpor", "odpor"] {
        let options = ["--strategy", strategy, "--runs", "500", "--stop-after", "0"];
        let (early, _out) = run_with(&build("unmapped.c"), &options, &["early"]);
        let mut kinds = early.kinds();
        kinds.sort_unstable();
        assert_eq!(kinds, ["crash", "race"], "{strategy}: {}", early.stdout);
        for how in ["joined", "elsewhere"] {
            let (fine, _out) = run_with(&build("unmapped.c"), &options, &[how]);
            assert_eq!(fine.code, Some(0), "{strategy} {how}: {}", fine.stdout);
        }
    }
}
