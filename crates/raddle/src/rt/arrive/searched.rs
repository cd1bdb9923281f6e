//! The calls of runs of a search: where such a run is led by the one before it, and where it is not.

use super::{Rt, SEARCHED, Way, plain};
#[cfg(doc)]
use crate::rt::slot::Slot;
use raddle_engine::Next;
use raddle_model::{Kind, ObjectId, Order, Plain, SiteId, Touch};

impl Rt {
    /// Whether the run is led by the one before it, to a point of a task that goes on with the object that has this id there
    /// ([`Slot::id_or_more`]).
    #[inline(always)]
    pub(crate) fn repeats(self, id: u64) -> bool {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        unsafe { (*self.0).engine.repeats_on(id) }
    }

    /// Whether the task came to this point in the run before, by which this one is led, and went on there: then that is all.
    /// If not nothing has happened. Part of the program's own function, as nothing else of a run that is led.
    #[inline(always)]
    pub(crate) fn goes_on_by_rote(self, kind: Kind, id: u64, site: SiteId) -> bool {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        let run = unsafe { &mut *self.0 };
        match run.engine.repeat_stay(kind, id, site) {
            Some(lines) => run.heart.repeats(lines),
            None => return false,
        }
        true
    }

    /// Whether it took a mutex here and gave it back before anything else was done: if it takes it [`Rt::gives_back_by_rote`] is the
    /// rest.
    #[inline(always)]
    pub(crate) fn opens_by_rote(self, id: u64, site: SiteId) -> bool {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        unsafe { (*self.0).engine.repeats_section(id, site) }
    }

    /// The task gives back what it has taken so. False, and nothing has happened, if the run is not led any more.
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

    /// What is waited for has mostly exited: where it had not, that was in the run before, too.
    pub(super) fn join_in_search(self, _: Kind, order: Order, object: ObjectId, site: SiteId) -> Way {
        self.go_on_in_search(Plain { kind: Kind::Join, touch: Touch::Join, order, object, site })
    }

    pub(super) fn give_in_search(self, _: Kind, order: Order, object: ObjectId, site: SiteId) {
        // SAFETY: as in `with`, of which this is a part that must not be called out of line.
        let run = unsafe { &mut *self.0 };
        let plain = Plain { kind: Kind::Unlock, touch: Touch::Give, order, object, site };
        match run.engine.close_at_once(run.running, plain) {
            Ok(()) => run.engine.foresee_section_in_search(run.running, object, site),
            Err(true) => run.give_told(order, object, site),
            Err(false) => self.give_slowly(order, object, site),
        }
    }

    #[inline(never)]
    fn give_slowly(self, order: Order, object: ObjectId, site: SiteId) {
        self.wait_if_it_must(self.give_with_care(order, object, site));
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
            Ok(()) => {
                if plain.touch == Touch::Write {
                    run.engine.foresee_in_search(run.running, plain);
                }
                Way::NONE
            }
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
        if quiet {
            return self.arrive_quietly(plain);
        }
        let way = self.with(|run| {
            let next = run.engine.turn_in_writing(run.running, plain)?;
            // Whoever went on may have exited, and left the rest to this one.
            Some(if next == Next::Run(run.running) { Way::NONE } else { run.hand_over(next) })
        });
        way.unwrap_or_else(|| self.arrive_plainly::<SEARCHED>(plain))
    }
}
