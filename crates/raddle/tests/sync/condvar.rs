//! `Condvar` inside a run, outside, and in both.

use crate::common::{assert_deadlock, explore_by, failure_of, outcomes, passes};
use raddle::Check;
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::thread;
use std::collections::BTreeSet;
use std::time::Duration;

type Pair = Arc<(Mutex<i32>, Condvar)>;

fn pair() -> Pair {
    Arc::new((Mutex::new(0), Condvar::new()))
}

const LONG: Duration = Duration::from_secs(3600);

#[test]
fn a_waiter_goes_on_when_what_it_waits_for_is_there() {
    passes(|| {
        let pair = pair();
        let other = pair.clone();
        let task = thread::spawn(move || {
            let guard = other.0.lock().unwrap();
            *other.1.wait_while(guard, |value| *value == 0).unwrap()
        });
        *pair.0.lock().unwrap() = 5;
        pair.1.notify_one();
        assert_eq!(task.join().unwrap(), 5);
    });
}

#[test]
fn a_notification_that_nobody_waits_for_is_lost() {
    assert_deadlock(&failure_of(|| {
        let pair = pair();
        let other = pair.clone();
        let task = thread::spawn(move || {
            let guard = other.0.lock().unwrap();
            drop(other.1.wait(guard).unwrap());
        });
        pair.1.notify_one();
        task.join().unwrap();
    }));
}

/// Which of two waiters a single notification wakes.
fn first_woken() -> i32 {
    let pair = pair();
    let ready = Arc::new((Mutex::new(0), Condvar::new()));
    let waits = |me: i32| {
        let (pair, ready) = (pair.clone(), ready.clone());
        thread::spawn(move || {
            let guard = pair.0.lock().unwrap();
            *ready.0.lock().unwrap() += 1;
            ready.1.notify_one();
            let mut guard = pair.1.wait(guard).unwrap();
            if *guard == 0 {
                *guard = me;
            }
            pair.1.notify_one();
        })
    };
    let tasks = [waits(1), waits(2)];
    drop(ready.1.wait_while(ready.0.lock().unwrap(), |count| *count < 2).unwrap());
    // Both have the mutex behind them, so both wait.
    drop(pair.0.lock().unwrap());
    pair.1.notify_one();
    tasks.into_iter().for_each(|task| task.join().unwrap());
    *pair.0.lock().unwrap()
}

#[test]
fn any_waiter_may_be_the_one_that_is_woken() {
    assert_eq!(outcomes(first_woken), BTreeSet::from([1, 2]));
}

#[test]
fn notify_all_wakes_all() {
    passes(|| {
        let pair = pair();
        let waits = |pair: Pair| {
            move || {
                let guard = pair.0.lock().unwrap();
                drop(pair.1.wait_while(guard, |value| *value == 0).unwrap());
            }
        };
        let tasks: Vec<_> = (0..3).map(|_| thread::spawn(waits(pair.clone()))).collect();
        *pair.0.lock().unwrap() = 1;
        pair.1.notify_all();
        tasks.into_iter().for_each(|task| task.join().unwrap());
    });
}

#[test]
fn a_timed_wait_may_end_either_way() {
    let seen = outcomes(|| {
        let pair = pair();
        let other = pair.clone();
        let task = thread::spawn(move || {
            *other.0.lock().unwrap() = 1;
            other.1.notify_one();
        });
        let guard = pair.0.lock().unwrap();
        let result = if *guard == 0 {
            let (guard, result) = pair.1.wait_timeout(guard, LONG).unwrap();
            Some((*guard, result.timed_out()))
        } else {
            None
        };
        task.join().unwrap();
        result
    });
    // Timed out before the task came, or between what it did, or woken, or not waited at all.
    let all = [None, Some((0, true)), Some((1, true)), Some((1, false))];
    assert_eq!(seen, BTreeSet::from(all));
}

#[test]
fn a_timed_wait_for_a_condition_says_whether_it_came() {
    let seen = outcomes(|| {
        let pair = pair();
        let other = pair.clone();
        let task = thread::spawn(move || {
            // In vain, once.
            other.1.notify_one();
            *other.0.lock().unwrap() = 1;
            other.1.notify_one();
        });
        let guard = pair.0.lock().unwrap();
        let (guard, result) = pair.1.wait_timeout_while(guard, LONG, |value| *value == 0).unwrap();
        let outcome = (*guard, result.timed_out());
        drop(guard);
        task.join().unwrap();
        outcome
    });
    assert_eq!(seen, BTreeSet::from([(0, true), (1, false)]));
}

