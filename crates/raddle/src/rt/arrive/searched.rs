//! The calls of runs of a search: where such a run is led by the one before it, and where it is not.

use super::{Rt, SEARCHED, Way, plain};
use crate::rt::slot::Slot;
use raddle_model::{Kind, ObjectId, Order, Plain, SiteId, Touch};

impl Rt {
    /// Whether the run is led by the one before it, and has not come to the last call of those that lead it.
    #[inline(always)]
    pub(crate) fn repeats(self) -> bool {
        self.with(|run| run.engine.follows_lines())
    }

    /// Whether the task came to this point in the run before, by which this one is led, and went on there: then that is all.
    /// If not nothing has happened. Part of the program's own function, as nothing else of a run that is led.
    #[inline(always)]
    pub(crate) fn goes_on_by_rote(self, kind: Kind, slot: &Slot, site: SiteId) -> Option<ObjectId> {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        let run = unsafe { &mut *self.0 };
        if !run.engine.follows_lines() {
            return None;
        }
        let object = slot.id_or_more(run.stamp);
        let lines = run.engine.repeat_stay(kind, object, site)?;
        run.heart.repeats(lines);
        Some(ObjectId(object as u32))
    }

    /// The same for a mutex that is given back before anything else is done ([`Rt::gives_back_by_rote`]), if it `can` be had.
    #[inline(always)]
    pub(crate) fn opens_by_rote(self, slot: &Slot, site: SiteId, can: impl FnOnce() -> bool) -> bool {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        let run = unsafe { &mut *self.0 };
        run.engine.repeat_open(slot.id_or_more(run.stamp), site, can)
    }

    /// Whether the task gives back now what it has taken so, and did so before.
    #[inline(always)]
    pub(crate) fn gives_back_by_rote(self) -> bool {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        let run = unsafe { &mut *self.0 };
        match run.engine.repeat_close() {
            Some(lines) => run.heart.repeats(lines),
            None => return false,
        }
        true
    }

    /// A point of a run that is led by the one before it.
    #[inline(always)]
    fn go_by_rote(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        let run = unsafe { &mut *self.0 };
        let me = run.running;
        let Some(next) = run.engine.repeat_arrival(me, kind, object, site) else {
            return self.leave_rote(kind, order, object, site);
        };
        run.heart.beat();
        if next == me {
            return Way::NONE;
        }
        // Whoever does the same as in the run before does not hang: where it is need not be known at every point.
        run.heart.at(me, site);
        run.hand_over_led(next)
    }

    pub(super) fn access_by_rote(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.go_by_rote(kind, order, object, site)
    }

    pub(super) fn take_by_rote(self, _: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.go_by_rote(Kind::Lock, order, object, site)
    }

    pub(super) fn give_by_rote(self, _: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.go_by_rote(Kind::Unlock, order, object, site)
    }

    /// The same for the last point at which the run is led, for the first at which it is no more, and for a task that strays.
    #[inline(never)]
    fn leave_rote(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        let way = self.with(|run| {
            let next = run.engine.repeat_last(run.running, kind, object, site)?;
            run.beat_at(site);
            run.find_calls();
            Some(if next == run.running { Way::NONE } else { run.hand_over_led(next) })
        });
        way.unwrap_or_else(|| self.go_on_by_itself(kind, order, object, site))
    }

    #[inline(never)]
    fn go_on_by_itself(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.with(|run| run.find_calls());
        if kind == Kind::Unlock {
            return self.give_with_care(order, object, site);
        }
        self.arrive_plainly::<SEARCHED>(plain(kind, order, object, site))
    }

    // Those of runs of a search where they are not led.

    pub(super) fn write_in_search(self, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.go_on_in_search(Plain { kind, touch: Touch::Write, order, object, site })
    }

    pub(super) fn take_in_search(self, _: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.go_on_in_search(Plain { kind: Kind::Lock, touch: Touch::Take, order, object, site })
    }

    pub(super) fn give_in_search(self, _: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        let run = unsafe { &mut *self.0 };
        let plain = Plain { kind: Kind::Unlock, touch: Touch::Give, order, object, site };
        match run.engine.close_at_once(run.running, plain) {
            Ok(()) => Way::NONE,
            Err(true) => {
                run.give_told(order, object, site);
                Way::NONE
            }
            Err(false) => self.give_with_care(order, object, site),
        }
    }

    /// The same where it is a point, or has to be looked at more closely.
    #[inline(never)]
    fn give_with_care(self, order: Order, object: ObjectId, site: SiteId) -> Way {
        let plain = Plain { kind: Kind::Unlock, touch: Touch::Give, order, object, site };
        if self.with(|run| run.engine.closes_section(plain.kind, object)) {
            self.with(|run| run.engine.close_section(run.running, plain));
            return Way::NONE;
        }
        // Where it is no point nothing is written down.
        self.go_on_in_search(plain)
    }

    #[inline(always)]
    fn go_on_in_search(self, plain: Plain) -> Way {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        let run = unsafe { &mut *self.0 };
        match run.engine.stay_in_writing(run.running, plain) {
            Ok(()) => Way::NONE,
            Err(happened) => self.search_on(happened, plain.kind, plain.order, plain.object, plain.site),
        }
    }

    /// The rest of that, where it was not all.
    #[inline(never)]
    fn search_on(self, happened: bool, kind: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        let plain = plain(kind, order, object, site);
        if happened {
            self.with(|run| run.engine.tell(run.running, plain));
            return Way::NONE;
        }
        // Calls of a search are none of a task that was just made, nor of a run that is unusual.
        let quiet = kind == Kind::Unlock && self.with(|run| !run.engine.is_point_at(kind, site));
        if quiet { self.arrive_quietly(plain) } else { self.arrive_plainly::<SEARCHED>(plain) }
    }
}
