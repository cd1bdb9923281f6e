//! Round trips of arbitrary values, and damaged input: reading never panics and never accepts
//! what was not written.

use crate::{any, samples};
use proptest::prelude::*;
use raddle_model::{Plan, SiteId, Tail};
use raddle_wire::{FailureFile, WireError, failure, plan, schedule};

fn any_failure() -> impl Strategy<Value = FailureFile> {
    let texts = ("\\PC{0,40}", "[a-z]{0,10}");
    let parts = (
        any::any_plan(),
        any::any_trace(),
        texts,
        proptest::prelude::any::<bool>(),
        proptest::prelude::any::<[u64; 2]>(),
    );
    parts.prop_map(|(plan, mut trace, (message, strategy), same, [seed, run])| {
        let mut file = samples::deadlock();
        if same {
            trace.schedule = plan.prefix.clone();
        }
        file.failure.tasks.retain(|task| task.index() < trace.names.len());
        file.failure.message = message;
        (file.found.strategy, file.found.seed, file.found.run) = (strategy, seed, run);
        FailureFile { plan, trace, ..file }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn plans_come_back(value in any::any_plan()) {
        prop_assert_eq!(plan::decode(&plan::encode(&value)), Ok(value));
    }

    #[test]
    fn schedules_come_back(value in any::any_plan()) {
        let text = schedule::encode(&value, samples::key);
        let expected = Plan { seed: 0, tail: Tail::None, ..value };
        prop_assert_eq!(schedule::decode(&text, samples::site), Ok(expected));
    }

    #[test]
    fn failures_come_back(value in any_failure()) {
        prop_assert_eq!(failure::decode(&failure::encode(&value)), Ok(value));
    }

    #[test]
    fn noise_is_refused(bytes in prop::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
        prop_assert!(plan::decode(&bytes).is_err());
        prop_assert!(failure::decode(&bytes).is_err());
        let text = format!("r1.{}", String::from_utf8_lossy(&bytes));
        prop_assert!(schedule::decode(&text, |_| SiteId::UNKNOWN).is_err());
    }

    #[test]
    fn a_cut_file_is_truncated(value in any_failure(), cut in proptest::prelude::any::<prop::sample::Index>()) {
        let bytes = failure::encode(&value);
        let short = &bytes[..cut.index(bytes.len())];
        let error = failure::decode(short).expect_err("it is cut");
        let expected = if short.is_empty() {
            matches!(error, WireError::NotOurs { .. })
        } else {
            matches!(error, WireError::Truncated { .. })
        };
        prop_assert!(expected, "{error}");
    }

    #[test]
    fn a_flipped_bit_is_refused(value in any_failure(), at in proptest::prelude::any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = failure::encode(&value);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(failure::decode(&bytes).is_err());
    }

    /// Behind the checksum too: content that was written wrong is refused or read, never a panic.
    #[test]
    fn wrong_content_under_a_right_checksum(
        value in any_failure(),
        changes in prop::collection::vec((proptest::prelude::any::<prop::sample::Index>(), proptest::prelude::any::<u8>()), 1..8),
    ) {
        let mut bytes = failure::encode(&value);
        let start = bytes.iter().position(|&byte| byte == 0).expect("the end of the note") + 1;
        let content = start + 8;
        for (at, byte) in changes {
            let at = content + at.index(bytes.len() - content);
            bytes[at] = byte;
        }
        let mut crc = crc32fast::Hasher::new();
        crc.update(&bytes[..start + 4]);
        crc.update(&bytes[content..]);
        bytes[start + 4..content].copy_from_slice(&crc.finalize().to_le_bytes());
        if let Ok(file) = failure::decode(&bytes) {
            let tasks = file.trace.names.len();
            prop_assert!(file.trace.events.iter().all(|event| event.task.index() < tasks));
            prop_assert_eq!(failure::decode(&failure::encode(&file)), Ok(file));
        }
    }
}

#[test]
fn the_head_says_what_it_is() {
    let bytes = failure::encode(&samples::deadlock());
    let head = bytes.split(|&byte| byte == 0).next().unwrap();
    assert_eq!(
        std::str::from_utf8(head).unwrap(),
        "raddle-failure 2\n\
         deadlock: main/0 waits for mutex o4 held by main/1; main/1 waits for mutex o3 held by main/0\n\
         found by random, seed 42, run 17, raddle 0.1.0; read it with: raddle show FILE\n"
    );
}

#[test]
fn a_newer_file_says_so() {
    let bytes = failure::encode(&samples::deadlock());
    let newer = [b"raddle-failure 3\n", &bytes[17..]].concat();
    let error = failure::decode(&newer).unwrap_err();
    assert_eq!(
        error.to_string(),
        "this failure file was made by a newer raddle (format version 3; this one reads up to 2): \
         update raddle"
    );
}

#[test]
fn a_long_run_is_a_small_file() {
    let mut file = samples::deadlock();
    let events = file.trace.events.clone();
    file.trace.events = (0..10_000)
        .map(|i| {
            let mut event = events[2 + i % 2];
            event.index = (i / 2) as u32;
            event
        })
        .collect();
    let bytes = failure::encode(&file);
    assert!(bytes.len() < 31_000, "{} bytes", bytes.len());
    assert_eq!(failure::decode(&bytes), Ok(file));
}

#[test]
fn sites_of_a_plan_are_found_again_by_place() {
    let mut file = samples::deadlock();
    file.plan.points.accesses = vec![SiteId(3), SiteId(5)];
    let plan = file.plan_here(|place| SiteId(100 - place.line));
    assert_eq!(plan.points.accesses, [SiteId(80), SiteId(88)]);
}
