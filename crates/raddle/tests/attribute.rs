//! `#[raddle::test]`, as a user writes it.

use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::thread;

#[raddle::test]
fn without_settings() {
    let sum = Arc::new(Mutex::new(0));
    let task = thread::spawn({
        let sum = sum.clone();
        move || *sum.lock().unwrap() += 1
    });
    *sum.lock().unwrap() += 1;
    task.join().unwrap();
    assert_eq!(*sum.lock().unwrap(), 2);
}

#[raddle::test(strategy = "pct:depth=2", runs = 500, seed = 7)]
fn with_settings_and_a_result() -> Result<(), String> {
    let task = thread::spawn(|| ());
    thread::yield_now();
    task.join().map_err(|_| String::from("panicked"))
}

#[raddle::test(out = std::env::temp_dir().join("raddle-test-attribute"))]
#[should_panic(expected = "assertion `left == right` failed: lost")]
fn a_bug_fails_the_test() {
    let sum = Arc::new(AtomicUsize::new(0));
    let add = |sum: &AtomicUsize| sum.store(sum.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
    let task = thread::spawn({
        let sum = sum.clone();
        move || add(&sum)
    });
    add(&sum);
    task.join().unwrap();
    assert_eq!(sum.load(Ordering::SeqCst), 2, "lost");
}

#[raddle::test(out = std::env::temp_dir().join("raddle-test-attribute"))]
#[should_panic(expected = "the body returned an error")]
fn an_error_fails_the_test() -> Result<(), &'static str> {
    thread::spawn(|| ()).join().unwrap();
    Err("no")
}
