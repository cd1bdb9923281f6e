//! The small programs under raddle, as a user of the library would check them: each bug is found with its kind,
//! and its twin without the bug passes, whatever the strategy.

use raddle::{Check, Report};
use raddle_subjects::{Expect, Program, bug, ok};

const STRATEGIES: [&str; 7] = ["random", "rapos", "pct", "pos", "walks", "coverage", "noise"];

fn explore(program: &Program, strategy: &str, runs: u64) -> Report {
    let out = std::env::temp_dir().join(format!("raddle-subjects-{}", std::process::id()));
    let check = Check::new().strategy(strategy).runs(runs).time(std::time::Duration::from_secs(120)).out(out);
    check.name(program.name).explore(program.body).unwrap()
}

#[test]
fn every_bug_is_found_by_every_strategy() {
    for program in bug::PROGRAMS {
        let Expect::Kind(kind) = program.expect else { panic!("{} has no kind", program.name) };
        for strategy in STRATEGIES {
            let report = explore(program, strategy, 20_000);
            let found: Vec<&str> = report.failures().iter().map(raddle::Found::kind).collect();
            assert_eq!(found, [kind], "{} under {strategy}: {}", program.name, report.text());
        }
    }
}

/// A guided search ends by itself and finds no bug that is not there. It is not complete: what it misses is known,
/// and must not become more.
#[test]
fn bugs_are_found_by_the_guided_search() {
    let mut missed = Vec::new();
    for program in bug::PROGRAMS {
        let Expect::Kind(kind) = program.expect else { panic!("{} has no kind", program.name) };
        for strategy in ["hapset", "hapset:bound=2", "hapset:training=20"] {
            let report = explore(program, strategy, 20_000);
            match report.failures() {
                [] => missed.push((program.name, strategy)),
                [found] if found.kind() == kind => {}
                _ => panic!("{} under {strategy}: {}", program.name, report.text()),
            }
        }
    }
    // Each order of two statements was seen by itself; these bugs need several of them together.
    let known = [
        ("aba_stack", "hapset:training=20"),
        ("readers_writer", "hapset"),
        ("readers_writer", "hapset:bound=2"),
        ("readers_writer", "hapset:training=20"),
    ];
    assert_eq!(missed, known);
    for program in ok::PROGRAMS {
        let report = explore(program, "hapset", 20_000);
        assert!(!report.failed() && report.runs() < 20_000, "{}: {}", program.name, report.text());
    }
}

/// A single run that was lucky still shows in which order the locks are taken.
#[test]
fn a_deadlock_that_did_not_happen_is_warned_of() {
    let program = bug::PROGRAMS.iter().find(|program| program.name == "lock_order").unwrap();
    let lucky = (0..).map(|seed| Check::new().seed(seed).runs(1).explore(program.body).unwrap());
    let report = lucky.take(100).find(|report| !report.failed()).unwrap();
    assert_eq!(report.warnings().len(), 1, "{}", report.text());
}

#[test]
fn no_correct_program_is_reported() {
    let runs = raddle_tiers::size("ok_runs");
    for program in ok::PROGRAMS {
        for strategy in STRATEGIES {
            let report = explore(program, strategy, runs);
            assert!(!report.failed(), "{} under {strategy}: {}", program.name, report.text());
            assert!(report.warnings().is_empty(), "{} under {strategy}: {}", program.name, report.text());
            assert_eq!(report.runs(), runs, "{} under {strategy}", program.name);
        }
    }
}
