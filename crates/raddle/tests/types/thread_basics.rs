//! Threads: making, joining, parking, names, handles outside of their run.

use crate::verdict::{failure_of, passes};
use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
use std::time::Duration;

#[test]
fn a_thread_gives_its_value() {
    passes(|| {
        let handle = thread::spawn(|| String::from("value"));
        assert_eq!(handle.join().unwrap(), "value");
    });
}

#[test]
fn a_join_gives_the_panic() {
    passes(|| {
        let payload = thread::spawn(|| panic!("on purpose")).join().unwrap_err();
        assert_eq!(*payload.downcast_ref::<&str>().unwrap(), "on purpose");
        let payload = thread::spawn(|| std::panic::resume_unwind(Box::new(7_u32))).join().unwrap_err();
        assert_eq!(*payload.downcast_ref::<u32>().unwrap(), 7);
    });
}

#[test]
fn a_panic_that_nobody_joins_is_a_failure() {
    let (kind, message) = failure_of(|| {
        let done = Arc::new(AtomicBool::new(false));
        let theirs = done.clone();
        thread::spawn(move || {
            theirs.store(true, Ordering::SeqCst);
            panic!("nobody looks");
        });
        while !done.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        thread::yield_now();
    });
    assert_eq!((kind.as_str(), message.as_str()), ("panic", "nobody looks"));
}

#[test]
fn a_panic_that_the_thread_caught_is_none() {
    passes(|| {
        let handle = thread::spawn(|| {
            let _ = std::panic::catch_unwind(|| panic!("caught"));
        });
        while !handle.is_finished() {
            thread::yield_now();
        }
    });
}

#[test]
fn panics_that_are_caught_are_not_counted() {
    use std::panic::catch_unwind;
    struct Catches;
    impl Drop for Catches {
        fn drop(&mut self) {
            assert!(catch_unwind(|| panic!("caught in a destructor")).is_err());
        }
    }
    fn body(end: bool) {
        for _ in 0..3 {
            assert!(catch_unwind(|| panic!("caught")).is_err());
        }
        let _catches = Catches;
        if end {
            panic!("the end");
        }
    }
    passes(|| {
        body(false);
        thread::spawn(|| body(false)).join().unwrap();
        assert!(thread::spawn(|| body(true)).join().is_err());
    });
    let the_end = (String::from("panic"), String::from("the end"));
    assert_eq!(failure_of(|| body(true)), the_end);
    assert_eq!(failure_of(|| thread::spawn(|| body(true)).join().unwrap()), the_end);
    assert_eq!(failure_of(|| drop(thread::spawn(|| body(true)))), the_end);
    let passed_on = || drop(thread::spawn(|| std::panic::resume_unwind(Box::new("passed on"))));
    assert_eq!(failure_of(passed_on).1, "passed on");
}

#[test]
fn a_result_that_panics_when_dropped_is_an_abort() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("boom");
        }
    }
    let (kind, message) = failure_of(|| {
        let (gate, theirs) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let handle = thread::spawn({
            let gate = gate.clone();
            move || {
                drop(gate.lock());
                Bomb
            }
        });
        let id = handle.thread().id();
        drop((handle, theirs));
        while thread::current().id() == id || Arc::strong_count(&gate) > 1 {
            thread::yield_now();
        }
        thread::yield_now();
        thread::yield_now();
    });
    assert_eq!(kind, "panic");
    assert_eq!(message, "thread result panicked on drop, which aborts the process: boom");
}

#[test]
fn names_and_ids() {
    passes(|| {
        assert_eq!(thread::current().name(), Some("main"));
        let handle = thread::Builder::new()
            .name(String::from("worker"))
            .stack_size(1 << 20)
            .spawn(|| (thread::current().id(), thread::current().name().map(String::from)))
            .unwrap();
        let id = handle.thread().id();
        assert_eq!(handle.thread().name(), Some("worker"));
        assert_eq!(format!("{id:?}"), "ThreadId(2)");
        assert_eq!(handle.join().unwrap(), (id, Some(String::from("worker"))));
        assert_ne!(thread::current().id(), id);
        let unnamed = thread::spawn(|| thread::current().name().map(String::from));
        assert_eq!(unnamed.join().unwrap(), None);
        assert_eq!(thread::available_parallelism().unwrap().get(), thread::PARALLELISM);
    });
}

