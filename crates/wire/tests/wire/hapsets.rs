//! HaPSet files: the golden file, round trips, merging, and damaged input.

use crate::golden::golden;
use proptest::prelude::*;
use raddle_model::hapset::{Frame, HapSets, Pair, Statement};
use raddle_wire::{HapsetFile, HapsetVersion, hapset};

fn frame(file: &str, line: u32, column: u32) -> Frame {
    Frame { file: file.into(), line, column }
}

/// Of this the golden file is made: to change it is to change a released file.
fn sample() -> HapsetFile {
    let lock = Statement { frame: frame("src/bank.rs", 12, 9), context: Vec::new() };
    let called = Statement {
        frame: frame("src/bank.c", 20, 0),
        context: vec![frame("src/bank.c", 31, 0), frame("src/main.c", 7, 0)],
    };
    let pairs = [
        Pair { of: lock.clone(), older: true, before: called.clone() },
        Pair { of: called, older: false, before: lock },
    ];
    HapsetFile {
        tool: "0.1.0".into(),
        programs: vec!["tests::audits".into(), "tests::transfers".into()],
        runs: 1_234,
        sets: pairs.into_iter().collect(),
    }
}

#[test]
fn the_golden_file() {
    let now = hapset::encode(&sample());
    for version in HapsetVersion::OLDEST.0..=HapsetVersion::CURRENT.0 {
        let file = format!("hapset-{version}.hapset");
        let stored = golden(&file, &now);
        assert_eq!(hapset::decode(&stored), Ok(sample()), "{file}");
        if version == HapsetVersion::CURRENT.0 {
            assert_eq!(stored, now, "{file}: the format changed without a new version");
        }
    }
}

#[test]
fn the_head_says_what_it_is() {
    let bytes = hapset::encode(&sample());
    let head = bytes.split(|&byte| byte == 0).next().unwrap();
    assert_eq!(
        std::str::from_utf8(head).unwrap(),
        "raddle-hapset 2\n2 pairs of statements from 1234 runs of tests::audits, tests::transfers, raddle 0.1.0\n"
    );
}

#[test]
fn errors_say_what_to_do() {
    let bytes = hapset::encode(&sample());
    let newer = [b"raddle-hapset 3\n", &bytes[16..]].concat();
    assert_eq!(
        hapset::decode(&newer).unwrap_err().to_string(),
        "this HaPSet file was made by a newer raddle (format version 3; this one reads up to 2): update raddle"
    );
    // Its statements have no callers: none of them would be met again, and nobody would know why.
    assert_eq!(
        hapset::decode(&golden("hapset-1.hapset", &[])).unwrap_err().to_string(),
        "this HaPSet file was made by an older raddle (format version 1; this one reads from 2 on): remove it, and \
         learn the sets again"
    );
    assert_eq!(hapset::decode(b"raddle-failure 1\n").unwrap_err().to_string(), "not a raddle HaPSet file");
}

fn any_file() -> impl Strategy<Value = HapsetFile> {
    let frame = ("[a-c]{1,2}\\.rs", 1u32..5, 0u32..3);
    let frame = frame.prop_map(|(file, line, column)| Frame { file, line, column });
    let statement = (frame.clone(), prop::collection::vec(frame, 0..6))
        .prop_map(|(frame, context)| Statement { frame, context: context.into_iter().take(5).collect() });
    let pair = (statement.clone(), any::<bool>(), statement).prop_map(|(of, older, before)| Pair {
        of,
        older,
        before,
    });
    let sets = prop::collection::vec(pair, 0..20).prop_map(HapSets::from_iter);
    let programs = prop::collection::btree_set("[a-z]{1,3}", 0..3);
    (programs, 0u64..1_000, sets).prop_map(|(programs, runs, sets)| HapsetFile {
        tool: "0.1.0".into(),
        programs: programs.into_iter().collect(),
        runs,
        sets,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sets_come_back(value in any_file()) {
        prop_assert_eq!(hapset::decode(&hapset::encode(&value)), Ok(value));
    }

    /// A merge is a union: the order does not matter, and nothing is counted twice.
    #[test]
    fn sets_are_merged(a in any_file(), b in any_file()) {
        let (mut ab, mut ba) = (a.clone(), b.clone());
        let new = ab.merge(b.clone());
        ba.merge(a.clone());
        prop_assert_eq!(&ab, &ba);
        prop_assert_eq!(ab.sets.len(), a.sets.len() + new);
        prop_assert_eq!(ab.runs, a.runs + b.runs);
        prop_assert!(a.sets.iter().chain(b.sets.iter()).all(|pair| ab.sets.contains(pair)));
        prop_assert_eq!(ab.clone().merge(b), 0);
        prop_assert_eq!(hapset::decode(&hapset::encode(&ab)), Ok(ab));
    }

    #[test]
    fn damage_is_refused(value in any_file(), at in any::<prop::sample::Index>(), bit in 0u8..8, cut in any::<bool>()) {
        let mut bytes = hapset::encode(&value);
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] ^= 1 << bit }
        prop_assert!(hapset::decode(&bytes).is_err());
    }

    /// Behind the checksum too: what was written wrong is refused or read, never a panic.
    #[test]
    fn wrong_content_under_a_right_checksum(value in any_file(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = hapset::encode(&value);
        let start = bytes.iter().position(|&byte| byte == 0).expect("the end of the note") + 1;
        let content = start + 8;
        let at = content + at.index(bytes.len() - content);
        bytes[at] = byte;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&bytes[..start + 4]);
        crc.update(&bytes[content..]);
        bytes[start + 4..content].copy_from_slice(&crc.finalize().to_le_bytes());
        if let Ok(file) = hapset::decode(&bytes) {
            prop_assert_eq!(hapset::decode(&hapset::encode(&file)), Ok(file));
        }
    }
}
