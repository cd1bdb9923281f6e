//! `Once` inside a run, outside, and in both.

use crate::common::{assert_deadlock, failure_of, outcomes, passes};
use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Once};
use raddle::thread;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn one_calls_and_all_wait_for_it() {
    let seen = outcomes(|| {
        let shared = Arc::new((Once::new(), AtomicUsize::new(0)));
        let calls = |me: usize, shared: Arc<(Once, AtomicUsize)>| {
            move || {
                shared.0.call_once(|| {
                    shared.1.fetch_add(1, Ordering::SeqCst);
                    shared.1.fetch_add(me * 10, Ordering::SeqCst);
                });
                assert!(shared.0.is_completed());
                shared.1.load(Ordering::SeqCst)
            }
        };
        let task = thread::spawn(calls(1, shared.clone()));
        let mine = calls(2, shared)();
        assert_eq!(mine, task.join().unwrap());
        mine
    });
    assert_eq!(seen, BTreeSet::from([11, 21]));
}

#[test]
fn completion_is_seen_by_those_who_look() {
    let seen = outcomes(|| {
        let once = Arc::new(Once::new());
        let other = once.clone();
        let task = thread::spawn(move || other.call_once(|| ()));
        let complete = once.is_completed();
        task.join().unwrap();
        assert!(once.is_completed());
        complete
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn a_panic_poisons_until_somebody_forces_it() {
    passes(|| {
        let once = Arc::new(Once::new());
        let other = once.clone();
        let task = thread::spawn(move || other.call_once(|| panic!("on purpose")));
        assert!(task.join().is_err());
        assert!(!once.is_completed());
        let other = once.clone();
        assert!(thread::spawn(move || other.call_once(|| ())).join().is_err());
        let other = once.clone();
        assert!(thread::spawn(move || other.wait()).join().is_err());
        once.call_once_force(|state| assert!(state.is_poisoned()));
        once.call_once_force(|_| panic!("it is complete"));
        once.call_once(|| panic!("it is complete"));
        once.wait();
        once.wait_force();
    });
}

#[test]
fn a_wait_ends_with_completion_or_poison() {
    let seen = outcomes(|| {
        let once = Arc::new(Once::new());
        let waits = |once: Arc<Once>| move || once.wait();
        let waiter = thread::spawn(waits(once.clone()));
        let other = once.clone();
        let forced = thread::spawn(move || other.wait_force());
        let other = once.clone();
        let panics = thread::spawn(move || other.call_once(|| panic!("on purpose")));
        assert!(panics.join().is_err());
        once.call_once_force(|state| assert!(state.is_poisoned()));
        forced.join().unwrap();
        waiter.join().is_ok()
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn waiting_for_what_nobody_does_is_a_deadlock() {
    let failure = failure_of(|| Once::new().wait());
    assert_deadlock(&failure);
    assert!(failure.contains("nobody completes it"), "{failure}");
}

#[test]
fn calling_it_from_its_own_closure_is_a_deadlock() {
    assert_deadlock(&failure_of(|| {
        let once = Once::new();
        once.call_once(|| once.call_once(|| ()));
    }));
}

#[test]
fn a_run_that_fails_leaves_it_as_it_was() {
    let once = Arc::new(Once::new());
    let shared = once.clone();
    assert_deadlock(&failure_of(move || {
        let inner = shared.clone();
        shared.call_once(move || inner.call_once(|| ()));
    }));
    once.call_once_force(|state| assert!(!state.is_poisoned()));
    assert!(once.is_completed());
}

#[test]
fn works_outside_a_run() {
    let once = Once::new();
    assert!(!once.is_completed());
    let poisoned = AssertUnwindSafe(|| once.call_once(|| panic!("on purpose")));
    assert!(catch_unwind(poisoned).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| ()))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| once.wait())).is_err());
    let count = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| once.wait_force());
        for _ in 0..4 {
            scope.spawn(|| {
                once.call_once_force(|state| {
                    assert!(state.is_poisoned());
                    count.fetch_add(1, Ordering::SeqCst);
                });
                assert_eq!(count.load(Ordering::SeqCst), 1);
            });
        }
    });
    once.wait();
    assert!(once.is_completed());
    assert_eq!(format!("{once:?}"), "Once { .. }");
}

#[test]
fn what_is_complete_outside_is_complete_inside_and_the_other_way_round() {
    let pair = Arc::new((Once::new(), Once::new()));
    pair.0.call_once(|| ());
    let shared = pair.clone();
    passes(move || {
        assert!(shared.0.is_completed());
        shared.0.call_once(|| panic!("it is complete"));
        shared.0.wait();
        shared.1.call_once(|| ());
    });
    assert!(pair.1.is_completed());
    pair.1.call_once(|| panic!("it is complete"));
}

#[test]
fn poison_from_outside_is_poison_inside() {
    let once = Arc::new(Once::new());
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("on purpose")))).is_err());
    let shared = once.clone();
    let failure = failure_of(move || shared.call_once(|| ()));
    assert!(failure.contains("Once instance has previously been poisoned"), "{failure}");
    let shared = once.clone();
    passes(move || shared.call_once_force(|_| ()));
}
