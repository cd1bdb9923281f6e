//! Thread locals.

use crate::verdict::{failure_of, passes};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};

raddle::thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(1) };
    /// Documented.
    pub static NAMES: RefCell<Vec<String>> = RefCell::new(vec![String::from("first")]);
    static LAST: Cell<Option<u8>> = Cell::new(Some(3))
}

#[test]
fn each_task_and_each_run_has_its_own() {
    passes(|| {
        let theirs = thread::spawn(|| {
            assert_eq!(COUNT.get(), 1);
            COUNT.set(10);
            NAMES.with_borrow_mut(|names| names.push(String::from("theirs")));
            thread::yield_now();
            assert_eq!(COUNT.get(), 10);
            NAMES.with_borrow(Vec::len)
        });
        assert_eq!(COUNT.replace(2), 1);
        thread::yield_now();
        assert_eq!(COUNT.take(), 2);
        assert_eq!(NAMES.take(), ["first"]);
        assert_eq!(NAMES.replace(vec![String::from("x")]), Vec::<String>::new());
        assert_eq!(LAST.get(), Some(3));
        assert_eq!(theirs.join().unwrap(), 2);
        assert_eq!(COUNT.with(Cell::get), 0);
    });
    assert_eq!(COUNT.get(), 1);
}

#[test]
fn a_first_set_does_not_call_the_expression() {
    raddle::thread_local!(static NEVER: RefCell<u32> = panic!("called"));
    raddle::thread_local!(static NEVER_CELL: Cell<u32> = panic!("called"));
    let body = || {
        NEVER.set(5);
        NEVER_CELL.set(6);
        assert_eq!((NEVER.take(), NEVER_CELL.get()), (5, 6));
        NEVER.set(7);
        assert_eq!(NEVER.with_borrow(|value| *value), 7);
    };
    passes(body);
    body();
}

struct Logged(&'static str, Arc<Mutex<Vec<&'static str>>>);

impl Drop for Logged {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

raddle::thread_local! {
    static FIRST: RefCell<Option<Logged>> = const { RefCell::new(None) };
    static SECOND: RefCell<Option<Logged>> = const { RefCell::new(None) };
}

#[test]
fn destructors_run_at_the_end_of_the_task_the_youngest_first() {
    passes(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let theirs = log.clone();
        let handle = thread::spawn(move || {
            FIRST.set(Some(Logged("first", theirs.clone())));
            SECOND.set(Some(Logged("second", theirs.clone())));
            theirs.lock().unwrap().push("body");
        });
        handle.join().unwrap();
        assert_eq!(*log.lock().unwrap(), ["body", "second", "first"]);
    });
}

struct Looks;

impl Drop for Looks {
    fn drop(&mut self) {
        assert!(LOOKS.try_with(|_| ()).is_err(), "itself is being destroyed");
        assert!(GONE.try_with(|_| ()).is_err(), "younger ones are gone");
        assert_eq!(COUNT.get(), 5, "what has no destructor stays");
        MADE_LATE.with(|_| ());
    }
}

static LATE: AtomicUsize = AtomicUsize::new(0);
struct Late;
impl Drop for Late {
    fn drop(&mut self) {
        LATE.fetch_add(1, Ordering::Relaxed);
    }
}

raddle::thread_local! {
    static LOOKS: Looks = const { Looks };
    static GONE: Late = const { Late };
    static MADE_LATE: Late = const { Late };
}

#[test]
fn destructors_see_what_is_destroyed() {
    passes(|| {
        LATE.store(0, Ordering::Relaxed);
        let handle = thread::spawn(|| {
            COUNT.set(5);
            LOOKS.with(|_| ());
            GONE.with(|_| ());
        });
        handle.join().unwrap();
        assert_eq!(LATE.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_destructor_that_panics_is_an_abort() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("boom");
        }
    }
    raddle::thread_local!(static BOMB: Bomb = const { Bomb });
    let (kind, message) = failure_of(|| {
        let _ = thread::spawn(|| BOMB.with(|_| ())).join();
    });
    assert_eq!(kind, "panic");
    assert_eq!(message, "thread local panicked on drop, which aborts the process: boom");
}

#[test]
fn locals_of_tasks_that_are_cleared_away_are_dropped() {
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    struct Counted(Arc<Mutex<u32>>);
    impl Drop for Counted {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Ordering::Relaxed);
            // An operation of a run that is over: it unwinds or, for those after the first, does nothing.
            let _ = self.0.lock();
        }
    }
    raddle::thread_local!(static COUNTED: RefCell<Vec<Counted>> = const { RefCell::new(Vec::new()) });
    passes(|| {
        let shared = Arc::new(Mutex::new(0));
        for _ in 0..2 {
            let shared = shared.clone();
            thread::spawn(move || {
                ALIVE.fetch_add(3, Ordering::Relaxed);
                COUNTED.with_borrow_mut(|all| all.extend((0..3).map(|_| Counted(shared.clone()))));
                thread::park();
            });
        }
        thread::yield_now();
    });
    assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
}

#[test]
fn an_expression_may_use_its_own_key() {
    raddle::thread_local!(static OWN: Cell<u32> = {
        static DEPTH: AtomicUsize = AtomicUsize::new(0);
        if DEPTH.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) { Cell::new(OWN.get() + 1) } else { Cell::new(40) }
    });
    passes(|| assert_eq!(OWN.get(), 41));
}
