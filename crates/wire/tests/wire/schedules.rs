//! The schedule string as people meet it: its length, and what they are told if it is wrong.

use crate::samples;
use raddle_model::{SiteId, TaskId};
use raddle_wire::{What, WireError, schedule};

fn text() -> String {
    schedule::encode(&samples::small(), samples::key)
}

fn refused(text: &str) -> WireError {
    schedule::decode(text, samples::site).expect_err("it must be refused")
}

#[test]
fn a_small_run_is_a_short_string() {
    let text = text();
    assert!(text.len() < 100, "{} characters: {text}", text.len());
    assert!(text.starts_with("r1.") && schedule::looks_like(&text));
    assert!(!schedule::looks_like("raddle-out/a.raddle"));
    assert!(!schedule::looks_like("r1.raddle"));
}

#[test]
fn wrapped_lines_are_joined() {
    let text = text();
    let wrapped = format!("  {}\n  {}\n", &text[..40], &text[40..]);
    assert_eq!(schedule::decode(&wrapped, samples::site), Ok(samples::small()));
}

#[test]
fn sites_are_named_by_key_and_not_by_number() {
    let plan = samples::rich();
    let text = schedule::encode(&plan, samples::key);
    let read = schedule::decode(&text, |key| SiteId(100_000 - key.0)).unwrap();
    assert_eq!(read.points.accesses, [SiteId(30_000), SiteId(99_996)]);
}

#[test]
fn something_else_is_told_from_a_schedule() {
    let what = What::Schedule;
    for odd in ["", "r", "hello", "r1", "rx.abc", "raddle-out/a.raddle", "1.abc"] {
        assert_eq!(refused(odd), WireError::NotOurs { what }, "{odd}");
    }
    let newer = refused(&text().replacen("r1.", "r7.", 1));
    assert_eq!(newer, WireError::Newer { what, found: 7, readable: 1 });
    assert!(newer.to_string().contains("newer raddle"));
    assert!(matches!(refused("r99999999.abc"), WireError::Newer { .. }));
    assert!(matches!(refused("r0.abc"), WireError::Older { .. }));
}

#[test]
fn a_missing_end_is_truncation() {
    let text = text();
    for length in 3..text.len() {
        let error = refused(&text[..length]);
        assert_eq!(error, WireError::Truncated { what: What::Schedule }, "{length}");
    }
}

#[test]
fn a_mistyped_character_is_named() {
    let text = text();
    for at in 3..text.len() {
        let wrong = if text.as_bytes()[at] == b'x' { 'y' } else { 'x' };
        let mut typed = text.clone();
        typed.replace_range(at..=at, &wrong.to_string());
        let WireError::Damaged { at: Some(found), why, .. } = refused(&typed) else {
            panic!("{typed}");
        };
        assert_eq!(found, at + 1);
        assert_eq!(why, format!("`{wrong}` should probably be `{}`", &text[at..=at]));
    }
    let message = refused(&text.replacen('.', ".é", 1)).to_string();
    assert_eq!(message, "this schedule is damaged at character 4: `é` is no character of a schedule");
}

#[test]
fn swapped_halves_are_damage_and_not_another_schedule() {
    let text = text();
    let (head, body) = text.split_at(3);
    let (left, right) = body.split_at(body.len() / 2);
    let error = refused(&format!("{head}{right}{left}"));
    assert!(matches!(error, WireError::Damaged { .. } | WireError::Truncated { .. }));
}

#[test]
fn a_hundred_tasks_and_ten_thousand_decisions_stay_readable() {
    let mut plan = samples::small();
    plan.prefix.decisions =
        (0..10_000u32).map(|i| raddle_model::Decision::Run(TaskId(i / 7 % 100))).collect();
    let text = schedule::encode(&plan, samples::key);
    assert!(text.len() < 4_200, "{}", text.len());
    assert_eq!(schedule::decode(&text, samples::site), Ok(plan));
}
