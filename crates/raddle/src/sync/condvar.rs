//! `Condvar` as std has it. Which waiter a notification wakes is a decision of the run; a wait may
//! end without a notification only if the plan allows spurious wake-ups.

use crate::rt::site::here;
use crate::rt::slot::Slot;
use crate::rt::{self, Rt};
use crate::sync::MutexGuard;
use crate::sync::claim::{self, Visitors, nanoseconds};
use raddle_model::objects::State;
use raddle_model::objects::condvar::Condvar as Model;
use raddle_model::{Kind, Mode, ObjectId, Op, Outcome, SiteId};
use std::fmt;
use std::sync::{LockResult, PoisonError};
use std::time::{Duration, Instant};

/// A condition variable, as [`std::sync::Condvar`].
///
/// Outside a run it is std's. Inside one a timed wait may time out at any moment, whatever its
/// duration: virtual time passes as the run needs it.
pub struct Condvar {
    slot: Slot,
    /// Threads outside of runs that wait or notify here.
    visitors: Visitors,
    outside: std::sync::Condvar,
}

/// Whether a timed wait on a [`Condvar`] timed out, as [`std::sync::WaitTimeoutResult`]: a type of
/// its own, since std's cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// See [`std::sync::WaitTimeoutResult::timed_out`].
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// See [`std::sync::Condvar::new`].
    #[must_use]
    #[inline]
    pub const fn new() -> Condvar {
        Condvar { slot: Slot::new(), visitors: Visitors::new(), outside: std::sync::Condvar::new() }
    }

    fn object(&self, rt: Rt, site: SiteId) -> ObjectId {
        claim::object(self, &self.slot, rt, site, || {
            self.visitors.assert_none("condvar");
            State::Condvar(Model::default())
        })
    }

    /// Waits, for so long if it is said; true if that was too short.
    fn wait_at<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Option<Duration>,
        site: SiteId,
    ) -> (MutexGuard<'a, T>, bool) {
        let Some((rt, mutex)) = guard.inside() else { return self.wait_outside(guard, limit) };
        let op = Op::new(Kind::Wait, self.object(rt, site), site).second(mutex);
        let op = match limit {
            None => op,
            Some(limit) => op.mode(Mode::Timed).arg(nanoseconds(limit)),
        };
        // Until this has happened the task holds the mutex, and gives it back if the run ends.
        rt.arrive(op);
        guard.apart(|| rt.arrive(Op { kind: Kind::Wake, ..op }) == Outcome::TimedOut)
    }

    fn wait_outside<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Option<Duration>,
    ) -> (MutexGuard<'a, T>, bool) {
        let _visitor = self.visitors.enter(&self.slot);
        guard.apart_outside(|real| match limit {
            None => (self.outside.wait(real).unwrap_or_else(PoisonError::into_inner), false),
            Some(limit) => {
                let result = self.outside.wait_timeout(real, limit);
                let (real, result) = result.unwrap_or_else(PoisonError::into_inner);
                (real, result.timed_out())
            }
        })
    }

    /// See [`std::sync::Condvar::wait`].
    ///
    /// # Errors
    /// The guard, if a holder of the mutex has panicked.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.wait_at(guard, None, here!()).0.checked()
    }

    /// See [`std::sync::Condvar::wait_while`].
    ///
    /// # Errors
    /// The guard, if a holder of the mutex has panicked.
    #[track_caller]
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// See [`std::sync::Condvar::wait_timeout_ms`].
    ///
    /// # Errors
    /// The guard, if a holder of the mutex has panicked.
    #[track_caller]
    #[deprecated(note = "replaced by `wait_timeout`, as in std")]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let (guard, timed_out) = self.wait_at(guard, Some(Duration::from_millis(u64::from(ms))), here!());
        with(guard, !timed_out)
    }

    /// See [`std::sync::Condvar::wait_timeout`].
    ///
    /// # Errors
    /// The guard, if a holder of the mutex has panicked.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        dur: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, timed_out) = self.wait_at(guard, Some(dur), here!());
        with(guard, WaitTimeoutResult(timed_out))
    }

    /// See [`std::sync::Condvar::wait_timeout_while`]. Inside a run the time that has passed is
    /// virtual.
    ///
    /// # Errors
    /// The guard, if a holder of the mutex has panicked.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        dur: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let start = Clock::now();
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(left) = dur.checked_sub(start.elapsed()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            guard = self.wait_timeout(guard, left)?.0;
        }
    }

    /// See [`std::sync::Condvar::notify_one`]. Inside a run any waiter may be the one.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(Kind::NotifyOne, here!());
    }

    /// See [`std::sync::Condvar::notify_all`].
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(Kind::NotifyAll, here!());
    }

    fn notify(&self, kind: Kind, site: SiteId) {
        match rt::current() {
            Some(rt) => {
                rt.arrive(Op::new(kind, self.object(rt, site), site));
            }
            None => {
                let _visitor = self.visitors.enter(&self.slot);
                if kind == Kind::NotifyOne {
                    self.outside.notify_one();
                } else {
                    self.outside.notify_all();
                }
            }
        }
    }
}

/// A guard and what came of the wait, as an error if the mutex is poisoned.
fn with<T, R>(guard: MutexGuard<'_, T>, result: R) -> LockResult<(MutexGuard<'_, T>, R)> {
    match guard.checked() {
        Ok(guard) => Ok((guard, result)),
        Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), result))),
    }
}

/// When something began: by the task's clock inside a run, by the real one outside.
enum Clock {
    Inside(Rt, u64),
    Outside(Instant),
}

impl Clock {
    fn now() -> Clock {
        match rt::current() {
            Some(rt) => Clock::Inside(rt, read(rt)),
            None => Clock::Outside(Instant::now()),
        }
    }

    fn elapsed(&self) -> Duration {
        match *self {
            Clock::Inside(rt, start) => Duration::from_nanos(read(rt) - start),
            Clock::Outside(start) => start.elapsed(),
        }
    }
}

fn read(rt: Rt) -> u64 {
    rt.with(|run| run.engine.now(run.running))
}

impl Default for Condvar {
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
