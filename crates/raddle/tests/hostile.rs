//! Bodies and settings that must not bring the test process down: each ends in a clear verdict or
//! error, never in a hang or an abort.

use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::{Check, Error, Report, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

fn check() -> Check {
    Check::new().out(std::env::temp_dir().join(format!("raddle-test-hostile-{}", std::process::id())))
}

fn explore(body: impl Fn() + Send + Sync + 'static) -> Report {
    check().explore(body).unwrap()
}

/// A body that is fine, in which something can be chosen.
fn two_tasks() {
    let task = thread::spawn(|| ());
    thread::yield_now();
    task.join().unwrap();
}

#[track_caller]
fn assert_finds(report: &Report, kind: &str, part: &str) {
    let found = report.failures().first().unwrap_or_else(|| panic!("nothing found: {}", report.text()));
    assert_eq!(found.kind(), kind, "{}", report.text());
    assert!(found.message().contains(part), "{:?} lacks {part:?}", found.message());
}

#[test]
fn an_unknown_strategy_is_named_with_the_known_ones() {
    let error = check().strategy("radnom").explore(|| ()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("radnom") && text.contains("random") && text.contains("rapos"), "{text}");
}

#[test]
fn zero_runs_are_an_error() {
    let error = check().runs(0).explore(|| ()).unwrap_err();
    assert!(matches!(error, Error::Setting(_)) && error.to_string().contains("at least one"), "{error}");
}

#[test]
fn a_body_with_one_task_is_no_pass() {
    let error = check().runs(10).explore(|| drop(Mutex::new(1).lock())).unwrap_err();
    assert_eq!(error, Error::NotControlled);
    assert!(error.to_string().contains("raddle::thread::spawn"));
}

#[test]
fn tasks_one_after_the_other_are_no_pass() {
    let error = check().runs(10).explore(|| thread::spawn(|| ()).join().unwrap()).unwrap_err();
    assert_eq!(error, Error::NotControlled);
}

#[test]
fn check_inside_a_run_is_an_error() {
    let report = explore(|| {
        two_tasks();
        let error = check().explore(|| ()).unwrap_err();
        assert_eq!(error, Error::Nested);
    });
    assert!(!report.failed(), "{}", report.text());
}

#[test]
fn computing_without_end_is_a_hang() {
    // It does end when the test is over, so that the abandoned thread takes nobody's time.
    let over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = over.clone();
    let report = check()
        .hang_ms(300)
        .explore(move || {
            let flag = flag.clone();
            let task = thread::spawn(move || {
                while !flag.load(std::sync::atomic::Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            task.join().unwrap();
        })
        .unwrap();
    over.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_finds(&report, "hang", "300 ms");
}

#[test]
fn a_std_lock_across_tasks_is_a_hang_that_names_the_way_out() {
    let report = check()
        .hang_ms(300)
        .explore(|| {
            let lock = Arc::new(std::sync::Mutex::new(0));
            let point = Arc::new(AtomicUsize::new(0));
            let task = thread::spawn({
                let (lock, point) = (lock.clone(), point.clone());
                move || {
                    let _held = lock.lock().unwrap();
                    point.fetch_add(1, Ordering::SeqCst);
                }
            });
            drop(lock.lock().unwrap());
            point.fetch_add(1, Ordering::SeqCst);
            drop(lock.lock().unwrap());
            task.join().unwrap();
        })
        .unwrap();
    assert_finds(&report, "hang", "raddle::sync");
}

#[test]
fn after_a_hang_other_checks_still_work() {
    computing_without_end_is_a_hang();
    let report = explore(two_tasks);
    assert_eq!(report.runs(), 10_000);
}

#[test]
fn spinning_for_ever_is_a_livelock() {
    let report = check()
        .steps_max(10_000)
        .explore(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let task = thread::spawn({
                let flag = flag.clone();
                move || while !flag.load(Ordering::SeqCst) {}
            });
            task.join().unwrap();
        })
        .unwrap();
    assert_finds(&report, "livelock", "looks again and again");
}

#[test]
fn running_for_ever_reaches_the_step_bound() {
    let report = check()
        .steps_max(10_000)
        .explore(|| {
            let task = thread::spawn(|| {
                let count = AtomicUsize::new(0);
                loop {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
            task.join().unwrap();
        })
        .unwrap();
    assert_finds(&report, "steps", "10000 steps");
}

/// Locks a mutex when dropped.
struct LocksOnDrop(Arc<Mutex<i32>>);

impl Drop for LocksOnDrop {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

#[test]
fn a_deadlock_in_a_destructor_is_a_deadlock() {
    let report = explore(|| {
        let lock = Arc::new(Mutex::new(0));
        let task = thread::spawn({
            let lock = lock.clone();
            move || {
                let _first = LocksOnDrop(lock.clone());
                let _held = Box::new(lock.lock().unwrap());
                drop(LocksOnDrop(lock.clone()));
            }
        });
        task.join().unwrap();
    });
    assert_finds(&report, "deadlock", "holds it itself");
}

#[test]
fn a_deadlock_in_a_destructor_during_a_panic_is_a_deadlock() {
    let report = explore(|| {
        let lock = Arc::new(Mutex::new(0));
        let task = thread::spawn({
            let lock = lock.clone();
            move || {
                let _held = lock.lock().unwrap();
                let _drops_first = LocksOnDrop(lock.clone());
                panic!("the reason");
            }
        });
        let _ = task.join();
    });
    assert_finds(&report, "deadlock", "holds it itself");
}

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("once more");
    }
}

#[test]
fn a_panic_while_unwinding_is_a_failure_and_no_abort() {
    let report = explore(|| {
        let task = thread::spawn(|| {
            let _bomb = PanicsOnDrop;
            panic!("first");
        });
        let _ = task.join();
    });
    assert_finds(&report, "panic", "which aborts the process: once more");
    // The carrier is gone, the process is not.
    assert!(!explore(two_tasks).failed());
}

#[test]
fn a_destructor_that_panics_when_a_run_is_cut_short_is_no_abort() {
    let report = explore(|| {
        let lock = Arc::new(Mutex::new(0));
        let task = thread::spawn({
            let lock = lock.clone();
            move || {
                let _bomb = PanicsOnDrop;
                let _a = lock.lock().unwrap();
                let _b = lock.lock().unwrap();
            }
        });
        task.join().unwrap();
    });
    assert_finds(&report, "deadlock", "holds it itself");
}

/// A pool whose destructor waits for its threads, as many do.
struct Pool(Vec<thread::JoinHandle<()>>);

impl Drop for Pool {
    fn drop(&mut self) {
        for task in self.0.drain(..) {
            task.join().unwrap();
        }
    }
}

#[test]
fn a_pool_that_joins_when_dropped_survives_a_deadlock() {
    let report = explore(|| {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let task = |first: bool| {
            let locks = locks.clone();
            thread::spawn(move || {
                let (a, b) = if first { (&locks.0, &locks.1) } else { (&locks.1, &locks.0) };
                let _a = a.lock().unwrap();
                let _b = b.lock().unwrap();
            })
        };
        let _pool = Pool(vec![task(true), task(false)]);
    });
    assert_finds(&report, "deadlock", "waits for mutex");
}

#[test]
fn swallowing_the_unwinding_of_a_run_does_not_help() {
    let report = explore(|| {
        let lock = Arc::new(Mutex::new(0));
        let task = thread::spawn({
            let lock = lock.clone();
            move || {
                loop {
                    let _ = catch_unwind(AssertUnwindSafe(|| {
                        let _a = lock.lock().unwrap();
                        let _b = lock.lock().unwrap();
                    }));
                }
            }
        });
        task.join().unwrap();
    });
    assert_finds(&report, "deadlock", "holds it itself");
}

#[test]
fn a_leaked_guard_is_a_deadlock_that_names_the_dead() {
    let report = explore(|| {
        let lock = Arc::new(Mutex::new(0));
        let task = thread::spawn({
            let lock = lock.clone();
            move || std::mem::forget(lock.lock().unwrap())
        });
        task.join().unwrap();
        drop(lock.lock());
    });
    assert_finds(&report, "deadlock", "which has exited");
}

#[test]
fn a_panic_that_was_joined_is_the_joiners_business() {
    let report = explore(|| {
        let task = thread::spawn(|| panic!("handled"));
        thread::yield_now();
        let payload = task.join().unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"handled"));
    });
    assert!(!report.failed(), "{}", report.text());
}

#[test]
fn a_panic_that_nobody_joined_is_a_failure() {
    let report = explore(|| drop(thread::spawn(|| panic!("unseen"))));
    assert_finds(&report, "panic", "unseen");
}

#[test]
fn a_panic_passed_on_by_unwrap_is_told_by_its_first_message() {
    let report = explore(|| thread::spawn(|| panic!("the root")).join().unwrap());
    assert_finds(&report, "panic", "the root");
}

#[test]
fn a_panic_poisons_for_others_only() {
    let report = explore(|| {
        let lock = Arc::new(Mutex::new(0));
        let task = thread::spawn({
            let lock = lock.clone();
            move || {
                let _held = lock.lock().unwrap();
                panic!("poison");
            }
        });
        let before = lock.lock().is_err();
        assert!(task.join().is_err());
        assert!(lock.is_poisoned() && lock.lock().is_err());
        lock.clear_poison();
        assert!(lock.lock().is_ok());
        let _ = before;
    });
    assert!(!report.failed(), "{}", report.text());
}

#[test]
fn a_detached_task_ends_with_main() {
    let report = explore(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let held = Arc::new(Mutex::new(()));
        drop(thread::spawn({
            let flag = flag.clone();
            let _guarded = held.clone();
            move || while !flag.load(Ordering::SeqCst) {}
        }));
        drop(held.lock());
    });
    assert!(!report.failed(), "{}", report.text());
}

#[test]
fn wrong_schedules_are_told_apart() {
    let body = || {
        let sum = Arc::new(AtomicUsize::new(0));
        let add = |sum: Arc<AtomicUsize>| move || sum.store(sum.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
        let tasks = [thread::spawn(add(sum.clone())), thread::spawn(add(sum.clone()))];
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(sum.load(Ordering::SeqCst), 2);
    };
    let schedule = explore(body).failures()[0].schedule().to_owned();
    let replay = |schedule: &str, body: fn()| {
        let panic = catch_unwind(AssertUnwindSafe(|| raddle::replay(schedule, body))).unwrap_err();
        panic.downcast_ref::<String>().unwrap().clone()
    };
    assert!(
        replay(&schedule, body).contains("assertion `left == right` failed"),
        "{}",
        replay(&schedule, body)
    );
    let other = || {
        let tasks: Vec<_> = (0..3).map(|_| thread::spawn(|| drop(Mutex::new(0).lock()))).collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
    };
    assert!(replay(&schedule, other).contains("left the recorded schedule"), "{}", replay(&schedule, other));
    let mut mistyped = schedule.clone();
    let middle = mistyped.len() / 2;
    let wrong = if &mistyped[middle..=middle] == "A" { "B" } else { "A" };
    mistyped.replace_range(middle..=middle, wrong);
    assert!(replay(&mistyped, body).contains("damaged"), "{}", replay(&mistyped, body));
    assert!(replay("r9.AAAA", body).contains("newer"), "{}", replay("r9.AAAA", body));
    assert!(replay("no such file", body).contains("was expected"), "{}", replay("no such file", body));
}

#[test]
fn memory_of_failing_runs_is_given_back() {
    struct Counted(Arc<std::sync::atomic::AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let alive = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = alive.clone();
    let report = check()
        .runs(2_000)
        .stop_after(0)
        .time(Duration::from_secs(60))
        .explore(move || {
            let counted = || {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Counted(count.clone())
            };
            let locks = Arc::new((Mutex::new(counted()), Mutex::new(counted())));
            let task = thread::spawn({
                let (locks, _mine) = (locks.clone(), counted());
                move || {
                    let _b = locks.1.lock().unwrap();
                    let _a = locks.0.lock().unwrap();
                }
            });
            let _a = locks.0.lock().unwrap();
            let _b = locks.1.lock().unwrap();
            drop((_a, _b));
            task.join().unwrap();
        })
        .unwrap();
    assert!(report.failing_runs() > 100, "{}", report.text());
    assert_eq!(alive.load(std::sync::atomic::Ordering::Relaxed), 0);
}
