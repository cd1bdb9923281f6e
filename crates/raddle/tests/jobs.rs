//! The number of jobs changes nothing but the time: every figure, failure and schedule string is the
//! same. Runs that share objects go on one at a time, however many jobs were asked for.

use raddle::cell::RaceCell;
use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::{Check, Error, Report, thread};
use std::sync::atomic::AtomicU64;

const STRATEGIES: [&str; 7] = ["random", "rapos", "pct", "pos", "walks", "coverage", "noise"];

fn check() -> Check {
    let out = std::env::temp_dir().join(format!("raddle-test-jobs-{}", std::process::id()));
    Check::new().name("body").out(out).time(std::time::Duration::from_secs(600))
}

fn both(task: impl Fn() + Send + Sync + 'static) {
    let task = Arc::new(task);
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            let task = task.clone();
            thread::spawn(move || task())
        })
        .collect();
    tasks.into_iter().for_each(|task| task.join().unwrap());
}

fn fine() {
    let sum = Arc::new(Mutex::new(0));
    both({
        let sum = sum.clone();
        move || (0..4).for_each(|_| *sum.lock().unwrap() += 1)
    });
    assert_eq!(*sum.lock().unwrap(), 8);
}

/// Fails in about one run of some hundreds, in several ways.
fn seldom() {
    let last = Arc::new(AtomicUsize::new(0));
    both({
        let last = last.clone();
        move || {
            for step in 1..9 {
                let before = last.swap(step, Ordering::SeqCst);
                assert!(before < step + 6, "far behind: {before}");
                assert!(before + 6 > step, "far ahead: {before}");
            }
        }
    });
}

/// Its try and its races are learned, and change later plans.
fn teaches() {
    let shared = Arc::new((Mutex::new(0), AtomicUsize::new(0), RaceCell::new(0), RaceCell::new(0)));
    both({
        let shared = shared.clone();
        move || {
            match shared.0.try_lock() {
                Ok(mut count) => *count += 1,
                Err(_) => shared.1.store(1, Ordering::SeqCst),
            }
            if shared.1.load(Ordering::SeqCst) == 1 {
                shared.2.set(shared.2.get() + 1);
                if shared.2.get() == 1 {
                    shared.3.set(shared.3.get() + 1);
                }
            }
        }
    });
}

fn deadlocks() {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    both({
        let shared = shared.clone();
        move || {
            let mut ready = shared.0.lock().unwrap();
            if !*ready {
                *ready = true;
                drop(ready);
                // Lost if the other has not begun to wait.
                shared.1.notify_one();
            } else {
                drop(shared.1.wait(ready).unwrap());
            }
        }
    });
}

/// Everything in a report that may not depend on the number of jobs.
fn content(report: &Report) -> String {
    let mut text = format!(
        "{} runs, {} failed, {} steps, {} orders, unseen {}\n",
        report.runs(),
        report.failing_runs(),
        report.steps(),
        report.distinct_partial_orders(),
        report.unseen_probability(),
    );
    for found in report.failures() {
        text += &format!("run {}: {}\n{}\n", found.run(), found.schedule(), found.text());
    }
    for warning in report.warnings() {
        text += &format!("{warning:?}\n");
    }
    text
}

#[track_caller]
fn same_for_any_number(check: &Check, body: fn()) -> Report {
    let one = check.clone().jobs(1).explore(body).unwrap();
    for jobs in [2, 3] {
        let several = check.clone().jobs(jobs).explore(body).unwrap();
        assert_eq!(content(&several), content(&one), "{jobs} jobs");
        assert!(several.notes().is_empty(), "{:?}", several.notes());
    }
    one
}

#[test]
fn a_body_that_is_fine_has_the_same_figures() {
    for strategy in STRATEGIES {
        let report = same_for_any_number(&check().strategy(strategy).runs(5_000), fine);
        assert!(!report.failed() && report.runs() == 5_000, "{strategy}");
    }
}

#[test]
fn the_same_run_fails_first() {
    let mut late = 0;
    for strategy in STRATEGIES {
        for seed in 0..3 {
            let report = same_for_any_number(&check().strategy(strategy).seed(seed), seldom);
            assert!(report.failed(), "{strategy}");
            late += u32::from(report.runs() > 8);
        }
    }
    // Batches of a few runs are no test.
    assert!(late >= 3, "{late}");
}

