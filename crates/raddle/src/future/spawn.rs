//! Futures as tasks of their own, and waiting for them.

use super::block_on::{Signal, poll_until};
use crate::rt::panics;
use crate::rt::site::here;
use crate::sync::Mutex;
use crate::thread::{self, Owned, mark_joined};
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

/// What a spawned future and its handle share.
struct Shared<T> {
    state: Mutex<State<T>>,
    /// Where the future's task waits.
    signal: OnceLock<Waker>,
    /// Set together with a wake-up and read after one, so that it needs no operation of its own.
    aborted: AtomicBool,
}

struct State<T> {
    result: Option<Result<T, JoinError>>,
    finished: bool,
    waker: Option<Waker>,
}

/// Makes a task that polls `future` to its end.
///
/// The handle gives its result. Dropped, it leaves the future running; a panic that nobody asks for is
/// a failure of the run, as it is with threads.
///
/// ```
/// use raddle::future::{block_on, spawn};
/// let sum = block_on(async { spawn(async { 1 }).await.unwrap() + spawn(async { 2 }).await.unwrap() });
/// assert_eq!(sum, 3);
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let site = here!();
    let state = State { result: None, finished: false, waker: None };
    let shared = Arc::new(Shared {
        state: Mutex::new(state),
        signal: OnceLock::new(),
        aborted: AtomicBool::new(false),
    });
    let theirs = shared.clone();
    let body = move || {
        let signal = Signal::new(site);
        let _ = theirs.signal.set(Waker::from(signal.clone()));
        let aborted = || theirs.aborted.load(Ordering::SeqCst);
        // The future is dropped before anybody hears of its end.
        let result = panics::catch(|| {
            let mut future = Box::pin(future);
            if aborted() { None } else { poll_until(future.as_mut(), &signal, aborted, site) }
        });
        let panic = result.as_ref().err().map(|payload| panics::text(&**payload));
        theirs.finish(match result {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(JoinError(Reason::Cancelled)),
            Err(payload) => Err(JoinError(Reason::Panic(payload))),
        });
        if let Some(text) = panic {
            // The thread counts as one that panicked so, until somebody asks for the result.
            std::panic::resume_unwind(Box::new(text));
        }
    };
    let owned = thread::spawn(body).owned();
    JoinHandle { shared, owned }
}

impl<T> Shared<T> {
    #[track_caller]
    fn with<R>(&self, access: impl FnOnce(&mut State<T>) -> R) -> R {
        access(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn finish(&self, result: Result<T, JoinError>) {
        let waker = self.with(|state| {
            state.result = Some(result);
            state.finished = true;
            state.waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Gives the result of a spawned future.
pub struct JoinHandle<T> {
    shared: Arc<Shared<T>>,
    /// The task, inside a run.
    owned: Option<Owned>,
}

impl<T> JoinHandle<T> {
    /// Breaks the future off where it next waits: it is dropped, and whoever waits for it is told. One
    /// that has ended stays as it is.
    #[track_caller]
    pub fn abort(&self) {
        // Inside a run the flag is set right after the wake-up, before anything else can happen: who
        // sees it has taken that wake-up. Outside it must be there when the other side wakes up.
        let inside = self.owned.is_some();
        if !inside {
            self.shared.aborted.store(true, Ordering::SeqCst);
        }
        if let Some(signal) = self.shared.signal.get() {
            signal.wake_by_ref();
        }
        if inside {
            self.shared.aborted.store(true, Ordering::SeqCst);
        }
    }

    /// Whether the future has ended, in whatever way.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.shared.with(|state| state.finished)
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let result = self.shared.with(|state| {
            let result = state.result.take();
            if result.is_none() {
                assert!(!state.finished, "a JoinHandle was polled after it had given its result");
                state.waker = Some(context.waker().clone());
            }
            result
        });
        let Some(result) = result else { return Poll::Pending };
        if let Some(owned) = self.owned
            && let Some(rt) = owned.run()
        {
            mark_joined(rt, owned.task);
        }
        Poll::Ready(result)
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Why a spawned future has no value.
pub struct JoinError(Reason);

enum Reason {
    Cancelled,
    Panic(Box<dyn Any + Send>),
}

// SAFETY: a shared error gives no access to the payload.
unsafe impl Sync for JoinError {}

impl JoinError {
    /// Whether it was broken off.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0, Reason::Cancelled)
    }

    /// Whether it panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.0, Reason::Panic(_))
    }

    /// The panic's payload.
    ///
    /// # Panics
    /// If it did not panic.
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.try_into_panic().unwrap_or_else(|error| panic!("there was no panic: {error}"))
    }

    /// The panic's payload.
    ///
    /// # Errors
    /// Itself, if there was no panic.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.0 {
            Reason::Panic(payload) => Ok(payload),
            Reason::Cancelled => Err(self),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Cancelled => f.write_str("JoinError::Cancelled"),
            // The payload as std shows it: who only passes a panic on is recognized by that.
            Reason::Panic(payload) => f.debug_tuple("JoinError::Panic").field(payload).finish(),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Reason::Cancelled => "the future was cancelled",
            Reason::Panic(_) => "the future panicked",
        })
    }
}

impl std::error::Error for JoinError {}