#[test]
#[expect(deprecated, reason = "std still has it")]
fn the_old_timed_wait() {
    passes(|| {
        let pair = pair();
        let (guard, notified) = pair.1.wait_timeout_ms(pair.0.lock().unwrap(), 10).unwrap();
        assert!(!notified && *guard == 0);
    });
}

#[test]
fn poison_shows_after_the_wait() {
    passes(|| {
        let pair = pair();
        let other = pair.clone();
        let task = thread::spawn(move || {
            let mut guard = other.0.lock().unwrap();
            *guard = 1;
            other.1.notify_one();
            panic!("on purpose");
        });
        match pair.0.lock() {
            Ok(guard) if *guard == 0 => {
                let (guard, result) = pair.1.wait_timeout(guard, LONG).map_or_else(
                    |poisoned| {
                        let (guard, result) = poisoned.into_inner();
                        assert_eq!(*guard, 1);
                        (guard, result)
                    },
                    |(guard, result)| (guard, result),
                );
                assert!(*guard == 1 || result.timed_out());
            }
            other => assert!(other.is_err()),
        }
        assert!(task.join().is_err());
        assert!(pair.0.is_poisoned());
    });
}

#[test]
fn spurious_wake_ups_are_there_when_they_are_asked_for() {
    let wait = || drop(pair().1.wait(Mutex::new(0).lock().unwrap()).unwrap());
    assert_deadlock(&failure_of(wait));
    let report = explore_by(Check::new().spurious_wakeups(1), wait);
    assert!(report.failures().is_empty(), "{}", report.text());
}

#[test]
fn lazy_time_outs_come_only_when_nobody_else_can_run() {
    let report = explore_by(Check::new().lazy_timeouts(true), || {
        let pair = pair();
        let other = pair.clone();
        let task = thread::spawn(move || {
            *other.0.lock().unwrap() = 1;
            other.1.notify_one();
        });
        let guard = pair.0.lock().unwrap();
        let (guard, result) = pair.1.wait_timeout_while(guard, LONG, |value| *value == 0).unwrap();
        assert!(*guard == 1 && !result.timed_out());
        drop(guard);
        task.join().unwrap();
        let (guard, result) = pair.1.wait_timeout(pair.0.lock().unwrap(), LONG).unwrap();
        assert!(*guard == 1 && result.timed_out());
    });
    assert!(report.failures().is_empty(), "{}", report.text());
}

#[test]
fn works_outside_a_run() {
    let pair = pair();
    let other = pair.clone();
    let task = std::thread::spawn(move || {
        *other.0.lock().unwrap() = 1;
        other.1.notify_all();
    });
    let guard = pair.1.wait_while(pair.0.lock().unwrap(), |value| *value == 0).unwrap();
    assert_eq!(*guard, 1);
    let (guard, result) = pair.1.wait_timeout(guard, Duration::from_millis(1)).unwrap();
    assert!(result.timed_out() && pair.0.try_lock().is_err());
    let (_guard, result) =
        pair.1.wait_timeout_while(guard, Duration::from_millis(1), |value| *value == 1).unwrap();
    assert!(result.timed_out());
    task.join().unwrap();
}

#[test]
fn may_be_used_outside_then_inside_then_outside() {
    let pair = pair();
    pair.1.notify_all();
    let shared = pair.clone();
    passes(move || {
        *shared.0.lock().unwrap() = 0;
        let other = shared.clone();
        let task = thread::spawn(move || {
            *other.0.lock().unwrap() = 1;
            other.1.notify_one();
        });
        drop(shared.1.wait_while(shared.0.lock().unwrap(), |value| *value == 0).unwrap());
        task.join().unwrap();
    });
    let guard = pair.0.lock().unwrap();
    assert!(pair.1.wait_timeout(guard, Duration::from_millis(1)).unwrap().1.timed_out());
}

#[test]
fn a_run_does_not_touch_what_a_thread_outside_waits_at() {
    let pair = pair();
    let other = pair.clone();
    let task = std::thread::spawn(move || {
        let mut guard = other.0.lock().unwrap();
        *guard = 1;
        drop(other.1.wait_while(guard, |value| *value == 1).unwrap());
    });
    // With the mutex free again and the value set, the thread waits.
    while *pair.0.lock().unwrap() == 0 {
        std::thread::yield_now();
    }
    let shared = pair.clone();
    let failure = failure_of(move || shared.1.notify_all());
    assert!(failure.contains("in use by a thread outside the run"), "{failure}");
    *pair.0.lock().unwrap() = 2;
    pair.1.notify_all();
    task.join().unwrap();
}