#[test]
fn all_failures_are_the_same() {
    for strategy in STRATEGIES {
        let report = same_for_any_number(&check().strategy(strategy).runs(3_000).stop_after(0), seldom);
        assert_eq!(report.failures().len(), 2, "{strategy}");
        let report = same_for_any_number(&check().strategy(strategy).runs(500).stop_after(0), deadlocks);
        assert!(report.failing_runs() > 10, "{strategy}");
    }
}

#[test]
fn the_same_is_learned() {
    for strategy in STRATEGIES {
        let report = same_for_any_number(&check().strategy(strategy).runs(2_000).stop_after(0), teaches);
        assert!(!report.failures().is_empty(), "{strategy}: {}", report.text());
    }
}

#[test]
fn a_hang_among_several_jobs_is_found_and_no_run_is_lost() {
    let run = |jobs| {
        let body = || {
            let last = Arc::new(AtomicUsize::new(0));
            both(move || {
                for step in 1..7 {
                    while last.swap(step, Ordering::SeqCst) + 4 <= step {
                        std::thread::sleep(std::time::Duration::from_secs(1));
                    }
                }
            });
        };
        check().jobs(jobs).hang_ms(300).explore(body).unwrap()
    };
    let one = run(1);
    assert_eq!(one.failures()[0].kind(), "hang");
    assert_eq!(one.failures()[0].run() + 1, one.runs());
    assert_eq!(content(&run(3)), content(&one));
}

static COUNT: Mutex<u32> = Mutex::new(0);

#[test]
fn a_static_allows_one_job() {
    let body = || {
        both(|| *COUNT.lock().unwrap() += 1);
        assert_eq!(*COUNT.lock().unwrap(), 2);
    };
    let report = check().jobs(3).runs(2_000).explore(body).unwrap();
    assert!(!report.failed(), "{}", report.text());
    assert_eq!(report.runs(), 2_000);
    assert!(report.text().contains("note: one job instead of 3"), "{}", report.text());
    assert!(check().runs(10).explore(body).unwrap().notes().is_empty());
}

#[test]
fn what_the_closure_captures_allows_one_job() {
    let captured = Arc::new((Mutex::new(0), AtomicU64::new(0)));
    let body = move || {
        let mine = captured.clone();
        both(move || {
            // No other run is in here.
            let mut count = mine.0.lock().unwrap();
            *count += 1;
            assert_eq!(mine.1.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
            mine.1.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        });
    };
    let report = check().jobs(2).runs(2_000).explore(body).unwrap();
    assert!(!report.failed() && report.runs() == 2_000, "{}", report.text());
    assert_eq!(report.notes().len(), 1);
}

/// Shared objects that few runs come to are met when many runs go on beside each other.
#[test]
fn an_object_that_is_seldom_shared_is_seen_when_it_is() {
    static SELDOM: Mutex<u32> = Mutex::new(0);
    for jobs in [2, 4] {
        let captured = Arc::new((Mutex::new(0u32), Mutex::new(0u32), AtomicU64::new(0)));
        let body = move || {
            let shared = captured.clone();
            let last = Arc::new(AtomicUsize::new(0));
            both(move || {
                for step in 1..7 {
                    let before = last.swap(step, Ordering::SeqCst);
                    if before + 4 <= step {
                        let _guard = shared.0.lock().unwrap();
                        let _other = SELDOM.lock().unwrap();
                        assert_eq!(shared.2.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        let _third = shared.1.lock().unwrap();
                        shared.2.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    }
                }
            });
        };
        let report = check().jobs(jobs).runs(20_000).explore(body).unwrap();
        assert!(!report.failed() && report.runs() == 20_000, "{}", report.text());
        assert_eq!(report.notes().len(), 1, "{}", report.text());
    }
}

#[test]
fn an_impossible_number_is_an_error() {
    for jobs in [0, 65, usize::MAX] {
        let error = check().jobs(jobs).explore(fine).unwrap_err();
        assert!(matches!(&error, Error::Setting(text) if text.contains("ask for 1 to 64")), "{error}");
    }
}

#[test]
fn the_environment_has_the_last_word() {
    let test = "what_the_closure_captures_allows_one_job";
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", test]).env("RADDLE_JOBS", "0").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && text.contains("0 jobs are not possible"), "{text}");
}
