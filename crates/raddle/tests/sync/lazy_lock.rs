//! `LazyLock` inside a run, outside, and in both.

use crate::common::{assert_deadlock, failure_of, outcomes, passes};
use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, LazyLock, Weak};
use raddle::thread;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn it_is_made_once_by_whoever_comes_first() {
    let seen = outcomes(|| {
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = calls.clone();
        let lazy = Arc::new(LazyLock::new(move || counter.fetch_add(1, Ordering::SeqCst) + 1));
        let other = lazy.clone();
        let task = thread::spawn(move || **other);
        let looked = LazyLock::get(&lazy).copied();
        assert_eq!((*LazyLock::force(&lazy), task.join().unwrap()), (1, 1));
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        looked
    });
    assert_eq!(seen, BTreeSet::from([None, Some(1)]));
}

#[test]
fn a_panic_poisons() {
    passes(|| {
        let lazy: Arc<LazyLock<i32>> = Arc::new(LazyLock::new(|| panic!("on purpose")));
        for _ in 0..2 {
            let other = lazy.clone();
            assert!(thread::spawn(move || **other).join().is_err());
        }
        assert_eq!(LazyLock::get(&lazy), None);
    });
    let failure = failure_of(|| {
        let lazy: Arc<LazyLock<i32>> = Arc::new(LazyLock::new(|| panic!("on purpose")));
        let other = lazy.clone();
        assert!(thread::spawn(move || **other).join().is_err());
        let _ = **lazy;
    });
    assert!(failure.contains("LazyLock instance has previously been poisoned"), "{failure}");
}

#[test]
fn needing_its_own_value_is_a_deadlock() {
    assert_deadlock(&failure_of(|| {
        type Needy = LazyLock<i32, Box<dyn FnOnce() -> i32 + Send>>;
        let lazy: Arc<Needy> = Arc::new_cyclic(|itself: &Weak<Needy>| {
            let itself = itself.clone();
            LazyLock::new(Box::new(move || **itself.upgrade().unwrap() + 1))
        });
        let _ = **lazy;
    }));
}

#[test]
fn exclusive_access_needs_no_operation() {
    passes(|| {
        let mut lazy = LazyLock::new(|| 1);
        assert_eq!(LazyLock::get_mut(&mut lazy), None);
        assert_eq!(*LazyLock::force_mut(&mut lazy), 1);
        *lazy += 1;
        assert_eq!((*lazy, LazyLock::get(&lazy)), (2, Some(&2)));
        assert_eq!(LazyLock::get_mut(&mut lazy), Some(&mut 2));
        assert_eq!(*LazyLock::<i32>::default(), 0);
    });
    let mut lazy: LazyLock<i32> = LazyLock::new(|| panic!("on purpose"));
    for _ in 0..2 {
        assert!(catch_unwind(AssertUnwindSafe(|| *LazyLock::force_mut(&mut lazy))).is_err());
        assert_eq!(LazyLock::get_mut(&mut lazy), None);
    }
}

#[test]
fn works_outside_then_inside_then_outside() {
    let pair: Arc<(LazyLock<i32>, LazyLock<i32>)> = Arc::new((LazyLock::new(|| 1), LazyLock::new(|| 2)));
    assert_eq!(format!("{:?}", pair.0), "LazyLock(<uninit>)");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(*pair.0, 1));
        }
    });
    let shared = pair.clone();
    passes(move || {
        assert_eq!(LazyLock::get(&shared.0), Some(&1));
        assert_eq!(*shared.1, 2);
    });
    assert_eq!(LazyLock::get(&pair.1), Some(&2));
    assert_eq!(format!("{:?}", pair.1), "LazyLock(2)");
}
