//! Statics: each run begins with what the compiler built.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use crate::verdict::{passes, passes_runs};
use raddle::cell::{RaceCell, UnsafeCell};
use raddle::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use raddle::sync::{LazyLock, Mutex, OnceLock, RwLock};
use raddle::thread;
use std::sync::atomic::AtomicI64;

/// How many are alive.
static ALIVE: AtomicI64 = AtomicI64::new(0);

struct Counted(#[expect(dead_code, reason = "something on the heap")] Box<u64>);

impl Counted {
    fn new() -> Counted {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Counted(Box::new(7))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

static LIST: Mutex<Vec<Counted>> = Mutex::new(Vec::new());

#[test]
fn a_static_list_is_empty_again_and_nothing_is_leaked() {
    passes_runs(100_000, || {
        assert!(LIST.lock().unwrap().is_empty());
        let handle = thread::spawn(|| LIST.lock().unwrap().push(Counted::new()));
        LIST.lock().unwrap().push(Counted::new());
        handle.join().unwrap();
        assert_eq!(LIST.lock().unwrap().len(), 2);
    });
    assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
}

static COUNT: AtomicUsize = AtomicUsize::new(3);
static SMALL: [AtomicU8; 5] = [const { AtomicU8::new(1) }; 5];
static TEXT: Mutex<&'static str> = Mutex::new("built");
static PLAIN: RaceCell<i32> = RaceCell::new(-1);

#[test]
fn values_without_destructors() {
    passes(|| {
        assert_eq!(COUNT.fetch_add(1, Ordering::SeqCst), 3);
        for (n, small) in SMALL.iter().enumerate() {
            assert_eq!(small.swap(n as u8, Ordering::SeqCst), 1);
        }
        let handle = thread::spawn(|| *TEXT.lock().unwrap() = "changed");
        handle.join().unwrap();
        assert_eq!(std::mem::replace(&mut *TEXT.lock().unwrap(), "again"), "changed");
        assert_eq!(PLAIN.replace(2), -1);
    });
    assert_eq!((COUNT.load(Ordering::SeqCst), *TEXT.lock().unwrap(), PLAIN.get()), (3, "built", -1));
}

static SET_BEFORE: AtomicUsize = AtomicUsize::new(0);

#[test]
fn what_was_set_before_is_seen_by_every_run() {
    for set in [10, 20] {
        SET_BEFORE.store(set, Ordering::SeqCst);
        passes_runs(5, move || assert_eq!(SET_BEFORE.fetch_add(1, Ordering::SeqCst), set));
    }
}

static ONCE: OnceLock<Vec<u32>> = OnceLock::new();
static LAZY: LazyLock<Mutex<Vec<String>>> = LazyLock::new(|| {
    BUILT.fetch_add(1, Ordering::Relaxed);
    Mutex::new(vec![String::from("first")])
});
static BUILT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

#[test]
fn onces_are_empty_again() {
    passes_runs(100, || {
        assert!(ONCE.get().is_none());
        let handle = thread::spawn(|| ONCE.get_or_init(|| vec![1]).len());
        assert_eq!(ONCE.get_or_init(|| vec![2]).len(), 1);
        handle.join().unwrap();
        // A mutex inside of the lazy, in the same static.
        LAZY.lock().unwrap().push(String::from("second"));
        assert_eq!(LAZY.lock().unwrap().len(), 2);
    });
    assert!(ONCE.get().is_none());
    assert!(BUILT.load(Ordering::Relaxed) >= 100);
}

struct Both {
    lock: Mutex<Option<Box<u32>>>,
    number: AtomicUsize,
}
static BOTH: Both = Both { lock: Mutex::new(None), number: AtomicUsize::new(1) };
static NESTED: RwLock<(AtomicUsize, Vec<u8>)> = RwLock::new((AtomicUsize::new(5), Vec::new()));

#[test]
fn parts_of_a_struct_and_values_inside_of_values() {
    passes(|| {
        assert!(BOTH.lock.lock().unwrap().replace(Box::new(1)).is_none());
        assert_eq!(BOTH.number.fetch_add(1, Ordering::SeqCst), 1);
        {
            let nested = NESTED.read().unwrap();
            assert_eq!(nested.0.fetch_add(1, Ordering::SeqCst), 5);
        }
        NESTED.write().unwrap().1.push(1);
        assert_eq!(NESTED.read().unwrap().1.len(), 1);
    });
}

struct Exposed(UnsafeCell<Inner>);
struct Inner {
    lock: Mutex<Vec<u8>>,
}
// SAFETY: only the lock inside is used from several tasks.
unsafe impl Sync for Exposed {}
static EXPOSED: Exposed = Exposed(UnsafeCell::new(Inner { lock: Mutex::new(Vec::new()) }));

#[test]
fn a_part_that_is_used_before_the_whole() {
    passes(|| {
        // SAFETY: nobody has a mutable reference.
        let inner = unsafe { &*EXPOSED.0.get() };
        inner.lock.lock().unwrap().push(1);
        assert_eq!(inner.lock.lock().unwrap().len(), 1);
        // SAFETY: as above.
        EXPOSED.0.with(|inner| assert_eq!(unsafe { &*inner }.lock.lock().unwrap().len(), 1));
    });
}

static FILLED: Mutex<Vec<String>> = Mutex::new(Vec::new());
static OF_STD: std::sync::LazyLock<Mutex<Vec<String>>> =
    std::sync::LazyLock::new(|| Mutex::new(vec![String::from("at run time")]));

/// What owns something when a run first sees it is left as the run leaves it: its bytes must not be
/// used twice.
#[test]
fn values_that_were_filled_before_are_left_alone() {
    FILLED.lock().unwrap().push(String::from("before"));
    passes_runs(10, || {
        let mut filled = FILLED.lock().unwrap();
        assert_eq!(filled.remove(0), "before");
        filled.push(String::from("before"));
        let mut lazy = OF_STD.lock().unwrap();
        assert_eq!(lazy.pop().unwrap(), "at run time");
        lazy.push(String::from("at run time"));
    });
    assert_eq!(*FILLED.lock().unwrap(), ["before"]);
}

static OTHER: Mutex<Vec<Dropper>> = Mutex::new(Vec::new());
static USED_IN_DROP: AtomicUsize = AtomicUsize::new(0);
struct Dropper;
impl Drop for Dropper {
    fn drop(&mut self) {
        // An operation of a run that is over, on a static that it may not have used yet.
        USED_IN_DROP.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn destructors_may_use_statics() {
    passes_runs(20, || {
        assert_eq!(USED_IN_DROP.load(Ordering::SeqCst), 0);
        OTHER.lock().unwrap().extend((0..20_000).map(|_| Dropper));
    });
    assert_eq!(USED_IN_DROP.load(Ordering::SeqCst), 0);
}

static SHARED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Tests of one binary run at the same time, each with its own carrier.
#[test]
fn two_checks_at_once_take_turns() {
    let check = |n: u32| {
        std::thread::spawn(move || {
            passes_runs(200, move || {
                let handle = thread::spawn(move || {
                    SHARED.lock().unwrap().push(n);
                });
                SHARED.lock().unwrap().push(n);
                handle.join().unwrap();
                assert_eq!(*SHARED.lock().unwrap(), [n, n]);
            })
        })
    };
    let both = [check(1), check(2)];
    both.into_iter().for_each(|check| check.join().unwrap());
}

#[test]
fn an_object_in_two_runs_at_once_is_an_error() {
    let lock = std::sync::Arc::new(Mutex::new(0));
    let meet = std::sync::Arc::new(std::sync::Barrier::new(2));
    let results = [0, 1].map(|_| {
        let (lock, meet) = (lock.clone(), meet.clone());
        std::thread::spawn(move || {
            let begun = std::sync::Once::new();
            let out = std::env::temp_dir().join(format!("raddle-test-statics-{}", std::process::id()));
            let report = raddle::Check::new().runs(2_000).out(out).explore(move || {
                begun.call_once(|| {
                    meet.wait();
                });
                thread::spawn(|| ());
                for _ in 0..20 {
                    *lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += 1;
                }
            });
            report.unwrap().failures().first().map(|found| found.message().to_owned())
        })
    });
    let messages: Vec<_> = results.map(|result| result.join().unwrap()).into_iter().flatten().collect();
    // Whether they meet is up to the machine; if they do, it is told.
    for message in messages {
        assert!(
            message.contains("two runs at the same time") || message.contains("did not repeat"),
            "{message}"
        );
    }
}
