//! `Mutex` inside a run, outside, and in both.

use crate::common::{assert_deadlock, failure_of, outcomes, passes};
use raddle::sync::{Arc, Mutex, TryLockError};
use raddle::thread;
use std::collections::BTreeSet;

#[test]
fn excludes() {
    passes(|| {
        let mutex = Arc::new(Mutex::new((0, 0)));
        let add = |mutex: Arc<Mutex<(i32, i32)>>| {
            move || {
                let mut pair = mutex.lock().unwrap();
                let before = pair.0;
                pair.0 = before + 1;
                pair.1 = before + 1;
            }
        };
        let tasks: Vec<_> = (0..3).map(|_| thread::spawn(add(mutex.clone()))).collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(*mutex.lock().unwrap(), (3, 3));
        assert_eq!(Arc::into_inner(mutex).unwrap().into_inner().unwrap(), (3, 3));
    });
}

#[test]
fn try_lock_fails_while_another_holds_it_and_only_then() {
    let seen = outcomes(|| {
        let mutex = Arc::new(Mutex::new(()));
        let other = mutex.clone();
        let task = thread::spawn(move || {
            let guard = other.lock().unwrap();
            thread::spawn(|| ()).join().unwrap();
            drop(guard);
        });
        let free = match mutex.try_lock() {
            Ok(_guard) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Poisoned(_)) => panic!("nobody panicked"),
        };
        task.join().unwrap();
        assert!(mutex.try_lock().is_ok());
        free
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn a_panicking_holder_poisons() {
    passes(|| {
        let mutex = Arc::new(Mutex::new(1));
        let other = mutex.clone();
        let task = thread::spawn(move || {
            let mut guard = other.lock().unwrap();
            *guard = 2;
            panic!("on purpose");
        });
        assert!(task.join().is_err());
        assert!(mutex.is_poisoned());
        assert!(matches!(mutex.try_lock(), Err(TryLockError::Poisoned(guard)) if **guard.get_ref() == 2));
        assert_eq!(*mutex.lock().unwrap_err().into_inner(), 2);
        mutex.clear_poison();
        assert_eq!(*mutex.lock().unwrap(), 2);
        assert!(!mutex.is_poisoned());
    });
}

#[test]
fn whether_it_is_poisoned_depends_on_the_schedule() {
    let seen = outcomes(|| {
        let mutex = Arc::new(Mutex::new(()));
        let other = mutex.clone();
        let task = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            panic!("on purpose");
        });
        let poisoned = mutex.is_poisoned();
        assert!(task.join().is_err());
        poisoned
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

/// Locks when it is dropped.
struct Locks(Arc<Mutex<i32>>);

impl Drop for Locks {
    fn drop(&mut self) {
        match self.0.lock() {
            Ok(mut guard) => *guard += 1,
            Err(poisoned) => *poisoned.into_inner() += 1,
        }
    }
}

#[test]
fn a_lock_taken_while_unwinding_does_not_poison() {
    passes(|| {
        let mutex = Arc::new(Mutex::new(0));
        let locks = Locks(mutex.clone());
        let task = thread::spawn(move || {
            let _locks = locks;
            panic!("on purpose");
        });
        *mutex.lock().unwrap() += 1;
        assert!(task.join().is_err());
        assert_eq!(*mutex.lock().unwrap(), 2);
    });
}

#[test]
fn guards_may_be_dropped_in_any_order() {
    passes(|| {
        let pair = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = pair.clone();
        let task = thread::spawn(move || {
            let a = other.0.lock().unwrap();
            let b = other.1.lock().unwrap();
            drop(a);
            drop(b);
        });
        let a = pair.0.lock().unwrap();
        let b = pair.1.lock().unwrap();
        drop(b);
        drop(a);
        task.join().unwrap();
    });
}

#[test]
fn taking_it_twice_is_a_deadlock() {
    let failure = failure_of(|| {
        let mutex = Mutex::new(());
        let _first = mutex.lock().unwrap();
        let _second = mutex.lock().unwrap();
    });
    assert_deadlock(&failure);
    assert!(failure.contains("holds it itself"), "{failure}");
}

#[test]
fn a_leaked_guard_keeps_others_out() {
    assert_deadlock(&failure_of(|| {
        let mutex = Arc::new(Mutex::new(()));
        let other = mutex.clone();
        thread::spawn(move || std::mem::forget(other.lock().unwrap())).join().unwrap();
        drop(mutex.lock());
    }));
}

#[test]
fn crossed_locks_are_a_deadlock() {
    assert_deadlock(&failure_of(|| {
        let pair = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = pair.clone();
        let task = thread::spawn(move || {
            let _a = other.0.lock().unwrap();
            let _b = other.1.lock().unwrap();
        });
        let _b = pair.1.lock().unwrap();
        let _a = pair.0.lock().unwrap();
        task.join().unwrap();
    }));
}

#[test]
fn a_run_that_fails_leaves_neither_poison_nor_a_held_lock() {
    let mutex = Arc::new(Mutex::new(0));
    let shared = mutex.clone();
    assert_deadlock(&failure_of(move || {
        let mut guard = shared.lock().unwrap();
        *guard += 1;
        let _again = shared.lock();
    }));
    assert!(!mutex.is_poisoned());
    assert!(*mutex.try_lock().unwrap() >= 1);
}

#[test]
fn works_outside_a_run() {
    let mutex = Arc::new(Mutex::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1000).for_each(|_| *mutex.lock().unwrap() += 1));
        }
    });
    assert_eq!(*mutex.lock().unwrap(), 4000);
    let guard = mutex.lock().unwrap();
    assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
    assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked>, poisoned: false, .. }");
    assert_eq!(format!("{guard:?} {guard}"), "4000 4000");
    drop(guard);
    assert_eq!(format!("{mutex:?}"), format!("{:?}", std::sync::Mutex::new(4000)));
    let panics = || {
        let _guard = mutex.lock().unwrap();
        panic!("on purpose");
    };
    std::thread::scope(|scope| assert!(scope.spawn(panics).join().is_err()));
    assert!(mutex.is_poisoned() && mutex.lock().is_err());
    mutex.clear_poison();
    assert!(mutex.lock().is_ok());
}

