//! How a task gives a lock back. That is seldom a point, so these calls wait by themselves: whoever gives something back
//! has nothing left to do, and need keep nothing for afterwards.

use super::{Rt, Run, plain};
use raddle_model::{Kind, ObjectId, Order, Plain, SiteId, Touch};

impl Rt {
    #[inline(never)]
    pub(super) fn give(self, _: Kind, order: Order, object: ObjectId, site: SiteId) {
        let plain = Plain { kind: Kind::Unlock, touch: Touch::Give, order, object, site };
        self.wait_if_it_must(self.arrive_quietly(plain));
    }

    /// The same in runs that have a short way.
    pub(super) fn give_at_once<const STAYING: bool>(
        self,
        _: Kind,
        order: Order,
        object: ObjectId,
        site: SiteId,
    ) {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        let run = unsafe { &mut *self.0 };
        let plain = Plain { kind: Kind::Unlock, touch: Touch::Give, order, object, site };
        if STAYING {
            run.engine.catch_up();
        }
        if !run.engine.has_few() || run.engine.is_point_at(plain.kind, site) {
            return self.give(plain.kind, order, object, site);
        }
        let me = run.running;
        match run.engine.give(me, plain) {
            // Blindly nobody knows who goes on.
            Ok(()) if STAYING => run.engine.foresee_section(me, object, site),
            Ok(()) => {}
            Err(true) => run.give_told(order, object, site),
            Err(false) => self.give(plain.kind, order, object, site),
        }
    }
}

impl Run {
    /// A task that has given something back where that was not told.
    #[inline(never)]
    pub(super) fn give_told(&mut self, order: Order, object: ObjectId, site: SiteId) {
        self.engine.tell(self.running, plain(Kind::Unlock, order, object, site));
    }
}
