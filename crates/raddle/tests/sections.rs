//! `odpor` takes a mutex and gives it back in one step where nothing is in between. It must find what enumeration finds, which
//! never does so, whatever else is done to the mutex; and what it finds must replay.

use raddle::sync::atomic::{AtomicU64, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::{Check, Report, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

type Shared = Arc<(Mutex<u64>, Mutex<u64>, AtomicU64, Condvar)>;
type Task = fn(&Shared);

fn explore(strategy: &str, body: impl Fn() + Send + Sync + 'static) -> Report {
    let check = Check::new().strategy(strategy).runs(10_000_000).time(Duration::from_secs(600));
    check.stop_after(0).explore(body).expect("there is something to explore")
}

fn section(shared: &Shared) {
    *shared.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
}

/// These tasks, of which main waits for the first `joined`.
fn body(tasks: &'static [Task], joined: usize) -> impl Fn() + Send + Sync + Copy + 'static {
    move || {
        let shared: Shared = Arc::default();
        // All runs know them by then.
        section(&shared);
        drop(shared.1.lock());
        shared.2.store(0, SeqCst);
        shared.3.notify_all();
        let spawn = |task: &Task| {
            let (task, shared) = (*task, shared.clone());
            thread::spawn(move || task(&shared))
        };
        let handles: Vec<_> = tasks.iter().map(spawn).collect();
        handles.into_iter().take(joined).for_each(|handle| handle.join().unwrap());
    }
}

/// Whether the first runs were thrown away, since something could come between.
fn compare(tasks: &'static [Task], joined: usize) -> bool {
    let (odpor, dfs) = (explore("odpor", body(tasks, joined)), explore("dfs", body(tasks, joined)));
    assert!(odpor.exhausted() && dfs.exhausted(), "{}\n{}", odpor.text(), dfs.text());
    assert_eq!(odpor.distinct_partial_orders(), dfs.distinct_partial_orders());
    let kinds = |report: &Report| {
        let mut kinds: Vec<String> = report.failures().iter().map(|found| found.kind().to_owned()).collect();
        kinds.sort();
        kinds
    };
    assert_eq!(kinds(&odpor), kinds(&dfs));
    let wasted = odpor.runs() - odpor.distinct_partial_orders();
    // It is seen in one of the first runs, if at all.
    assert!(wasted <= 2, "{wasted} runs too many");
    wasted > 0
}

fn twice(shared: &Shared) {
    section(shared);
    section(shared);
}

#[test]
fn sections_alone() {
    assert!(!compare(&[twice, twice, section], 3));
    assert!(!compare(&[twice, |shared| _ = shared.2.fetch_add(1, SeqCst), twice], 3));
}

#[test]
fn sections_in_sections() {
    fn nested(shared: &Shared) {
        let _first = shared.0.lock();
        drop(shared.1.lock());
    }
    fn other(shared: &Shared) {
        drop(shared.1.lock());
        let _first = shared.0.lock();
        shared.2.fetch_add(1, SeqCst);
    }
    fn crossed(shared: &Shared) {
        let _first = shared.1.lock();
        drop(shared.0.lock());
    }
    assert!(!compare(&[nested, other, section], 3));
    assert!(!compare(&[nested, crossed], 2));
}

#[test]
fn waits_that_let_go_of_it() {
    fn waits(shared: &Shared) {
        let mut count = shared.0.lock().unwrap();
        while *count < 2 {
            count = shared.3.wait(count).unwrap();
        }
    }
    fn wakes(shared: &Shared) {
        section(shared);
        shared.3.notify_one();
    }
    fn times_out(shared: &Shared) {
        let guard = shared.0.lock().unwrap();
        let _ = shared.3.wait_timeout(guard, Duration::from_millis(1)).unwrap();
    }
    assert!(!compare(&[waits, wakes, section], 3));
    assert!(!compare(&[times_out, wakes], 2));
}

/// All that another task can do to a mutex while it is held.
#[test]
fn whoever_looks_in_between() {
    fn tries(shared: &Shared) {
        drop(shared.0.try_lock());
    }
    fn looks(shared: &Shared) {
        shared.0.is_poisoned();
    }
    fn heals(shared: &Shared) {
        shared.0.clear_poison();
    }
    assert!(compare(&[section, tries], 2));
    assert!(compare(&[section, looks], 2));
    assert!(compare(&[section, heals, section], 3));
    // The end of the process is such a one for those that nobody waits for.
    assert!(compare(&[section, section], 1));
}

#[test]
fn panics_in_it() {
    fn poisons(shared: &Shared) {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _guard = shared.0.lock();
            std::panic::resume_unwind(Box::new("nobody is told"));
        }));
        assert!(caught.is_err());
    }
    fn fails(shared: &Shared) {
        let guard = shared.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        assert_ne!(*guard, 2, "two");
    }
    assert!(!compare(&[poisons, section, section], 3));
    assert!(!compare(&[fails, section, section], 3));
}

#[test]
fn what_is_found_replays() {
    fn second(shared: &Shared) {
        section(shared);
        let found = *shared.0.lock().unwrap();
        assert_ne!(found, 4, "four");
    }
    let body = body(&[second, section, section, section], 4);
    let report = Check::new().strategy("odpor").explore(body).unwrap();
    let [found] = report.failures() else { panic!("{}", report.text()) };
    assert_eq!(found.kind(), "assertion");
    let schedule = found.schedule().to_owned();
    let again = catch_unwind(|| raddle::replay(&schedule, body));
    let message = again.unwrap_err().downcast::<String>().expect("a text");
    assert!(message.contains("four"), "{message}");
}
