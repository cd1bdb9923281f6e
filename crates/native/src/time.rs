//! Virtual time: clocks and sleeps of the program. What a clock says is part of the run (the engine keeps it), so
//! it is the same whenever the run is repeated.

use crate::cancel;
use crate::run::{arrive, with};
use raddle_model::{Kind, ObjectId, Op};

/// What the kernel and libc call a moment or a length of time.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TimeSpec {
    /// Whole seconds.
    pub seconds: i64,
    /// The rest.
    pub nanoseconds: i64,
}

/// A second.
pub const SECOND: u64 = 1_000_000_000;

/// When runs begin, by the clock on the wall: the first of January 2026.
const WALL: u64 = 1_767_225_600 * SECOND;
/// When they begin by clocks that count from some moment in the past.
const STEADY: u64 = 1_000 * SECOND;

/// `CLOCK_REALTIME` and its coarse and settable relatives.
pub fn is_wall(clock: i32) -> bool {
    matches!(clock, 0 | 5 | 8 | 11)
}

impl TimeSpec {
    /// So many nanoseconds.
    pub fn new(nanoseconds: u64) -> TimeSpec {
        TimeSpec { seconds: (nanoseconds / SECOND) as i64, nanoseconds: (nanoseconds % SECOND) as i64 }
    }

    /// As nanoseconds; none if it is not a valid length.
    pub fn get(self) -> Option<u64> {
        let valid = self.seconds >= 0 && (0..SECOND as i64).contains(&self.nanoseconds);
        valid.then(|| (self.seconds as u64).saturating_mul(SECOND).saturating_add(self.nanoseconds as u64))
    }
}

/// What a clock says now.
pub fn now(clock: i32) -> u64 {
    let run = with(|run| run.engine.now(run.running));
    run + if is_wall(clock) { WALL } else { STEADY }
}

/// How long it is to a moment of a clock.
pub fn until(clock: i32, moment: u64) -> u64 {
    moment.saturating_sub(now(clock))
}

/// Sleeps.
pub fn sleep(nanoseconds: u64, pc: usize) {
    let site = with(|run| run.site(pc));
    cancel::point(Op::new(Kind::Sleep, ObjectId::NONE, site).arg(nanoseconds));
}

/// Offers the processor.
pub fn offer(pc: usize) {
    let site = with(|run| run.site(pc));
    arrive(Op::new(Kind::Yield, ObjectId::NONE, site));
}
