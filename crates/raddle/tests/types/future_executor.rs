//! The executor: polling, waking, joining, aborting, and the bugs it finds.

use crate::verdict::{failure_of, passes};
use raddle::future::{JoinHandle, block_on, pending, poll_fn, ready, spawn, yield_now};
use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
use std::collections::VecDeque;
use std::task::{Poll, Waker};

#[test]
fn ready_at_once() {
    let body = || {
        assert_eq!(block_on(ready(1)), 1);
        assert_eq!(block_on(async { ready(2).await + 1 }), 3);
        block_on(yield_now());
    };
    passes(body);
    body();
}

/// A value that a future waits for.
#[derive(Default)]
struct Cell {
    state: Mutex<(Option<u32>, Option<Waker>)>,
}

impl Cell {
    fn set(&self, value: u32) {
        let waker = {
            let mut state = self.state.lock().unwrap();
            state.0 = Some(value);
            state.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn get(&self) -> impl Future<Output = u32> + '_ {
        poll_fn(|context| {
            let mut state = self.state.lock().unwrap();
            match state.0.take() {
                Some(value) => Poll::Ready(value),
                None => {
                    state.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
    }
}

#[test]
fn a_pending_future_is_woken_by_a_thread() {
    let body = || {
        let cell = Arc::new(Cell::default());
        let theirs = cell.clone();
        let handle = thread::spawn(move || theirs.set(5));
        assert_eq!(block_on(cell.get()), 5);
        handle.join().unwrap();
    };
    passes(body);
    body();
}

#[test]
fn join_gives_the_value() {
    let body = || {
        let handle = spawn(async {
            yield_now().await;
            String::from("value")
        });
        assert_eq!(block_on(handle).unwrap(), "value");
        let sum = block_on(async {
            let handles: Vec<JoinHandle<u32>> = (0..3).map(|n| spawn(async move { n })).collect();
            let mut sum = 0;
            for handle in handles {
                sum += handle.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 3);
    };
    passes(body);
    body();
}

#[test]
fn abort_drops_the_future_and_tells_the_waiter() {
    let body = || {
        let dropped = Arc::new(AtomicBool::new(false));
        struct Tell(Arc<AtomicBool>);
        impl Drop for Tell {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let tell = Tell(dropped.clone());
        let handle = spawn(async move {
            let _tell = tell;
            pending::<()>().await;
        });
        assert!(!handle.is_finished());
        handle.abort();
        let error = block_on(handle).unwrap_err();
        assert!(error.is_cancelled() && !error.is_panic());
        assert!(dropped.load(Ordering::SeqCst), "before the waiter hears of it");
    };
    passes(body);
    body();
}

#[test]
fn abort_comes_too_late_or_in_time() {
    static SEEN: [std::sync::atomic::AtomicUsize; 2] = [const { std::sync::atomic::AtomicUsize::new(0) }; 2];
    passes(|| {
        let handle = spawn(async {
            yield_now().await;
            7
        });
        handle.abort();
        match block_on(handle) {
            Ok(value) => {
                assert_eq!(value, 7);
                SEEN[0].fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                assert!(error.is_cancelled());
                SEEN[1].fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    assert!(SEEN.iter().all(|count| count.load(Ordering::Relaxed) > 0));
}

/// A channel of futures, made of Raddle's types.
struct Channel<T> {
    state: Mutex<(VecDeque<T>, Option<Waker>)>,
}

impl<T> Channel<T> {
    fn new() -> Arc<Channel<T>> {
        Arc::new(Channel { state: Mutex::new((VecDeque::new(), None)) })
    }

    fn send(&self, value: T) {
        let waker = {
            let mut state = self.state.lock().unwrap();
            state.0.push_back(value);
            state.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn receive(&self) -> impl Future<Output = T> + '_ {
        poll_fn(|context| {
            let mut state = self.state.lock().unwrap();
            match state.0.pop_front() {
                Some(value) => Poll::Ready(value),
                None => {
                    state.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
    }
}

#[test]
fn two_futures_talk() {
    let body = || {
        let (there, back) = (Channel::new(), Channel::new());
        let echo = spawn({
            let (there, back) = (there.clone(), back.clone());
            async move {
                for _ in 0..3 {
                    let value: u32 = there.receive().await;
                    back.send(value * 2);
                }
            }
        });
        let sum = block_on(async {
            let mut sum = 0;
            for n in 1..=3 {
                there.send(n);
                sum += back.receive().await;
            }
            echo.await.unwrap();
            sum
        });
        assert_eq!(sum, 12);
    };
    passes(body);
    body();
}

/// The flag is looked at before the waker is left: a wake-up in between is lost.
#[test]
fn a_lost_wake_up_is_a_deadlock() {
    let (kind, _) = failure_of(|| {
        let shared = Arc::new((AtomicBool::new(false), Mutex::new(None::<Waker>)));
        let theirs = shared.clone();
        spawn(async move {
            theirs.0.store(true, Ordering::SeqCst);
            let waker = theirs.1.lock().unwrap().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        block_on(poll_fn(|context| {
            if shared.0.load(Ordering::SeqCst) {
                return Poll::Ready(());
            }
            *shared.1.lock().unwrap() = Some(context.waker().clone());
            Poll::Pending
        }));
    });
    assert_eq!(kind, "deadlock");
}

#[test]
fn a_panic_is_given_to_whoever_joins() {
    let body = || {
        let error = block_on(spawn(async { panic!("in a future") })).unwrap_err();
        assert!(error.is_panic() && !error.is_cancelled());
        assert_eq!(*error.into_panic().downcast_ref::<&str>().unwrap(), "in a future");
    };
    passes(body);
    body();
}

#[test]
fn a_panic_that_nobody_joins_is_a_failure() {
    let (kind, message) = failure_of(|| {
        let handle = spawn(async { panic!("in a future") });
        while !handle.is_finished() {
            thread::yield_now();
        }
    });
    assert_eq!((kind.as_str(), message.as_str()), ("panic", "in a future"));
    let (kind, message) = failure_of(|| block_on(spawn(async { panic!("in a future") })).unwrap());
    assert_eq!((kind.as_str(), message.as_str()), ("panic", "in a future"));
}

#[test]
fn a_panic_inside_block_on_is_the_callers() {
    let (kind, message) = failure_of(|| block_on(async { panic!("at home") }));
    assert_eq!((kind.as_str(), message.as_str()), ("panic", "at home"));
}

#[test]
fn a_waker_can_be_cloned_and_woken_often_and_late() {
    let body = || {
        let wakers = Arc::new(Mutex::new(Vec::<Waker>::new()));
        let woken = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (wakers, woken) = (wakers.clone(), woken.clone());
                thread::spawn(move || {
                    // By value, by reference, and after the future is long gone.
                    let taken = wakers.lock().unwrap().clone();
                    woken.fetch_add(1, Ordering::SeqCst);
                    for waker in taken {
                        waker.wake_by_ref();
                        let second = waker.clone();
                        waker.wake();
                        second.wake();
                    }
                })
            })
            .collect();
        block_on(poll_fn(|context| {
            wakers.lock().unwrap().push(context.waker().clone());
            if woken.load(Ordering::SeqCst) == 2 {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    passes(body);
    body();
}

#[test]
fn a_future_that_parks_takes_no_wake_up_away() {
    passes(|| {
        let cell = Arc::new(Cell::default());
        let theirs = cell.clone();
        let main = thread::current();
        let handle = thread::spawn(move || {
            theirs.set(1);
            main.unpark();
        });
        let value = block_on(async {
            thread::park();
            cell.get().await
        });
        assert_eq!(value, 1);
        handle.join().unwrap();
    });
}

#[test]
fn waiting_by_yielding_lets_others_run() {
    passes(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let handle = spawn(async move { theirs.store(true, Ordering::SeqCst) });
        block_on(async {
            while !flag.load(Ordering::SeqCst) {
                yield_now().await;
            }
            handle.await.unwrap();
        });
    });
}

#[test]
fn futures_that_outlive_main_are_cleared_away() {
    static ALIVE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }
    passes(|| {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        let counted = Counted;
        drop(spawn(async move {
            let _counted = counted;
            pending::<()>().await;
        }));
        thread::yield_now();
    });
    assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
}

#[test]
fn a_waker_of_a_run_that_is_over_does_nothing() {
    static KEPT: std::sync::Mutex<Vec<Waker>> = std::sync::Mutex::new(Vec::new());
    crate::verdict::passes_runs(3, || {
        for waker in KEPT.lock().unwrap().drain(..) {
            waker.wake();
        }
        let mut polls = 0;
        block_on(poll_fn(|context| {
            KEPT.lock().unwrap().push(context.waker().clone());
            context.waker().wake_by_ref();
            polls += 1;
            if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
        }));
    });
    for waker in KEPT.lock().unwrap().drain(..) {
        waker.wake();
    }
}
