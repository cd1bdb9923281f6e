//! Futures: an executor for runs, with the shape of [`std::future`] and of the executors that people
//! know.
//!
//! Each future that is spawned is a task of its own, polled on its own coroutine; [`block_on`] polls
//! on the calling one. A waker gives its task a token, and a task whose future is pending waits for
//! it, as with `park` and `unpark`: a lost wake-up is a deadlock that names the task. All futures work
//! here, also those of other crates, as long as what they use to talk to each other is Raddle's.
//!
//! Outside of runs the same functions use real threads, one for each future.

mod block_on;
mod spawn;

pub use block_on::block_on;
pub use spawn::{JoinError, JoinHandle, spawn};
pub use std::future::{Future, IntoFuture, Pending, PollFn, Ready, pending, poll_fn, ready};

use std::pin::Pin;
use std::task::{Context, Poll};

/// Lets others go on: pending once, and woken at once.
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// Made by [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