#[test]
fn may_be_used_outside_then_inside_then_outside() {
    let mutex = Arc::new(Mutex::new(1));
    *mutex.lock().unwrap() += 1;
    let shared = mutex.clone();
    passes(move || {
        let other = shared.clone();
        let task = thread::spawn(move || *other.lock().unwrap() += 1);
        *shared.lock().unwrap() -= 1;
        task.join().unwrap();
        assert_eq!(*shared.lock().unwrap(), 2);
        assert!(format!("{shared:?}").contains("<in a run>"));
    });
    *mutex.lock().unwrap() += 1;
    assert_eq!(*mutex.lock().unwrap(), 3);
}

#[test]
fn a_run_does_not_wait_for_a_thread_outside() {
    let mutex = Arc::new(Mutex::new(0));
    let shared = mutex.clone();
    let _guard = mutex.lock().unwrap();
    let failure = failure_of(move || drop(shared.lock()));
    assert!(failure.contains("in use by a thread outside the run"), "{failure}");
}

#[test]
fn conversions() {
    assert_eq!(Mutex::from(3).into_inner().unwrap(), 3);
    assert_eq!(*Mutex::<i32>::default().get_mut().unwrap(), 0);
    let unsized_mutex: &Mutex<[i32]> = &Mutex::new([1, 2, 3]);
    assert_eq!(unsized_mutex.lock().unwrap().len(), 3);
    static IN_A_STATIC: Mutex<Vec<i32>> = Mutex::new(Vec::new());
    assert!(IN_A_STATIC.lock().unwrap().is_empty());
}