#[test]
fn a_token_is_kept_until_it_is_taken() {
    passes(|| {
        let main = thread::current();
        let handle = thread::spawn(move || {
            main.unpark();
            main.unpark();
        });
        thread::park();
        handle.join().unwrap();
        // The second token may still be there, or was merged with the first; none is waited for.
        thread::park_timeout(Duration::from_millis(1));
    });
}

#[test]
fn a_park_that_nobody_ends_is_a_deadlock() {
    let (kind, _) = failure_of(thread::park);
    assert_eq!(kind, "deadlock");
}

#[test]
fn a_timed_park_ends() {
    passes(|| {
        let begun = raddle::time::Instant::now();
        thread::park_timeout(Duration::from_secs(3));
        assert!(begun.elapsed() >= Duration::from_secs(3));
    });
}

#[test]
fn is_finished_tells_both() {
    let seen = std::sync::Arc::new([const { std::sync::atomic::AtomicU32::new(0) }; 2]);
    let counts = seen.clone();
    passes(move || {
        let handle = thread::spawn(|| {});
        counts[usize::from(handle.is_finished())].fetch_add(1, Ordering::Relaxed);
        handle.join().unwrap();
    });
    assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) > 0));
}

#[test]
fn a_thread_that_joins_itself_is_a_deadlock() {
    let (kind, _) = failure_of(|| {
        let place: Arc<Mutex<Option<thread::JoinHandle<()>>>> = Arc::default();
        let theirs = place.clone();
        let handle = thread::spawn(move || {
            let handle = theirs.lock().unwrap().take();
            if let Some(handle) = handle {
                handle.join().unwrap();
            }
        });
        let id = handle.thread().clone();
        *place.lock().unwrap() = Some(handle);
        id.unpark();
        thread::yield_now();
        thread::yield_now();
    });
    assert_eq!(kind, "deadlock");
}

#[test]
fn threads_that_outlive_main_are_cleared_away() {
    static ALIVE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }
    passes(|| {
        for _ in 0..3 {
            ALIVE.fetch_add(1, Ordering::Relaxed);
            let counted = Counted;
            thread::spawn(move || {
                let _counted = counted;
                thread::park();
                unreachable!();
            });
        }
    });
    assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
}

#[test]
fn a_handle_outside_of_its_run_says_what_is_wrong() {
    static KEPT: std::sync::RwLock<Option<thread::JoinHandle<()>>> = std::sync::RwLock::new(None);
    fn ask() {
        let kept = KEPT.read().unwrap();
        // A thread that is gone can be unparked, as with std; it cannot be asked.
        kept.as_ref().unwrap().thread().unpark();
        kept.as_ref().unwrap().is_finished();
    }
    crate::verdict::passes_runs(1, || *KEPT.write().unwrap() = Some(thread::spawn(|| {})));
    let (kind, message) = failure_of(ask);
    assert_eq!(kind, "panic");
    assert!(message.contains("only that run can ask about it"), "{message}");
    let message = std::panic::catch_unwind(ask).unwrap_err();
    assert!(message.downcast_ref::<String>().unwrap().contains("only that run can ask about it"));
    let handle = KEPT.write().unwrap().take().unwrap();
    let message = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| handle.join())).unwrap_err();
    assert!(message.downcast_ref::<String>().unwrap().contains("only that run can join it"));
}

#[test]
fn sleeping_takes_no_real_time() {
    passes(|| {
        thread::sleep(Duration::from_secs(3600));
        let handle = thread::spawn(|| thread::sleep(Duration::from_secs(1)));
        handle.join().unwrap();
    });
}

#[test]
fn outside_of_runs_they_are_threads_of_std() {
    let count = std::sync::Arc::new(AtomicUsize::new(0));
    let theirs = count.clone();
    let handle = thread::Builder::new()
        .name(String::from("real"))
        .spawn(move || {
            thread::park();
            theirs.fetch_add(1, Ordering::SeqCst);
            thread::current().name().map(String::from)
        })
        .unwrap();
    handle.thread().unpark();
    assert_eq!(handle.thread().name(), Some("real"));
    assert_eq!(handle.join().unwrap().as_deref(), Some("real"));
    assert_eq!(count.load(Ordering::SeqCst), 1);
    thread::yield_now();
    thread::sleep(Duration::from_millis(1));
    assert!(!thread::panicking());
    assert_eq!(thread::spawn(|| panic!("real")).join().unwrap_err().downcast_ref::<&str>(), Some(&"real"));
}
