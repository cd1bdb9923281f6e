//! Each stable item of `std::sync`, by name and with its signature, from std and from Raddle; and that
//! `docs/parity.md` lists exactly these.

#![expect(deprecated, reason = "std still has them")]
#![expect(clippy::type_complexity, reason = "signatures are spelled out as std spells them")]

use std::collections::BTreeSet;
use std::fmt::{Debug, Display, Pointer};
use std::ops::{Deref, DerefMut};

const PAGE: &str = include_str!("../../../../docs/parity.md");

mod in_raddle;
mod in_std;

fn shows<T: Debug>() {}
fn prints<T: Display>() {}
fn points<T: Pointer>() {}
fn reads<T: Deref<Target = U>, U>() {}
fn writes<T: DerefMut<Target = U>, U>() {}
fn copies<T: Copy>() {}
fn equals<T: Eq>() {}
fn gives<T: Iterator<Item = i32>>() {}

/// The rows of the page's part about `std::sync`: item and status.
fn rows() -> Vec<(&'static str, &'static str)> {
    let part = PAGE.split("\n## ").find(|part| part.starts_with("`std::sync`")).expect("the part is there");
    let rows = part.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    cells.map(|cells| (cells[0].trim_end_matches('`'), cells[1])).collect()
}

#[test]
fn the_page_lists_what_is_there_and_nothing_else() {
    let (mut theirs, mut ours) = (BTreeSet::new(), BTreeSet::new());
    in_std::names(&mut |item| assert!(theirs.insert(item)));
    in_std::atomic_names(&mut |item| assert!(theirs.insert(item)));
    in_raddle::names(&mut |item| assert!(ours.insert(item)));
    in_raddle::atomic_names(&mut |item| assert!(ours.insert(item)));
    assert_eq!(theirs, ours);
    let listed = rows().into_iter().filter(|(_, status)| *status != "absent").map(|(item, _)| item);
    assert_eq!(listed.collect::<BTreeSet<_>>(), ours);
    assert!(rows().iter().all(|(_, status)| ["same", "differs", "absent"].contains(status)));
}
