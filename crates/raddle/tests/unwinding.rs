//! Tasks that unwind take as long for it as their destructors do, and others go on meanwhile: what std's flags say of the thread
//! that all of them share must be told of each. And a run may end in the middle of that, of which the next must not notice.

use raddle::sync::atomic::{AtomicU64, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex, RwLock};
use raddle::{Check, Report, thread};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc as RealArc;
use std::sync::atomic::{AtomicBool as RealBool, AtomicI64 as RealI64};

const STRATEGIES: [&str; 4] = ["random", "pct", "dfs", "odpor"];

fn explore(strategy: &str, body: impl Fn() + Send + Sync + 'static) -> Report {
    let check = Check::new().strategy(strategy).runs(600).jobs(1).out(env!("CARGO_TARGET_TMPDIR"));
    check.explore(body).expect("runs")
}

/// How a task comes to unwind: with the hook called or without.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Panics,
    PassesOn,
}

const HOWS: [How; 2] = [How::Panics, How::PassesOn];

/// Unwinds through what `f` leaves behind, and catches that.
fn unwinds<T>(how: How, f: impl FnOnce() -> T) {
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _left = f();
        match how {
            How::Panics => panic!("on purpose"),
            How::PassesOn => resume_unwind(Box::new("on purpose")),
        }
    }));
    assert!(unwound.is_err());
}

/// Its destructor takes several steps, and looks whether it knows why it runs.
struct Slow(Arc<AtomicU64>);

impl Drop for Slow {
    fn drop(&mut self) {
        for _ in 0..2 {
            assert!(thread::panicking());
            self.0.fetch_add(1, SeqCst);
        }
    }
}

/// Counts those that are there.
struct Counted(RealArc<RealI64>);

impl Counted {
    fn new(count: &RealArc<RealI64>) -> Counted {
        count.fetch_add(1, SeqCst);
        Counted(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Says so when it goes.
struct Says(RealArc<RealBool>);

impl Drop for Says {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[test]
fn a_run_that_ends_while_a_task_unwinds_leaves_nothing_to_the_next() {
    for strategy in STRATEGIES {
        for how in HOWS {
            let there = RealArc::new(RealI64::new(0));
            let (count, poisoned) = (there.clone(), RealArc::new(RealI64::new(0)));
            let seen = poisoned.clone();
            let report = explore(strategy, move || {
                let (steps, lock) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Counted::new(&count))));
                let given_back = RealArc::new(RealBool::new(false));
                let (slow, says) = (Slow(steps.clone()), Says(given_back.clone()));
                let (others, counted) = (lock.clone(), Counted::new(&count));
                thread::spawn(move || {
                    unwinds(how, || {
                        let _counted = counted;
                        // Gone in the order in which they stand here.
                        (others.lock().map(drop).is_ok(), others.lock(), says, slow)
                    })
                });
                steps.load(SeqCst);
                // Main does not wait for it: the process ends with main, wherever the other is.
                let is_poisoned = lock.lock().is_err();
                assert_eq!(is_poisoned, given_back.load(SeqCst));
                seen.fetch_add(i64::from(is_poisoned), SeqCst);
            });
            assert!(!report.failed(), "{strategy}, {how:?}: {}", report.text());
            assert!(poisoned.load(SeqCst) > 0, "{strategy}, {how:?}");
            assert_eq!(there.load(SeqCst), 0, "{strategy}, {how:?}: what tasks had is given back");
        }
    }
}

#[test]
fn others_do_not_panic_while_one_unwinds() {
    for strategy in STRATEGIES {
        for how in HOWS {
            let report = explore(strategy, move || {
                let (steps, lock) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(0)));
                let table = Arc::new(RwLock::new(0));
                let slow = Slow(steps.clone());
                let task = thread::spawn(move || unwinds(how, || slow));
                for _ in 0..2 {
                    let guards = (lock.lock(), table.write());
                    steps.load(SeqCst);
                    assert!(!thread::panicking());
                    drop(guards);
                    assert!(!lock.is_poisoned() && !table.is_poisoned());
                }
                task.join().unwrap();
            });
            assert!(!report.failed(), "{strategy}, {how:?}: {}", report.text());
        }
    }
}

#[test]
fn two_tasks_unwind_at_the_same_time() {
    for strategy in ["random", "pct"] {
        let report = explore(strategy, || {
            let (steps, locks) = (Arc::new(AtomicU64::new(0)), Arc::new([Mutex::new(0), Mutex::new(0)]));
            let task = |number: usize| {
                let (steps, locks) = (steps.clone(), locks.clone());
                thread::spawn(move || unwinds(How::Panics, || (Slow(steps), locks[number].lock())))
            };
            let tasks = [task(0), task(1)];
            assert!(!thread::panicking());
            tasks.into_iter().for_each(|task| task.join().unwrap());
            assert!(locks.iter().all(Mutex::is_poisoned));
        });
        assert!(!report.failed(), "{strategy}: {}", report.text());
    }
}

/// One that has caught its panic goes on as others do.
#[test]
fn a_panic_that_was_caught_is_over() {
    for strategy in STRATEGIES {
        for how in HOWS {
            let report = explore(strategy, move || {
                let (steps, lock) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(0)));
                let tasks = [0, 1].map(|_| {
                    let (steps, lock) = (steps.clone(), lock.clone());
                    thread::spawn(move || {
                        // Nothing of the other happens meanwhile.
                        unwinds(how, || ());
                        let guard = lock.lock();
                        steps.load(SeqCst);
                        assert!(!thread::panicking());
                        drop(guard);
                    })
                });
                let slow = Slow(steps);
                let last = thread::spawn(move || unwinds(how, || slow));
                tasks.into_iter().for_each(|task| task.join().unwrap());
                last.join().unwrap();
                assert!(!lock.is_poisoned());
            });
            assert!(!report.failed(), "{strategy}, {how:?}: {}", report.text());
        }
    }
}
