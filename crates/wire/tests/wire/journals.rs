//! Journals: the golden file, the fold over entries, and entries that were cut off.

use crate::golden::golden;
use crate::samples;
use raddle_model::plan::Step;
use raddle_model::{Kind, ObjectId, Op, SiteId};
use raddle_wire::journal::{self, Entry, State, Take};
use raddle_wire::{JournalHeader, JournalVersion};

fn header() -> JournalHeader {
    JournalHeader {
        program: "tests::transfers".into(),
        identity: 0x1234_5678_9abc_def0,
        strategy: "odpor".into(),
        plan: samples::rich(),
    }
}

fn op() -> Op {
    Op::new(Kind::Lock, ObjectId(3), SiteId(77)).arg(300)
}

/// Two entries: the second shortens the state and changes what is left. Of this the golden file is made.
fn sample() -> Vec<u8> {
    let mut bytes = journal::encode_header(&header());
    let mut entry = Entry::default();
    for number in 0..3 {
        entry.part(number, |put| put.number(number as u64));
    }
    entry.rest().flag(false);
    entry.write(3, &mut bytes);
    entry.clear();
    entry.part(1, |put| {
        put.step(&Step { task: 9, choices: vec![1, 2] });
        put.op(&op());
        put.bytes(b"abc");
        put.list([5u64, 600].iter(), |put, &number| put.name(number));
    });
    entry.rest().flag(true);
    entry.write(2, &mut bytes);
    bytes
}

fn check(state: &State) {
    assert_eq!(state.parts.len(), 2);
    assert_eq!(Take::new(&state.parts[0]).number(), Ok(0));
    let mut take = Take::new(&state.parts[1]);
    assert_eq!(take.step(), Ok(Step { task: 9, choices: vec![1, 2] }));
    assert_eq!(take.op(), Ok(op()));
    assert_eq!(take.bytes(), Ok(&b"abc"[..]));
    assert_eq!(take.list(Take::name), Ok(vec![5, 600]));
    assert!(take.flag().is_err(), "there is no more");
    assert_eq!(Take::new(&state.rest).flag(), Ok(true));
}

#[test]
fn the_golden_file() {
    let now = sample();
    for version in JournalVersion::OLDEST.0..=JournalVersion::CURRENT.0 {
        let file = format!("journal-{version}.bin");
        let stored = golden(&file, &now);
        let (found, state, length) = journal::decode(&stored).unwrap();
        assert_eq!((found, length), (header(), stored.len()), "{file}");
        check(&state.unwrap());
        if version == JournalVersion::CURRENT.0 {
            assert_eq!(stored, now, "{file}: the format changed without a new version");
        }
    }
}

/// Parts that are written once, and then what happens to them; then all of it anew.
fn changed(entries: usize) -> Vec<u8> {
    let mut bytes = journal::encode_header(&header());
    let mut entry = Entry::default();
    for number in 0..entries {
        entry.clear();
        entry.rest().number(number as u64);
        match number {
            0 | 3 => {
                entry.is_whole();
                entry.part(1, |put| put.number(number as u64));
                entry.changes(b"begins ");
            }
            1 => entry.changes(b"goes on "),
            _ => entry.changes(b"ends"),
        }
        entry.write(2, &mut bytes);
    }
    bytes
}

#[test]
fn changes_add_up_until_all_is_written_again() {
    let now = changed(4);
    let stored = golden("journal-2-changes.bin", &now);
    assert_eq!(stored, now, "the format changed without a new version");
    let told = [&b"begins "[..], b"begins goes on ", b"begins goes on ends", b"begins "];
    for (entries, told) in (1..).zip(told) {
        let bytes = changed(entries);
        let (_, state, length) = journal::decode(&bytes).unwrap();
        let State { parts, changes, rest } = state.unwrap();
        assert_eq!((changes, length), (told.to_vec(), bytes.len()));
        assert_eq!(Take::new(&parts[1]).number(), Ok(if entries < 4 { 0 } else { 3 }));
        assert_eq!(Take::new(&rest).number(), Ok(entries as u64 - 1));
    }
}

/// Wherever the last entry is cut off or damaged, the state is the one before it; a head that is cut off is an error.
#[test]
fn an_entry_that_was_cut_off_is_as_if_it_never_was() {
    let bytes = sample();
    let head = journal::encode_header(&header()).len();
    let mut lengths = Vec::new();
    for end in 0..bytes.len() {
        match journal::decode(&bytes[..end]) {
            Err(_) => assert!(end < head, "{end}"),
            Ok((_, state, length)) => {
                assert!(length <= end && end >= head);
                assert_eq!(state.map_or(0, |state| state.parts.len()), if length == head { 0 } else { 3 });
                lengths.push(length);
            }
        }
    }
    lengths.dedup();
    assert_eq!(lengths.len(), 2, "nothing, or the first entry");
    for at in lengths[1]..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let (_, state, length) = journal::decode(&damaged).unwrap();
        assert_eq!((state.unwrap().parts.len(), length), (3, lengths[1]), "byte {at}");
    }
}
