//! `RwLock` inside a run, outside, and in both.

use crate::common::{assert_deadlock, failure_of, outcomes, passes};
use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, RwLock, RwLockWriteGuard, TryLockError};
use raddle::thread;
use std::collections::BTreeSet;

#[test]
fn readers_meet_and_writers_are_alone() {
    let seen = outcomes(|| {
        let lock = Arc::new(RwLock::new(0));
        let readers = Arc::new(AtomicUsize::new(0));
        let read = |lock: Arc<RwLock<i32>>, readers: Arc<AtomicUsize>| {
            move || {
                let guard = lock.read().unwrap();
                readers.fetch_add(1, Ordering::SeqCst);
                let together = readers.load(Ordering::SeqCst);
                readers.fetch_sub(1, Ordering::SeqCst);
                assert!(*guard == 0 || *guard == 2);
                together
            }
        };
        let first = thread::spawn(read(lock.clone(), readers.clone()));
        let second = thread::spawn(read(lock.clone(), readers.clone()));
        {
            let mut guard = lock.write().unwrap();
            assert_eq!(readers.load(Ordering::SeqCst), 0);
            *guard += 1;
            assert_eq!(readers.load(Ordering::SeqCst), 0);
            *guard += 1;
        }
        first.join().unwrap().max(second.join().unwrap())
    });
    assert_eq!(seen, BTreeSet::from([1, 2]));
}

#[test]
fn tries_fail_where_they_must() {
    let seen = outcomes(|| {
        let lock = Arc::new(RwLock::new(()));
        let other = lock.clone();
        let task = thread::spawn(move || {
            let guard = other.write().unwrap();
            thread::spawn(|| ()).join().unwrap();
            let guard = RwLockWriteGuard::downgrade(guard);
            thread::spawn(|| ()).join().unwrap();
            drop(guard);
        });
        let read = lock.try_read().is_ok();
        let write = lock.try_write().is_ok();
        task.join().unwrap();
        (read, write)
    });
    let all = [(false, false), (false, true), (true, false), (true, true)];
    assert_eq!(seen, BTreeSet::from(all));
}

#[test]
fn no_writer_comes_between_a_downgrade() {
    passes(|| {
        let lock = Arc::new(RwLock::new(0));
        let other = lock.clone();
        let task = thread::spawn(move || *other.write().unwrap() = 7);
        let mut guard = lock.write().unwrap();
        *guard = 1;
        let guard = RwLockWriteGuard::downgrade(guard);
        assert_eq!(*guard, 1);
        assert!(lock.try_read().is_ok() && lock.try_write().is_err());
        drop(guard);
        task.join().unwrap();
    });
}

#[test]
fn only_writers_poison() {
    passes(|| {
        let lock = Arc::new(RwLock::new(1));
        let panics = |lock: Arc<RwLock<i32>>, write: bool| {
            move || {
                let _write = write.then(|| lock.write().unwrap());
                let _read = (!write).then(|| lock.read().unwrap());
                panic!("on purpose");
            }
        };
        assert!(thread::spawn(panics(lock.clone(), false)).join().is_err());
        assert!(!lock.is_poisoned() && lock.read().is_ok() && lock.write().is_ok());
        assert!(thread::spawn(panics(lock.clone(), true)).join().is_err());
        assert!(lock.is_poisoned() && lock.read().is_err() && lock.write().is_err());
        assert!(matches!(lock.try_read(), Err(TryLockError::Poisoned(_))));
        assert!(matches!(lock.try_write(), Err(TryLockError::Poisoned(_))));
        lock.clear_poison();
        assert!(lock.read().is_ok());
    });
}

#[test]
fn reading_and_then_writing_is_a_deadlock() {
    assert_deadlock(&failure_of(|| {
        let lock = RwLock::new(());
        let _read = lock.read().unwrap();
        let _write = lock.write().unwrap();
    }));
}

#[test]
fn a_leaked_reader_keeps_writers_out() {
    assert_deadlock(&failure_of(|| {
        let lock = Arc::new(RwLock::new(()));
        let other = lock.clone();
        thread::spawn(move || std::mem::forget(other.read().unwrap())).join().unwrap();
        assert!(lock.read().is_ok());
        drop(lock.write());
    }));
}

#[test]
fn works_outside_a_run() {
    let lock = RwLock::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|_| *lock.write().unwrap() += 1));
            scope.spawn(|| (0..500).for_each(|_| assert!(*lock.read().unwrap() <= 2000)));
        }
    });
    let guard = RwLockWriteGuard::downgrade(lock.write().unwrap());
    assert_eq!(format!("{guard:?} {guard}"), "2000 2000");
    assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
    assert_eq!(format!("{lock:?}"), format!("{:?}", std::sync::RwLock::new(2000)));
    drop(guard);
    let guard = lock.write().unwrap();
    assert_eq!(format!("{lock:?}"), "RwLock { data: <locked>, poisoned: false, .. }");
    drop(guard);
    let panics = || {
        let _guard = lock.write().unwrap();
        panic!("on purpose");
    };
    std::thread::scope(|scope| assert!(scope.spawn(panics).join().is_err()));
    assert!(lock.is_poisoned() && lock.into_inner().is_err());
}

#[test]
fn may_be_used_outside_then_inside_then_outside() {
    let lock = Arc::new(RwLock::new(1));
    *lock.write().unwrap() += 1;
    let shared = lock.clone();
    passes(move || {
        let other = shared.clone();
        let task = thread::spawn(move || *other.write().unwrap() += 1);
        *shared.write().unwrap() -= 1;
        task.join().unwrap();
        assert_eq!(*shared.read().unwrap(), 2);
    });
    assert_eq!(*lock.read().unwrap(), 2);
    let guard = lock.read().unwrap();
    let shared = lock.clone();
    let failure = failure_of(move || drop(shared.read()));
    assert!(failure.contains("in use by a thread outside the run"), "{failure}");
    drop(guard);
}

#[test]
fn conversions() {
    assert_eq!(RwLock::from(3).into_inner().unwrap(), 3);
    assert_eq!(*RwLock::<i32>::default().get_mut().unwrap(), 0);
    // As with std's, a reader of something long-lived is a reader of something short-lived.
    fn shorter<'a, 'b>(
        guard: raddle::sync::RwLockReadGuard<'a, &'static str>,
        _: &'b str,
    ) -> raddle::sync::RwLockReadGuard<'a, &'b str> {
        guard
    }
    let lock = RwLock::new("static");
    assert_eq!(*shorter(lock.read().unwrap(), &String::from("short")), "static");
}
