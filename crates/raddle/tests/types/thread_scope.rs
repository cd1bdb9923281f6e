//! Scoped threads.

use crate::verdict::{failure_of, passes};
use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::thread;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn threads_borrow_from_the_frame_around_them() {
    passes(|| {
        let mut numbers = vec![1, 2, 3];
        let sum = Mutex::new(0);
        let length = thread::scope(|scope| {
            scope.spawn(|| *sum.lock().unwrap() += numbers.iter().sum::<i32>());
            let handle = scope.spawn(|| numbers.len());
            handle.join().unwrap()
        });
        numbers.push(4);
        assert_eq!((*sum.lock().unwrap(), length, numbers.len()), (6, 3, 4));
    });
}

#[test]
fn a_scope_waits_for_all_also_for_what_its_threads_make() {
    passes(|| {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                scope.spawn(|| {
                    scope.spawn(|| count.fetch_add(1, Ordering::SeqCst));
                    count.fetch_add(1, Ordering::SeqCst);
                });
                count.fetch_add(1, Ordering::SeqCst);
            });
        });
        assert_eq!(count.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn a_panic_that_nobody_joined_reaches_the_scope() {
    passes(|| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|scope| {
                scope.spawn(|| panic!("inner"));
            });
        }));
        assert_eq!(*caught.unwrap_err().downcast_ref::<&str>().unwrap(), "a scoped thread panicked");
    });
    let (kind, message) = failure_of(|| {
        thread::scope(|scope| {
            scope.spawn(|| panic!("inner"));
        });
    });
    assert_eq!((kind.as_str(), message.as_str()), ("panic", "inner"));
}

#[test]
fn a_panic_that_was_joined_does_not() {
    passes(|| {
        thread::scope(|scope| {
            let first = scope.spawn(|| panic!("joined by main"));
            assert!(first.join().is_err());
            let second = scope.spawn(|| panic!("joined by a sibling"));
            scope.spawn(|| assert!(second.join().is_err()));
        });
    });
}

#[test]
fn a_panic_of_the_closure_waits_first() {
    passes(|| {
        let count = AtomicUsize::new(0);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        thread::yield_now();
                        count.fetch_add(1, Ordering::SeqCst);
                    });
                }
                panic!("the closure");
            })
        }));
        assert_eq!(*caught.unwrap_err().downcast_ref::<&str>().unwrap(), "the closure");
        assert_eq!(count.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn names_of_scoped_threads() {
    passes(|| {
        thread::scope(|scope| {
            let builder = thread::Builder::new().name(String::from("scoped"));
            let handle = builder.spawn_scoped(scope, || thread::current().id()).unwrap();
            assert_eq!(handle.thread().name(), Some("scoped"));
            let id = handle.thread().id();
            while !handle.is_finished() {
                thread::yield_now();
            }
            assert_eq!(handle.join().unwrap(), id);
        });
    });
}

/// A run that ends in the middle of a scope unwinds the threads before the frame they borrow from.
#[test]
fn a_deadlock_inside_a_scope_unwinds_the_threads_first() {
    struct Checked<'a>(&'a std::cell::Cell<u32>, &'a std::sync::atomic::AtomicBool);
    // SAFETY: one task runs at a time.
    unsafe impl Sync for Checked<'_> {}
    impl Checked<'_> {
        fn look(&self) {
            assert!(!self.1.load(Ordering::Relaxed), "the frame is gone");
            self.0.set(self.0.get() + 1);
        }
    }
    struct Look<'a>(&'a Checked<'a>);
    impl Drop for Look<'_> {
        fn drop(&mut self) {
            self.0.look();
        }
    }
    static LOOKED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    struct Count(std::cell::Cell<u32>);
    impl Drop for Count {
        fn drop(&mut self) {
            LOOKED.fetch_add(self.0.get(), Ordering::Relaxed);
        }
    }
    let (kind, _) = failure_of(|| {
        let gone = std::sync::atomic::AtomicBool::new(false);
        let count = Count(std::cell::Cell::new(0));
        let checked = Checked(&count.0, &gone);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let _look = Look(&checked);
                    thread::park();
                });
            }
        });
        gone.store(true, Ordering::Relaxed);
    });
    assert_eq!(kind, "deadlock");
    assert_eq!(LOOKED.load(Ordering::Relaxed) % 3, 0);
    assert!(LOOKED.load(Ordering::Relaxed) > 0);
}

#[test]
fn outside_of_runs_it_is_a_scope_of_std() {
    let count = AtomicUsize::new(0);
    let value = thread::scope(|scope| {
        scope.spawn(|| {
            scope.spawn(|| count.fetch_add(1, Ordering::SeqCst));
            count.fetch_add(1, Ordering::SeqCst);
        });
        scope.spawn(|| 5).join().unwrap()
    });
    assert_eq!((value, count.load(Ordering::SeqCst)), (5, 2));
    let caught = catch_unwind(AssertUnwindSafe(|| {
        thread::scope(|scope| {
            scope.spawn(|| panic!("inner"));
        });
    }));
    assert_eq!(*caught.unwrap_err().downcast_ref::<&str>().unwrap(), "a scoped thread panicked");
}
