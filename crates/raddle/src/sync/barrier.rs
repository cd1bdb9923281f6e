//! `Barrier` as std has it.

use crate::rt::site::here;
use crate::rt::slot::Slot;
use crate::rt::{self, Rt};
use crate::sync::claim::{self, Visitors};
use raddle_model::objects::State;
use raddle_model::objects::barrier::Barrier as Model;
use raddle_model::{Kind, ObjectId, Op, Outcome, SiteId};
use std::fmt;

/// Lets several threads wait for each other, as [`std::sync::Barrier`].
///
/// Inside a run it starts empty: tasks of a run never meet threads outside.
pub struct Barrier {
    slot: Slot,
    /// Threads outside of runs that wait here.
    visitors: Visitors,
    size: usize,
    outside: std::sync::Barrier,
}

/// Whether one was the last to arrive, as [`std::sync::BarrierWaitResult`]: a type of its own, since
/// std's cannot be made.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// See [`std::sync::BarrierWaitResult::is_leader`].
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// See [`std::sync::Barrier::new`].
    #[must_use]
    #[inline]
    pub const fn new(n: usize) -> Barrier {
        Barrier { slot: Slot::new(), visitors: Visitors::new(), size: n, outside: std::sync::Barrier::new(n) }
    }

    fn object(&self, rt: Rt, site: SiteId) -> ObjectId {
        claim::object(self, &self.slot, rt, site, || {
            self.visitors.assert_none("barrier");
            State::Barrier(Model::new(u32::try_from(self.size).unwrap_or(u32::MAX)))
        })
    }

    /// See [`std::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let site = here!();
        let Some(rt) = rt::current() else {
            let _visitor = self.visitors.enter(&self.slot);
            return BarrierWaitResult(self.outside.wait().is_leader());
        };
        let object = self.object(rt, site);
        let leader = rt.arrive(Op::new(Kind::Arrive, object, site)) == Outcome::Value(1);
        // The leader has opened the barrier by arriving, and sees all who came before.
        if !leader {
            rt.arrive(Op::new(Kind::Leave, object, site));
        }
        BarrierWaitResult(leader)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}
