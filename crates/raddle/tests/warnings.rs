//! Deadlocks that no run has shown are warned of, and nothing else is.

use raddle::sync::atomic::{AtomicBool, Ordering};
use raddle::sync::{Arc, Mutex, RwLock};
use raddle::{Check, Report, thread};

fn check() -> Check {
    let out = std::env::temp_dir().join(format!("raddle-test-warnings-{}", std::process::id()));
    Check::new().out(out)
}

fn explore(runs: u64, body: impl Fn() + Send + Sync + 'static) -> Report {
    check().runs(runs).explore(body).unwrap()
}

/// The report of one run that did not deadlock, though others do.
fn lucky(body: fn()) -> Report {
    let mut reports = (0..).map(|seed| check().runs(1).seed(seed).explore(body).unwrap());
    reports.find(|report| !report.failed()).unwrap()
}

#[track_caller]
fn assert_silent(body: impl Fn() + Send + Sync + 'static) {
    let report = explore(2_000, body);
    assert!(!report.failed() && report.warnings().is_empty(), "{}", report.text());
}

/// Runs both at the same time.
fn both(one: impl FnOnce() + Send + 'static, other: impl FnOnce() + Send + 'static) {
    let tasks = [thread::spawn(one), thread::spawn(other)];
    tasks.into_iter().for_each(|task| task.join().unwrap());
}

type Locks = Arc<(Mutex<u32>, Mutex<u32>)>;

fn ab(locks: &Locks) {
    let _a = locks.0.lock().unwrap();
    *locks.1.lock().unwrap() += 1;
}

fn ba(locks: &Locks) {
    let _b = locks.1.lock().unwrap();
    *locks.0.lock().unwrap() += 1;
}

fn crossed() {
    let locks = Locks::default();
    let mine = locks.clone();
    both(move || ab(&mine), move || ba(&locks));
}

#[test]
fn a_deadlock_that_no_run_showed_is_warned_of() {
    let report = lucky(crossed);
    let [warning] = report.warnings() else { panic!("{}", report.text()) };
    let sites = warning.sites();
    assert_eq!(sites.len(), 2);
    let text = report.text();
    for site in sites.iter().flatten() {
        assert!(site.contains("tests/warnings.rs:"), "{site}");
        assert!(text.contains(&**site), "{text}");
    }
    let summary = text.find("1 run in").expect("a summary");
    assert!(text.find("warning: potential deadlock of main/0, main/1") > Some(summary), "{text}");
    assert!(text.contains("main/1 takes a mutex at"), "{text}");
}

#[test]
fn a_deadlock_that_was_shown_is_no_warning() {
    let report = explore(1_000, crossed);
    assert_eq!(report.failures()[0].kind(), "deadlock");
    assert!(report.warnings().is_empty(), "{}", report.text());
}

/// The flag keeps the tasks apart, which the order of locks cannot know: it is warned of once.
#[test]
fn many_runs_give_one_warning() {
    let report = explore(2_000, || {
        let shared = Arc::new((Locks::default(), AtomicBool::new(false)));
        let other = shared.clone();
        both(
            move || {
                ab(&shared.0);
                shared.1.store(true, Ordering::SeqCst);
            },
            move || {
                if other.1.load(Ordering::SeqCst) {
                    ba(&other.0);
                }
            },
        );
    });
    assert!(!report.failed());
    assert_eq!(report.warnings().len(), 1, "{}", report.text());
}

#[test]
fn three_tasks_in_a_circle_are_seen() {
    let report = lucky(|| {
        let locks: Arc<[Mutex<()>; 3]> = Arc::default();
        let tasks: Vec<_> = (0..3)
            .map(|i| {
                let locks = locks.clone();
                thread::spawn(move || {
                    let _left = locks[i].lock().unwrap();
                    let _right = locks[(i + 1) % 3].lock().unwrap();
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
    });
    // All three take their locks in the same two lines.
    assert_eq!(report.warnings()[0].sites().len(), 3);
}

#[test]
fn one_order_is_fine() {
    assert_silent(|| {
        let locks = Locks::default();
        let mine = locks.clone();
        both(move || ab(&mine), move || ab(&locks));
    });
}

#[test]
fn one_task_in_both_orders_is_fine() {
    assert_silent(|| {
        let locks = Locks::default();
        let mine = locks.clone();
        both(
            move || {
                ab(&locks);
                ba(&locks);
            },
            move || *mine.0.lock().unwrap() += 1,
        );
    });
}

#[test]
fn a_common_lock_around_both_orders_is_fine() {
    assert_silent(|| {
        let shared = Arc::new((Locks::default(), Mutex::new(())));
        let other = shared.clone();
        both(
            move || {
                let _gate = shared.1.lock().unwrap();
                ab(&shared.0);
            },
            move || {
                let _gate = other.1.lock().unwrap();
                ba(&other.0);
            },
        );
    });
}

#[test]
fn tasks_that_never_meet_are_fine() {
    assert_silent(|| {
        let locks = Locks::default();
        let mine = locks.clone();
        let first = thread::spawn(move || ab(&mine));
        first.join().unwrap();
        let (mine, other) = (locks.clone(), locks);
        both(move || ba(&mine), move || ba(&other));
    });
}

#[test]
fn readers_do_not_wait_for_each_other() {
    assert_silent(|| {
        let locks = Arc::new((RwLock::new(0), RwLock::new(0)));
        let mine = locks.clone();
        both(
            move || {
                let _a = locks.0.read().unwrap();
                let _b = locks.1.read().unwrap();
            },
            move || {
                let _b = mine.1.read().unwrap();
                let _a = mine.0.read().unwrap();
            },
        );
    });
}

#[test]
fn a_try_waits_for_nobody() {
    assert_silent(|| {
        let locks = Locks::default();
        let mine = locks.clone();
        both(
            move || ab(&locks),
            move || {
                let _b = mine.1.lock().unwrap();
                let _a = mine.0.try_lock();
            },
        );
    });
}
