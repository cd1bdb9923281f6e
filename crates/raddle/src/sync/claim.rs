//! What all types of this module share: how they find their object in the run, which world a guard
//! was made in, and who is at an object outside of runs.

use crate::rt::slot::{Mark, Slot};
use crate::rt::{self, Rt, statics};
use raddle_model::objects::State;
use raddle_model::{ObjectId, SiteId};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The object that stands for `whole` in this run. `state` says what it is when the run sees it
/// first; it must look at the real thing, which may have been used outside.
#[inline]
pub(crate) fn object<T: ?Sized>(
    whole: &T,
    slot: &Slot,
    rt: Rt,
    site: SiteId,
    state: impl FnOnce() -> State,
) -> ObjectId {
    object_from(slot.id_or_more(rt.stamp()), whole, slot, rt, site, state)
}

/// The same where [`Slot::id_or_more`] was asked already.
#[inline]
pub(crate) fn object_from<T: ?Sized>(
    id: u64,
    whole: &T,
    slot: &Slot,
    rt: Rt,
    site: SiteId,
    state: impl FnOnce() -> State,
) -> ObjectId {
    slot.id_from(id, rt, site, || {
        statics::first_use(whole);
        state()
    })
}

/// Where a guard was made, and with that what it has to give back.
#[derive(Debug)]
pub(crate) enum Held<G> {
    /// In this run, where it holds this object.
    Inside(Mark, ObjectId),
    /// Outside of runs, with the real lock.
    Outside(G),
}

impl<G> Held<G> {
    /// The run and the object to give back to. None outside, and for a guard that has outlived its
    /// run: what it held was given back with the run.
    #[inline]
    pub(crate) fn inside(&self) -> Option<(Rt, ObjectId)> {
        match *self {
            Held::Inside(mark, object) => rt::current().filter(|rt| rt.mark() == mark).map(|rt| (rt, object)),
            Held::Outside(_) => None,
        }
    }
}

/// How many threads outside of runs are at an object that has no real lock to ask.
///
/// The same order as in [`Slot`]: a thread first enters and then looks whether a run has the object;
/// a run first claims the object and then looks whether somebody is there.
#[derive(Debug)]
pub(crate) struct Visitors(AtomicUsize);

/// One of them, until it is dropped.
pub(crate) struct Visitor<'a>(&'a Visitors);

impl Visitors {
    pub(crate) const fn new() -> Visitors {
        Visitors(AtomicUsize::new(0))
    }

    /// One more. Panics if a run has the object.
    pub(crate) fn enter(&self, slot: &Slot) -> Visitor<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let visitor = Visitor(self);
        slot.assert_free();
        visitor
    }

    /// Panics if there is one.
    pub(crate) fn assert_none(&self, noun: &str) {
        if self.0.load(Ordering::SeqCst) != 0 {
            held_outside(noun);
        }
    }
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A run finds an object in use by a thread outside of it.
#[cold]
pub(crate) fn held_outside(noun: &str) -> ! {
    panic!(
        "raddle: this {noun} is in use by a thread outside the run. Objects can be shared between runs and \
         the code around them, but not while a run is going on."
    );
}

/// A duration as operations carry it.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
