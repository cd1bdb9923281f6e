//! Golden files of every version. Each is read and compared with the value it was made of; those
//! of the current version are also written again and compared byte by byte.
//!
//! A file of a released version is never rewritten: only files that are missing are made, and
//! only if `UPDATE_EXPECT` is set.

use crate::samples;
use raddle_model::Plan;
use raddle_wire::{
    FailureVersion, PlanVersion, ReportVersion, ScheduleVersion, failure, plan, report, schedule,
};
use std::fs;
use std::path::PathBuf;

/// Reads a golden file; makes it first if it is missing and that was asked for.
pub(crate) fn golden(name: &str, current: &[u8]) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
    if !path.exists() && std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, current).expect("writing a golden file");
    }
    fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error} (UPDATE_EXPECT=1 makes it)"))
}

#[test]
fn schedules() {
    for (name, plan) in [("small", samples::small()), ("rich", samples::rich())] {
        let now = schedule::encode(&plan, samples::key);
        for version in ScheduleVersion::OLDEST.0..=ScheduleVersion::CURRENT.0 {
            let file = format!("schedule-{version}-{name}.txt");
            let stored = golden(&file, format!("{now}\n").as_bytes());
            let text = String::from_utf8(stored).expect("text");
            assert_eq!(schedule::decode(&text, samples::site), Ok(plan.clone()), "{file}");
            if version == ScheduleVersion::CURRENT.0 {
                assert_eq!(text.trim_end(), now, "{file}: the format changed without a new version");
            }
        }
    }
}

#[test]
fn plans() {
    for (name, tail) in samples::tails() {
        let value = Plan { tail, seed: 9, ..samples::rich() };
        let now = plan::encode(&value);
        for version in PlanVersion::OLDEST.0..=PlanVersion::CURRENT.0 {
            let file = format!("plan-{version}-{name}.bin");
            let stored = golden(&file, &now);
            assert_eq!(plan::decode(&stored), Ok(value.clone()), "{file}");
            if version == PlanVersion::CURRENT.0 {
                assert_eq!(stored, now, "{file}: the format changed without a new version");
            }
        }
    }
}

#[test]
fn failures() {
    let oldest = FailureVersion::OLDEST.0;
    let all = [
        ("deadlock", samples::deadlock(), oldest),
        ("everything", samples::everything(), oldest),
        // What the program calls its objects.
        ("named", samples::named(), 2),
    ];
    for (name, value, since) in all {
        let now = failure::encode(&value);
        for version in since..=FailureVersion::CURRENT.0 {
            let file = format!("failure-{version}-{name}.raddle");
            let stored = golden(&file, &now);
            assert_eq!(failure::decode(&stored), Ok(value.clone()), "{file}");
            if version == FailureVersion::CURRENT.0 {
                assert_eq!(stored, now, "{file}: the format changed without a new version");
            }
        }
    }
}

/// All reports that have been written since a version say what they did.
fn check_reports(name: &str, value: report::RunReport, since: u16) {
    let now = report::encode(&value);
    for version in since..=ReportVersion::CURRENT.0 {
        let file = format!("report-{version}-{name}.bin");
        let stored = golden(&file, &now);
        assert_eq!(report::decode(&stored), Ok(value.clone()), "{file}");
        if version == ReportVersion::CURRENT.0 {
            assert_eq!(stored, now, "{file}: the format changed without a new version");
        }
    }
}

#[test]
fn reports() {
    let oldest = ReportVersion::OLDEST.0;
    check_reports("finished", samples::finished(), oldest);
    check_reports("recorded", samples::recorded(), oldest);
    // What a search wants to know, the beginning left out, the number of accesses, what nobody sees the order of, who called.
    check_reports("searched", samples::searched(), 2);
    check_reports("continued", samples::continued(), 3);
    check_reports("counted", samples::counted(), 4);
    check_reports("hidden", samples::hidden(), 5);
    check_reports("called", samples::called(), 5);
    check_reports("placed", samples::placed(), 6);
}

/// Stacks that nobody has told, and a beginning that is left out of a run from its beginning.
#[test]
fn who_called_is_known() {
    let mut value = samples::called();
    value.called.arrivals[0].stack = 5;
    assert!(report::decode(&report::encode(&value)).is_err());
    let whole = report::RunReport { since: None, ..samples::called() };
    assert!(report::decode(&report::encode(&whole)).is_err(), "its stacks are not all there");
}

/// A scheduling point before the checkpoint has no place in what came after.
#[test]
fn what_is_left_out_is_not_named() {
    let mut value = samples::continued();
    let log = &mut value.recorded.as_mut().expect("a recorded run").trace.log;
    log.picks[0].event = 41;
    assert!(report::decode(&report::encode(&value)).is_err());
}
