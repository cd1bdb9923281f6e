//! Threads, as [`std::thread`].
//!
//! Inside a run a thread is a task: a coroutine that the run's policy switches to. Outside of runs
//! everything here is std's own. What differs inside a run:
//!
//! - [`sleep`] and the time-outs pass virtual time (see [`crate::time`]) and may end at any
//!   scheduling point, or only when nobody else can run, as the plan says.
//! - [`available_parallelism`] is [`PARALLELISM`], so that a run does not depend on the machine.
//! - [`Builder::stack_size`] is accepted and has no effect.
//! - When main returns, the process is over: threads that are still there are cleared away. Their
//!   destructors run, which std would not do, so that nothing is leaked over many runs.
//! - A handle belongs to the run that made it; used elsewhere it panics, and says why.

mod handle;
pub(crate) mod local;
mod packet;
mod scope;
mod spawn;

pub use crate::thread_local;
pub(crate) use handle::Owned;
pub use handle::{Thread, ThreadId};
pub use local::{AccessError, LocalKey};
pub(crate) use packet::Room;
pub use scope::{Scope, ScopedJoinHandle, scope};
pub(crate) use spawn::mark_joined;
pub use spawn::{Builder, JoinHandle, spawn};
pub use std::thread::Result;

use crate::rt::site::here;
use crate::rt::{self, Rt};
use raddle_model::{Kind, Mode, ObjectId, Op, SiteId};
use std::io;
use std::num::NonZero;
use std::time::Duration;

/// What [`available_parallelism`] says inside a run: enough for a program to use threads at all,
/// and few enough to keep the number of interleavings small.
pub const PARALLELISM: usize = 2;

/// A duration as operations carry it.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The calling thread, as [`std::thread::current`].
///
/// The first thread of a run is called `main`.
pub fn current() -> Thread {
    match rt::current() {
        None => Thread::outside(std::thread::current()),
        Some(rt) => Thread::of(rt, rt.running()),
    }
}

/// Whether the calling thread is unwinding, as [`std::thread::panicking`].
#[inline]
pub fn panicking() -> bool {
    // Each task has a count of its own: see `rt/count.rs`.
    std::thread::panicking()
}

/// Offers the processor, as [`std::thread::yield_now`].
#[track_caller]
pub fn yield_now() {
    match rt::current() {
        None => std::thread::yield_now(),
        Some(rt) => {
            rt.arrive(Op::new(Kind::Yield, ObjectId::NONE, here!()));
        }
    }
}

/// Sleeps, as [`std::thread::sleep`]. Inside a run it takes virtual time only.
#[track_caller]
pub fn sleep(duration: Duration) {
    match rt::current() {
        None => std::thread::sleep(duration),
        Some(rt) => {
            rt.arrive(Op::new(Kind::Sleep, ObjectId::NONE, here!()).arg(nanoseconds(duration)));
        }
    }
}

/// Sleeps, as [`std::thread::sleep_ms`].
#[deprecated(note = "replaced by `raddle::thread::sleep`")]
#[track_caller]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(u64::from(ms)));
}

/// Waits for the calling thread's token and takes it, as [`std::thread::park`].
///
/// It does not end without a token here, which std's may.
#[track_caller]
pub fn park() {
    match rt::current() {
        None => std::thread::park(),
        Some(rt) => {
            rt.arrive(park_op(rt, here!()));
        }
    }
}

/// As [`park`], with a limit, as [`std::thread::park_timeout`].
#[track_caller]
pub fn park_timeout(duration: Duration) {
    match rt::current() {
        None => std::thread::park_timeout(duration),
        Some(rt) => {
            rt.arrive(park_op(rt, here!()).mode(Mode::Timed).arg(nanoseconds(duration)));
        }
    }
}

/// As [`park_timeout`], as [`std::thread::park_timeout_ms`].
#[deprecated(note = "replaced by `raddle::thread::park_timeout`")]
#[track_caller]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(u64::from(ms)));
}

fn park_op(rt: Rt, site: SiteId) -> Op {
    let token = rt.with(|run| run.engine.world_mut().token(run.running));
    Op::new(Kind::Park, token, site)
}

/// How many threads are worth making, as [`std::thread::available_parallelism`]. Inside a run it is
/// [`PARALLELISM`] on every machine.
///
/// # Errors
/// Outside of runs, as std's.
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    match rt::current() {
        None => std::thread::available_parallelism(),
        Some(_) => Ok(const { NonZero::new(PARALLELISM).unwrap() }),
    }
}
