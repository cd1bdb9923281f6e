//! Summaries, and json.

use crate::stories;
use expect_test::expect;
use raddle_report::{Checkpoints, Exhausted, Found, Hapset, Isolation, Place, Summary, Warning, json};

fn summary() -> Summary {
    Summary {
        program: "bank::transfers".into(),
        strategy: "rapos".into(),
        seed: 7,
        runs: 10_000,
        steps: 171_234,
        accesses: Some(2_000_000),
        distinct: 1_234,
        distinct_exact: true,
        unseen_probability: 0.0213,
        hapset: None,
        backend: None,
        isolation: None,
        checkpoints: None,
        runs_digest: None,
        exhausted: Exhausted::No,
        runs_left: None,
        search_seconds: 0.0,
        failing_runs: 3,
        failures: vec![Found {
            kind: "deadlock".into(),
            run: 17,
            message: "two tasks\nwait".into(),
            file: Some("raddle-out/deadlock-17.raddle".into()),
            sites: vec![Place {
                file: "src/bank.rs".into(),
                line: 12,
                column: 9,
                function: "transfer".into(),
            }],
        }],
        seconds: 0.25,
        weak_orders: true,
        notes: Vec::new(),
        warnings: Vec::new(),
    }
}

#[test]
fn a_sampled_summary() {
    expect![[r#"
        10,000 runs in 250 ms (40,000 runs/s), 171,234 steps; rapos, seed 7
        1,234 distinct partial orders, the next run is a new one with probability 0.021
        1 distinct failure (3 runs failed)
        note: an atomic weaker than SeqCst was executed; weak-memory outcomes were not explored
    "#]]
    .assert_eq(&summary().text());
}

#[test]
fn an_exhaustive_summary_of_an_estimated_number() {
    let summary = Summary {
        runs: 1,
        steps: 1,
        distinct_exact: false,
        exhausted: Exhausted::Within("modulo spin iterations".into()),
        failures: vec![],
        failing_runs: 0,
        weak_orders: false,
        seconds: 0.0,
        ..summary()
    };
    expect![[r#"
        1 run in 0 µs, 1 step; rapos, seed 7
        about 1,234 distinct partial orders: all there are, modulo spin iterations
    "#]]
    .assert_eq(&summary.text());
}

fn with_a_warning() -> Summary {
    let warning = Warning {
        message: "potential deadlock of main/0, main/1".into(),
        details: vec!["main/0 takes one".into(), "main/1 takes the other".into()],
        sites: vec![Place { file: "src/bank.rs".into(), line: 12, column: 9, function: String::new() }],
    };
    let notes = vec!["one job instead of 4".into()];
    Summary {
        failures: vec![],
        failing_runs: 0,
        weak_orders: false,
        warnings: vec![warning],
        notes,
        ..summary()
    }
}

#[test]
fn notes_and_warnings_come_after_the_figures() {
    expect![[r#"
        10,000 runs in 250 ms (40,000 runs/s), 171,234 steps; rapos, seed 7
        1,234 distinct partial orders, the next run is a new one with probability 0.021
        note: one job instead of 4
        warning: potential deadlock of main/0, main/1
          main/0 takes one
          main/1 takes the other
    "#]]
    .assert_eq(&with_a_warning().text());
}

#[test]
fn runs_that_got_processes_of_their_own_are_told() {
    let alone = vec![("clone".into(), 3), ("chdir".into(), 1)];
    let isolation = Isolation { name: "reset".into(), alone, why: None, moved: 2 };
    let summary = Summary { isolation: Some(isolation), runs_digest: Some(0xab), ..summary() };
    let line = "4 runs had a process of their own, because of what cannot be undone: clone 3, chdir 1\n";
    assert!(summary.text().contains(line), "{}", summary.text());
    let one = Isolation { alone: vec![("clone".into(), 1)], ..Isolation::default() };
    let text = Summary { isolation: Some(one), ..summary.clone() }.text();
    assert!(text.contains("1 run had a process of its own, because of"), "{text}");
    let value: serde_json::Value = serde_json::from_str(&json::summary(&summary)).unwrap();
    let alone = serde_json::json!({ "chdir": 1, "clone": 3 });
    let expected = serde_json::json!({ "name": "reset", "alone": alone, "why": null, "moved": 2 });
    assert_eq!(value["isolation"], expected);
    assert_eq!(value["runs_digest"], "000000000000000000000000000000ab");
    let why = Isolation { why: Some("the kernel is too old".into()), ..Isolation::default() };
    let text = Summary { isolation: Some(why), ..summary }.text();
    assert!(text.contains("note: each run had a process of its own: the kernel is too old\n"), "{text}");
}

#[test]
fn hapset_coverage_is_told() {
    let hapset = Hapset { pairs: 34, growth: vec![(1, 20), (57, 34)], file: Some("a.hapset".into()) };
    let summary = Summary { hapset: Some(hapset), ..with_a_warning() };
    let line = "HaPSet coverage: 34 pairs, the last new one after 57 runs; now in a.hapset\n";
    assert!(summary.text().contains(line), "{}", summary.text());
    let value: serde_json::Value = serde_json::from_str(&json::summary(&summary)).unwrap();
    let expected = serde_json::json!({
        "pairs": 34, "last_new_after_runs": 57, "growth": [[1, 20], [57, 34]], "file": "a.hapset"
    });
    assert_eq!(value["hapset"], expected);
    let nothing = Summary { hapset: Some(Hapset::default()), ..summary };
    assert!(nothing.text().contains("HaPSet coverage: 0 pairs\n"), "{}", nothing.text());
}

#[test]
fn tools_are_told_of_warnings() {
    let value: serde_json::Value = serde_json::from_str(&json::summary(&with_a_warning())).unwrap();
    assert_eq!(value["notes"][0], "one job instead of 4");
    let warning = &value["warnings"][0];
    assert_eq!(warning["message"], "potential deadlock of main/0, main/1");
    assert_eq!(warning["details"][1], "main/1 takes the other");
    assert_eq!(warning["sites"][0]["line"], 12);
}

#[test]
fn a_summary_for_tools_is_one_line() {
    let line = json::summary(&summary());
    assert!(!line.contains('\n'));
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    expect![[r#"
        {
          "accesses": 2000000,
          "backend": null,
          "checkpoint_events": null,
          "checkpoint_hits": null,
          "distinct_partial_orders": 1234,
          "distinct_partial_orders_exact": true,
          "exhausted": false,
          "exhausted_within": null,
          "failing_runs": 3,
          "failures": [
            {
              "file": "raddle-out/deadlock-17.raddle",
              "kind": "deadlock",
              "message": "two tasks\nwait",
              "run": 17,
              "sites": [
                {
                  "column": 9,
                  "file": "src/bank.rs",
                  "function": "transfer",
                  "line": 12
                }
              ]
            }
          ],
          "hapset": null,
          "isolation": null,
          "memory_model": "sc",
          "notes": [],
          "program": "bank::transfers",
          "runs": 10000,
          "runs_digest": null,
          "runs_left": null,
          "runs_per_second": 40000.0,
          "schema": "raddle.summary.v1",
          "search_seconds": 0.0,
          "seconds": 0.25,
          "seed": 7,
          "steps": 171234,
          "strategy": "rapos",
          "unseen_probability": 0.0213,
          "warnings": [],
          "weak_orders_executed": true
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn a_failure_for_tools() {
    let line = json::failure(&stories::deadlock());
    assert!(!line.contains('\n'));
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    expect![[r#"
        {
          "events": [
            {
              "at": "src/bank.rs:30:9",
              "index": 0,
              "kind": "spawn",
              "move": "stay",
              "outcome": "spawned",
              "step": 0,
              "task": 0,
              "value": 1
            },
            {
              "at": "src/bank.rs:31:9",
              "index": 1,
              "kind": "spawn",
              "move": "stay",
              "outcome": "spawned",
              "step": 1,
              "task": 0,
              "value": 2
            },
            {
              "at": "src/bank.rs:12:9",
              "index": 0,
              "kind": "lock",
              "move": "switch",
              "object": "mutex#1",
              "outcome": "done",
              "step": 2,
              "task": 1
            },
            {
              "at": "src/bank.rs:20:9",
              "index": 0,
              "kind": "lock",
              "move": "preemption",
              "object": "mutex#2",
              "outcome": "done",
              "step": 3,
              "task": 2
            }
          ],
          "held": [
            {
              "at": "src/bank.rs:12:9",
              "object": "mutex#1",
              "shared": false,
              "since_step": 2,
              "task": 1
            },
            {
              "at": "src/bank.rs:20:9",
              "object": "mutex#2",
              "shared": false,
              "since_step": 3,
              "task": 2
            }
          ],
          "kind": "deadlock",
          "memory_model": "sc",
          "message": "main/0 waits for mutex#2 held by main/1; main/1 waits for mutex#1 held by main/0",
          "objects": [
            {
              "first_use": {
                "column": 9,
                "file": "src/bank.rs",
                "function": "bank::transfer",
                "line": 12
              },
              "id": 3,
              "name": "mutex#1",
              "noun": "mutex"
            },
            {
              "first_use": {
                "column": 9,
                "file": "src/bank.rs",
                "function": "bank::transfer",
                "line": 20
              },
              "id": 4,
              "name": "mutex#2",
              "noun": "mutex"
            }
          ],
          "pending": [
            {
              "at": "src/bank.rs:33:9",
              "blocked": true,
              "kind": "join",
              "object": "main/0",
              "task": 0
            },
            {
              "at": "src/bank.rs:13:9",
              "blocked": true,
              "kind": "lock",
              "object": "mutex#2",
              "task": 1
            },
            {
              "at": "src/bank.rs:21:9",
              "blocked": true,
              "kind": "lock",
              "object": "mutex#1",
              "task": 2
            }
          ],
          "preemptions": 1,
          "run": 17,
          "schema": "raddle.failure.v1",
          "seed": 0,
          "sites": [
            {
              "column": 9,
              "file": "src/bank.rs",
              "function": "bank::transfer",
              "line": 13
            },
            {
              "column": 9,
              "file": "src/bank.rs",
              "function": "bank::transfer",
              "line": 21
            }
          ],
          "strategy": "random",
          "tasks": [
            {
              "id": 0,
              "name": "main",
              "parent": null
            },
            {
              "id": 1,
              "name": "main/0 payer",
              "parent": 0
            },
            {
              "id": 2,
              "name": "main/1",
              "parent": 0
            }
          ],
          "tasks_involved": [
            1,
            2
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn all_events_of_a_long_run_are_there() {
    let value: serde_json::Value = serde_json::from_str(&json::failure(&stories::long())).unwrap();
    assert_eq!(value["events"].as_array().unwrap().len(), stories::long().trace.events.len());
    assert_eq!(value["memory_model"], "sc");
}

#[test]
fn what_did_not_have_to_happen_again_is_told() {
    let summary = Summary { checkpoints: Some(Checkpoints { hits: 3, events: 60_000 }), ..summary() };
    let line = "3 runs went on from checkpoints: 60,000 steps did not have to happen again\n";
    assert!(summary.text().contains(line), "{}", summary.text());
    let value: serde_json::Value = serde_json::from_str(&json::summary(&summary)).unwrap();
    assert_eq!((&value["checkpoint_hits"], &value["checkpoint_events"]), (&3.into(), &60_000.into()));
    let none = Summary { checkpoints: Some(Checkpoints::default()), ..summary };
    assert!(!none.text().contains("checkpoint"), "{}", none.text());
}
