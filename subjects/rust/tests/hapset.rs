//! The subjects of the HaPSet paper: each has its bug and no other, its mended twin has none, and the table is the
//! paper's.

use raddle::{Check, Report};
use raddle_subjects::hapset::{ROWS, Row, Runs};

fn explore(row: &Row, body: fn(), strategy: &str, runs: u64) -> Report {
    let out = std::env::temp_dir().join(format!("raddle-hapset-subjects-{}", std::process::id()));
    // A race is no failure here: what counts is what comes of it.
    let check = Check::new().strategy(strategy).runs(runs).time(std::time::Duration::from_secs(120)).out(out);
    check.name(row.name).races(false).all_points(true).explore(body).unwrap()
}

#[test]
fn every_bug_is_there() {
    for row in ROWS {
        let report = explore(row, row.subject, "random", 20_000);
        let found: Vec<&str> = report.failures().iter().map(raddle::Found::kind).collect();
        assert_eq!(found, [row.kind], "{}: {}", row.name, report.text());
    }
}

#[test]
fn what_is_mended_does_not_fail() {
    for row in ROWS {
        for strategy in ["random", "pos"] {
            let report = explore(row, row.mended, strategy, raddle_tiers::size("ok_runs"));
            assert!(!report.failed() && report.warnings().is_empty(), "{}: {}", row.name, report.text());
        }
    }
}

/// Without control: what has no bug ends well on real threads too.
#[test]
fn what_is_mended_runs_on_real_threads() {
    for row in ROWS {
        (0..50).for_each(|_| (row.mended)());
    }
}

#[test]
fn the_tables_are_the_papers() {
    let numbers =
        |table| ROWS.iter().filter(move |row| row.table == table).map(|row| row.hapset).collect::<Vec<_>>();
    assert_eq!(numbers(1), [14, 18, 22, 25]);
    assert_eq!(numbers(2), [14, 2, 8, 28]);
    assert_eq!(numbers(4), [3, 7, 12, 14, 16, 18, 20, 22, 24]);
    assert_eq!(numbers(5), [5, 5, 5, 3, 3, 5, 5, 5, 5, 5, 3]);
    let third = ROWS.iter().find(|row| row.table == 3).unwrap();
    assert_eq!(third.pcb.iter().map(|(_, runs)| runs.number()).collect::<Vec<_>>(), [286, 12, 94, 151, 95]);
    let slow = ROWS.iter().filter(|row| matches!(row.dpor, Some(Runs::TimedOut(_))));
    assert_eq!(slow.count(), 5, "DPOR timed out on three thread managers, pbz2-f and pfscan");
}
