//! `OnceLock` inside a run, outside, and in both.

use crate::common::{assert_deadlock, failure_of, outcomes, passes};
use raddle::sync::{Arc, OnceLock};
use raddle::thread;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn one_value_for_all() {
    let seen = outcomes(|| {
        let cell = Arc::new(OnceLock::new());
        let other = cell.clone();
        let task = thread::spawn(move || *other.get_or_init(|| 1));
        let mine = *cell.get_or_init(|| 2);
        assert_eq!(mine, task.join().unwrap());
        assert_eq!(cell.get(), Some(&mine));
        mine
    });
    assert_eq!(seen, BTreeSet::from([1, 2]));
}

#[test]
fn set_gives_the_value_back_if_it_comes_late() {
    let seen = outcomes(|| {
        let cell = Arc::new(OnceLock::new());
        let other = cell.clone();
        let task = thread::spawn(move || other.set(String::from("theirs")));
        let looked = cell.get().cloned();
        let mine = cell.set(String::from("mine"));
        let theirs = task.join().unwrap();
        assert_ne!(mine.is_ok(), theirs.is_ok());
        assert_eq!(cell.get().unwrap(), if mine.is_ok() { "mine" } else { "theirs" });
        (looked, mine)
    });
    let theirs = || Some(String::from("theirs"));
    let back = || Err(String::from("mine"));
    assert_eq!(seen, BTreeSet::from([(None, Ok(())), (None, back()), (theirs(), back())]));
}

#[test]
fn waits_for_a_value() {
    passes(|| {
        let cell = Arc::new(OnceLock::new());
        let other = cell.clone();
        let task = thread::spawn(move || *other.wait());
        let other = cell.clone();
        let panics = thread::spawn(move || *other.get_or_init(|| panic!("on purpose")));
        assert!(panics.join().is_err());
        assert_eq!(cell.get(), None);
        cell.set(5).unwrap();
        assert_eq!(task.join().unwrap(), 5);
    });
    assert_deadlock(&failure_of(|| {
        OnceLock::<i32>::new().wait();
    }));
}

#[test]
fn needing_its_own_value_is_a_deadlock() {
    assert_deadlock(&failure_of(|| {
        let cell = OnceLock::new();
        cell.get_or_init(|| *cell.get_or_init(|| 1));
    }));
}

#[test]
fn it_can_be_emptied_and_filled_again_in_one_run() {
    passes(|| {
        let mut cell = OnceLock::new();
        assert_eq!(cell.take(), None);
        cell.set(1).unwrap();
        assert_eq!(cell.take(), Some(1));
        assert_eq!(cell.get(), None);
        assert_eq!(*cell.get_or_init(|| 2), 2);
        *cell.get_mut().unwrap() = 3;
        assert_eq!(cell.clone().into_inner(), Some(3));
        let moved = std::mem::take(&mut cell);
        assert_eq!((moved.get(), cell.get()), (Some(&3), None));
        assert_eq!(moved, OnceLock::from(3));
        assert_ne!(moved, cell);
    });
}

#[test]
fn works_outside_a_run() {
    let cell = OnceLock::new();
    assert!(catch_unwind(AssertUnwindSafe(|| cell.get_or_init(|| panic!("on purpose")))).is_err());
    assert_eq!(format!("{cell:?}"), "OnceLock(<uninit>)");
    let values: Vec<i32> = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| *cell.wait());
        let cell = &cell;
        let init = |i| scope.spawn(move || *cell.get_or_init(|| i));
        let tasks: Vec<_> = (0..4).map(init).collect();
        tasks.into_iter().chain([waiter]).map(|task| task.join().unwrap()).collect()
    });
    assert!(values.iter().all(|value| Some(value) == cell.get()));
    assert_eq!(cell.set(9), Err(9));
    assert_eq!(format!("{:?}", OnceLock::from(1)), "OnceLock(1)");
}

#[test]
fn what_is_set_outside_is_set_inside_and_the_other_way_round() {
    let pair = Arc::new((OnceLock::from(1), OnceLock::new()));
    let shared = pair.clone();
    passes(move || {
        assert_eq!(shared.0.get(), Some(&1));
        assert_eq!(shared.0.wait(), &1);
        assert_eq!(shared.0.set(2), Err(2));
        shared.1.get_or_init(|| 3);
    });
    assert_eq!(pair.1.get(), Some(&3));
}

#[test]
fn a_value_may_borrow_what_dies_with_it() {
    // As with std's: the cell's destructor does not look at what it borrows.
    let cell: OnceLock<&str> = OnceLock::new();
    let text = String::from("text");
    cell.set(&text).unwrap();
    assert_eq!(cell.get(), Some(&"text"));
    struct Node<'a>(OnceLock<&'a Node<'a>>);
    let node = Node(OnceLock::new());
    assert!(node.0.set(&node).is_ok());
}
