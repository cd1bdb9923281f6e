//! Time, as [`std::time`]. Inside a run it is virtual.
//!
//! A task's clock shows the latest moment in its own past: what it has slept or waited for, and the
//! clocks of those it has heard from. Computing takes no time; each reading takes a nanosecond. So
//! what a task reads is a function of what has happened before it, and a run repeats.

use crate::rt;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
pub use std::time::{Duration, SystemTimeError, TryFromFloatSecsError};

/// What the clock shows when a run begins: one can count back from there, as on a real machine.
const BEGIN: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// What the calendar shows when a run begins: the first of January 2000.
const CALENDAR: Duration = Duration::from_secs(946_684_800);

/// Virtual time since the run began; None outside of runs.
fn virtual_now() -> Option<Duration> {
    let nanoseconds = rt::current()?.with(|run| run.engine.now(run.running));
    Some(Duration::from_nanos(nanoseconds))
}

/// A moment of a clock that never goes back, as [`std::time::Instant`].
///
/// Moments of runs and real ones lie on different clocks: a virtual one counts as later, and no time
/// is between them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Moment);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Moment {
    Real(std::time::Instant),
    Virtual(Duration),
}

impl Instant {
    /// See [`std::time::Instant::now`].
    #[must_use]
    pub fn now() -> Instant {
        Instant(match virtual_now() {
            Some(now) => Moment::Virtual(BEGIN.saturating_add(now)),
            None => Moment::Real(std::time::Instant::now()),
        })
    }

    /// See [`std::time::Instant::duration_since`].
    #[must_use]
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// See [`std::time::Instant::checked_duration_since`].
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        match (self.0, earlier.0) {
            (Moment::Real(now), Moment::Real(earlier)) => now.checked_duration_since(earlier),
            (Moment::Virtual(now), Moment::Virtual(earlier)) => now.checked_sub(earlier),
            _ => None,
        }
    }

    /// See [`std::time::Instant::saturating_duration_since`].
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }

    /// See [`std::time::Instant::elapsed`].
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    /// See [`std::time::Instant::checked_add`].
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        Some(Instant(match self.0 {
            Moment::Real(moment) => Moment::Real(moment.checked_add(duration)?),
            Moment::Virtual(moment) => Moment::Virtual(moment.checked_add(duration)?),
        }))
    }

    /// See [`std::time::Instant::checked_sub`].
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        Some(Instant(match self.0 {
            Moment::Real(moment) => Moment::Real(moment.checked_sub(duration)?),
            Moment::Virtual(moment) => Moment::Virtual(moment.checked_sub(duration)?),
        }))
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;
    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Moment::Real(moment) => moment.fmt(f),
            Moment::Virtual(moment) => f.debug_tuple("Instant").field(&moment).finish(),
        }
    }
}

/// A moment of the calendar, as [`std::time::SystemTime`]. Every run begins on 1 January 2000.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime(std::time::SystemTime);

/// See [`std::time::UNIX_EPOCH`].
pub const UNIX_EPOCH: SystemTime = SystemTime::UNIX_EPOCH;

impl SystemTime {
    /// See [`std::time::SystemTime::UNIX_EPOCH`].
    pub const UNIX_EPOCH: SystemTime = SystemTime(std::time::SystemTime::UNIX_EPOCH);

    /// See [`std::time::SystemTime::now`].
    #[must_use]
    pub fn now() -> SystemTime {
        match virtual_now() {
            Some(now) => UNIX_EPOCH + CALENDAR + now,
            None => SystemTime(std::time::SystemTime::now()),
        }
    }

    /// See [`std::time::SystemTime::duration_since`].
    ///
    /// # Errors
    /// If `earlier` is later.
    pub fn duration_since(&self, earlier: SystemTime) -> Result<Duration, SystemTimeError> {
        self.0.duration_since(earlier.0)
    }

    /// See [`std::time::SystemTime::elapsed`].
    ///
    /// # Errors
    /// If it lies in the future.
    pub fn elapsed(&self) -> Result<Duration, SystemTimeError> {
        SystemTime::now().duration_since(*self)
    }

    /// See [`std::time::SystemTime::checked_add`].
    pub fn checked_add(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_add(duration).map(SystemTime)
    }

    /// See [`std::time::SystemTime::checked_sub`].
    pub fn checked_sub(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_sub(duration).map(SystemTime)
    }
}

impl fmt::Debug for SystemTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<std::time::SystemTime> for SystemTime {
    fn from(time: std::time::SystemTime) -> SystemTime {
        SystemTime(time)
    }
}

impl From<SystemTime> for std::time::SystemTime {
    fn from(time: SystemTime) -> std::time::SystemTime {
        time.0
    }
}

macro_rules! arithmetic {
    ($name:ident) => {
        impl Add<Duration> for $name {
            type Output = $name;
            #[track_caller]
            fn add(self, duration: Duration) -> $name {
                self.checked_add(duration).expect("overflow when adding duration to instant")
            }
        }

        impl AddAssign<Duration> for $name {
            #[track_caller]
            fn add_assign(&mut self, duration: Duration) {
                *self = *self + duration;
            }
        }

        impl Sub<Duration> for $name {
            type Output = $name;
            #[track_caller]
            fn sub(self, duration: Duration) -> $name {
                self.checked_sub(duration).expect("overflow when subtracting duration from instant")
            }
        }

        impl SubAssign<Duration> for $name {
            #[track_caller]
            fn sub_assign(&mut self, duration: Duration) {
                *self = *self - duration;
            }
        }
    };
}

arithmetic!(Instant);
arithmetic!(SystemTime);
