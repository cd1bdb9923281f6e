//! `check` from the outside: bugs are found, reported as values, and run again exactly.

use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::{Check, Report, thread};

fn explore(strategy: &str, body: fn()) -> Report {
    let out = std::env::temp_dir().join(format!("raddle-test-check-{}", std::process::id()));
    Check::new().strategy(strategy).out(out).explore(body).unwrap()
}

const STRATEGIES: [&str; 7] = ["random", "rapos", "pct", "pos", "walks", "coverage", "noise"];

fn lost_update() {
    let sum = Arc::new(AtomicUsize::new(0));
    let add = |sum: Arc<AtomicUsize>| {
        move || {
            let old = sum.load(Ordering::SeqCst);
            sum.store(old + 1, Ordering::SeqCst);
        }
    };
    let tasks: Vec<_> = (0..2).map(|_| thread::spawn(add(sum.clone()))).collect();
    for task in tasks {
        task.join().unwrap();
    }
    assert_eq!(sum.load(Ordering::SeqCst), 2, "an update was lost");
}

fn ab_ba() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = thread::spawn({
        let locks = locks.clone();
        move || {
            let _b = locks.1.lock().unwrap();
            let _a = locks.0.lock().unwrap();
        }
    });
    {
        let _a = locks.0.lock().unwrap();
        let _b = locks.1.lock().unwrap();
    }
    other.join().unwrap();
}

fn fine() {
    let sum = Arc::new(Mutex::new(0));
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let sum = sum.clone();
            thread::spawn(move || *sum.lock().unwrap() += 1)
        })
        .collect();
    for task in tasks {
        task.join().unwrap();
    }
    assert_eq!(*sum.lock().unwrap(), 3);
}

#[test]
fn every_strategy_finds_the_bugs_and_leaves_the_rest_alone() {
    for strategy in STRATEGIES {
        let report = explore(strategy, lost_update);
        assert_eq!(report.failures()[0].kind(), "assertion", "{strategy}");
        assert!(report.failures()[0].message().contains("an update was lost"));
        let report = explore(strategy, ab_ba);
        assert_eq!(report.failures()[0].kind(), "deadlock", "{strategy}");
        println!("{}", report.text());
        let report = explore(strategy, fine);
        assert!(!report.failed(), "{strategy}: {}", report.text());
        assert_eq!(report.runs(), 10_000);
    }
}
