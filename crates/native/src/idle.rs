//! None of the run's tasks can go on. That is a deadlock, unless something may come from outside: a file whose other end is
//! there, a process that the program has made and that has inherited one, a timer of its own that sends a signal. Then
//! it is waited for in the kernel, and whoever that lets go on is about to do something else than before. As long as
//! anybody else can run nobody waits there, so when it is looked for what has come does not hang on the clock.
//!
//! The server sees no sign of life meanwhile: if nothing comes for too long it is a hang, which says what each of them
//! waits for.

use crate::children::Children;
use crate::io::{self, Poll};
use crate::run::{Run, with};
use crate::server::{hang_ms, nanoseconds};
use crate::sys;
use crate::timers::Timers;
use crate::way::Way;
use crate::{deferred, sent};
use alloc::vec::Vec;
use raddle_model::trace::Hidden;
use raddle_model::{Failure, Kind, Mode, ObjectId, Op};

/// What cannot be waited for in the kernel is looked at so often.
const LOOK_NS: u64 = 5_000_000;
/// All else is looked at again so often: a child may have ended without a word.
const SLICE_NS: u64 = 100_000_000;

/// What a run may hear from.
#[derive(Clone, Default, Debug)]
pub(crate) struct Outside {
    /// Processes that the program has made.
    pub(crate) children: Children,
    /// Timers that it has made, and that send signals.
    pub(crate) timers: Timers,
    /// What each task waits for while nobody can go on.
    pub(crate) standstill: Option<Failure>,
}

/// Nobody can go on, or the run is over. Whom to go on with; if there is nobody this does not come back.
#[cold]
#[inline(never)]
pub(crate) fn next() -> Way {
    loop {
        if with(|run| run.engine.verdict().is_some()) {
            crate::end::over();
        }
        await_outside();
        let way = with(|run| {
            run.outside.standstill = None;
            let next = run.engine.schedule_next();
            run.hand_over(next)
        });
        if let Some(way) = way {
            return way;
        }
    }
}

/// Waits until somebody can go on. If nothing can come from outside the run is over.
fn await_outside() {
    with(|run| run.outside.standstill = Some(run.engine.standstill()));
    loop {
        // In this order: whatever comes while it is looked at is seen below.
        let outside = with(Run::may_come);
        let signals = sent::hear();
        if with(|run| run.wake_from_outside(outside.is_some())) || signals {
            // Which of several things comes first no search can say.
            return with(|run| run.hides(Hidden(Hidden::FILES.0 | Hidden::SIGNALS.0)));
        }
        let Some((mut polls, slice)) = outside else {
            return with(|run| run.engine.come_to_nothing());
        };
        deferred::wait_unless_pending(&mut polls, slice);
    }
}

impl Run {
    /// What may come from outside, and how long to wait for it at a time. None if nothing can.
    fn may_come(&mut self) -> Option<(Vec<Poll>, u64)> {
        let children = self.has_children();
        let (mut polls, looks) = self.awaited(children);
        let hears = !self.sent.awaited_signals().is_empty() || deferred::are_any_handled();
        let timers = self.outside.timers.are_set();
        let may_come = !polls.is_empty() || looks || timers || children && hears;
        if !may_come {
            return None;
        }
        polls.extend(self.lives());
        let now = nanoseconds();
        // Whose time is limited does not hang, however long that is.
        let longest = match u64::from(hang_ms()) {
            0 => u64::MAX,
            hang_ms => hang_ms * 1_000_000 / 2,
        };
        let due = self.waiters.all.iter_mut().filter_map(|waiting| {
            let patience = waiting.patience?.min(longest);
            Some(waiting.due.get_or_insert(now.saturating_add(patience)).saturating_sub(now))
        });
        let slice = if looks || !self.sent.awaited_signals().is_empty() { LOOK_NS } else { SLICE_NS };
        let slice = due.min().map_or(slice, |due| due.min(slice));
        Some((polls, slice))
    }

    /// Whoever need not wait any more is about to do something else. False if there is nobody.
    fn wake_from_outside(&mut self, may_come: bool) -> bool {
        let children = may_come && self.has_children();
        let mut all = core::mem::take(&mut self.waiters.all);
        let mut woken = Vec::new();
        all.retain_mut(|waiting| {
            let over = waiting.is_over(&self.waiters, children);
            woken.extend(over.then_some(waiting.task));
            !over
        });
        self.waiters.all = all;
        for &task in &woken {
            let site = self.engine.world().task(task).op.site;
            self.engine.amend(task, Op::new(Kind::Yield, ObjectId::NONE, site));
        }
        !woken.is_empty() || self.time_out(may_come)
    }

    /// Whoever has waited long enough for the outside, or would wait for nothing, does no longer.
    fn time_out(&mut self, may_come: bool) -> bool {
        let now = nanoseconds();
        let due = self.waiters.all.iter_mut().filter(|waiting| waiting.patience.is_some());
        let first = due.min_by_key(|waiting| (waiting.due.unwrap_or(u64::MAX), waiting.patience));
        let Some(waiting) = first else { return false };
        if may_come && waiting.due.is_none_or(|due| due > now) {
            return false;
        }
        let (task, limit) = (waiting.task, waiting.patience.take());
        let site = self.engine.world().task(task).op.site;
        let token = self.engine.world_mut().token(task);
        let op = Op::new(Kind::Park, token, site).mode(Mode::Timed);
        self.engine.amend(task, op.arg(limit.unwrap_or(0)));
        true
    }
}

/// Waits for one of the files, at most so many nanoseconds, with these signals blocked.
pub(crate) fn sleep(polls: &mut [io::Poll], nanoseconds: u64, mask: u64) {
    const PPOLL: usize = 271;
    const SECOND: u64 = crate::time::SECOND;
    let limit = [nanoseconds / SECOND, nanoseconds % SECOND];
    let (at, limit, mask) =
        (polls.as_mut_ptr() as usize, limit.as_ptr() as usize, (&raw const mask) as usize);
    // SAFETY: all of them live until the call returns.
    unsafe { sys::call(PPOLL, [at, polls.len(), limit, mask, size_of::<u64>(), 0]) };
}
