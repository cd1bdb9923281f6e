//! Polling a future to its end, and the wakers that go with it.

use crate::rt;
use crate::rt::site::here;
use crate::thread::Owned;
use raddle_model::objects::State;
use raddle_model::{Kind, Mode, ObjectId, Op, SiteId};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Polls a future on the calling thread until it is ready, and waits in between.
///
/// ```
/// assert_eq!(raddle::future::block_on(async { 1 + 1 }), 2);
/// ```
#[track_caller]
pub fn block_on<F: IntoFuture>(future: F) -> F::Output {
    let site = here!();
    let signal = Signal::new(site);
    let result = poll_until(pin!(future.into_future()), &signal, || false, site);
    result.unwrap_or_else(|| unreachable!("raddle bug: a future was broken off"))
}

/// Polls until the future is ready, or until `stop` says so after a wake-up. None: it was stopped.
pub(super) fn poll_until<F: Future>(
    mut future: Pin<&mut F>,
    signal: &Arc<Signal>,
    stop: impl Fn() -> bool,
    site: SiteId,
) -> Option<F::Output> {
    let waker = Waker::from(signal.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        signal.wait(site);
        if stop() {
            return None;
        }
    }
}

/// Where a task waits while its future is pending: a token of its own, so that a future which parks
/// its thread takes no wake-up away.
pub(super) struct Signal {
    /// Whether it was woken: outside of runs by anybody, inside by its own task.
    woken: AtomicBool,
    waiter: Waiter,
}

enum Waiter {
    Outside(std::thread::Thread),
    Inside { owned: Owned, token: ObjectId, site: SiteId },
}

impl Signal {
    /// For the calling task.
    pub(super) fn new(site: SiteId) -> Arc<Signal> {
        let waiter = match rt::current() {
            None => Waiter::Outside(std::thread::current()),
            Some(rt) => Waiter::Inside {
                owned: Owned { mark: rt.mark(), task: rt.running() },
                token: rt.with(|run| run.engine.world_mut().create(State::Token(false), site)),
                site,
            },
        };
        Arc::new(Signal { woken: AtomicBool::new(false), waiter })
    }

    /// Waits for a wake-up and takes it, and with it all that came meanwhile.
    fn wait(&self, site: SiteId) {
        let woken = || self.woken.swap(false, Ordering::Acquire);
        match &self.waiter {
            Waiter::Outside(_) => {
                while !woken() {
                    std::thread::park();
                }
            }
            Waiter::Inside { owned, token, .. } => {
                // A waker is `Send`, a pending future need not be: it stays where it was begun.
                let rt = owned.run_to("go on with");
                let park = Op::new(Kind::Park, *token, site);
                // A task that has woken itself offers the processor, and takes the token if it is there.
                let park = if woken() { park.mode(Mode::Try) } else { park };
                rt.arrive(park);
            }
        }
    }

    /// Wakes the task. Nothing happens if its run is over.
    #[track_caller]
    fn signal(&self) {
        match &self.waiter {
            Waiter::Outside(thread) => {
                self.woken.store(true, Ordering::Release);
                thread.unpark();
            }
            Waiter::Inside { owned, token, site } => match owned.run() {
                // Between a task and itself nothing is to be ordered: no operation.
                Some(rt) if rt.running() == owned.task => self.woken.store(true, Ordering::Relaxed),
                Some(rt) => {
                    rt.arrive(Op::new(Kind::Unpark, *token, *site));
                }
                None => owned.mark.assert_over("wake one of its futures"),
            },
        }
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Signal>) {
        self.signal();
    }

    fn wake_by_ref(self: &Arc<Signal>) {
        self.signal();
    }
}
