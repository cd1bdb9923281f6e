//! How a synchronization object finds itself in the run: a stamp in the object says which run it
//! was last used in and what its id is there. No table, no address.
//!
//! A stamp also claims the object. Inside a run the engine alone says who holds what, and the real
//! lock underneath is left alone; so one object must not be used by a run and by a thread outside
//! of it at the same time. Both sides look before they leap: a run first writes its stamp and then
//! looks whether the real lock is held ([`Slot::id`]); a thread outside first takes the real lock
//! and then looks whether a live run owns the object ([`Slot::assert_free`]). With sequentially
//! consistent operations at least one of them sees the other.

use crate::rt::{self, Rt, statics};
use raddle_model::objects::State;
use raddle_model::{ObjectId, SiteId};
use std::sync::atomic::{AtomicU64, Ordering};

const ID_BITS: u32 = 24;

/// A carrier's number and the number of its current run, as they stand in a stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark(pub(crate) u64);

impl Mark {
    /// Whether the run is going on.
    pub(crate) fn is_live(self) -> bool {
        self.0 != 0 && LIVE[(self.0 >> 32) as usize].load(Ordering::SeqCst) == self.0
    }

    /// The stamp of the run's first object; those of the others differ from it in their ids only.
    pub(crate) fn stamp(self) -> u64 {
        self.0 << ID_BITS
    }

    /// Whether this is a stamp of the run's.
    pub(crate) fn is_of(self, stamp: u64) -> bool {
        stamp >> ID_BITS == self.0
    }

    /// Panics if the run is going on, on another thread than this.
    pub(crate) fn assert_over(self, what: &str) {
        assert!(
            !self.is_live(),
            "raddle: a thread outside a run of raddle::check cannot {what}: what it does, and when, cannot be \
             repeated. Use raddle::thread inside the run for it"
        );
    }
}

/// For each carrier the mark of its current run, 0 if it has none.
static LIVE: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];
/// For each carrier whether it is taken, and how many runs it has had.
static RUNS: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];
const TAKEN: u64 = 1 << 63;

/// A carrier's number, given back when dropped.
#[derive(Debug)]
pub(crate) struct CarrierId(usize);

impl CarrierId {
    /// Takes a free number.
    pub(crate) fn take() -> Option<CarrierId> {
        let free = |runs: &AtomicU64| {
            let old = runs.load(Ordering::Relaxed);
            old & TAKEN == 0
                && runs.compare_exchange(old, old | TAKEN, Ordering::SeqCst, Ordering::Relaxed).is_ok()
        };
        RUNS.iter().position(free).map(CarrierId)
    }

    /// The mark of the next run.
    pub(crate) fn next_run(&self) -> Mark {
        let runs = (RUNS[self.0].load(Ordering::Relaxed) & !TAKEN) + 1;
        RUNS[self.0].store(runs | TAKEN, Ordering::Relaxed);
        let mark = (self.0 as u64) << 32 | (runs & 0xffff_ffff);
        // Whoever sees a stamp of this run sees this too: the stamp is written later, and releases.
        LIVE[self.0].store(mark, Ordering::Release);
        Mark(mark)
    }

    /// The run is over: its objects are free again.
    pub(crate) fn end_run(&self) {
        LIVE[self.0].store(0, Ordering::Release);
    }
}

impl Drop for CarrierId {
    fn drop(&mut self) {
        self.end_run();
        RUNS[self.0].fetch_and(!TAKEN, Ordering::SeqCst);
    }
}

/// Lies in every synchronization object.
#[derive(Debug)]
pub(crate) struct Slot(AtomicU64);

impl Slot {
    /// An object that no run has seen.
    pub(crate) const fn new() -> Slot {
        // No carrier has a run 0, so this belongs to nobody.
        Slot(AtomicU64::new(0))
    }

    /// The object's id in this run; `register` says what it is when the run sees it first.
    #[inline]
    pub(crate) fn id(&self, rt: Rt, site: SiteId, register: impl FnOnce() -> State) -> ObjectId {
        self.id_from(self.id_or_more(rt.stamp()), rt, site, register)
    }

    /// The same where [`Slot::id_or_more`] was asked already.
    #[inline]
    pub(crate) fn id_from(
        &self,
        id: u64,
        rt: Rt,
        site: SiteId,
        register: impl FnOnce() -> State,
    ) -> ObjectId {
        if id < 1 << ID_BITS {
            return ObjectId(id as u32);
        }
        self.first_use(rt, site, register)
    }

    /// The object's id in the run with this stamp, or a number that is no id. What is left of a stamp of the run's is the id;
    /// what is left of any other is more than an id can be.
    #[inline(always)]
    pub(crate) fn id_or_more(&self, stamp: u64) -> u64 {
        self.0.load(Ordering::Relaxed) ^ stamp
    }

    /// The same for an object that the run has used.
    #[inline]
    pub(crate) fn claimed(&self, rt: Rt) -> ObjectId {
        self.id(rt, SiteId::UNKNOWN, || {
            panic!("raddle bug: a guard of an object that the run has never seen")
        })
    }

    #[cold]
    fn first_use(&self, rt: Rt, site: SiteId, register: impl FnOnce() -> State) -> ObjectId {
        let id = rt.with(|run| u64::from(run.engine.next_object().0));
        assert!(id < 1 << ID_BITS, "raddle: more than {} objects in one run", 1 << ID_BITS);
        statics::claim(rt, &raw const *self as usize);
        // The claim comes before `register` looks at the real object.
        let mut before = self.0.load(Ordering::SeqCst);
        while let Err(other) = {
            self.look(rt, before);
            self.0.compare_exchange(before, rt.mark().stamp() | id, Ordering::SeqCst, Ordering::SeqCst)
        } {
            before = other;
        }
        let state = register();
        rt.with(|run| run.engine.register(state, site))
    }

    /// An object with a stamp has been used by another run, and outlives it. Does not come back if
    /// that run is going on.
    fn look(&self, rt: Rt, stamp: u64) {
        let other = Mark(stamp >> ID_BITS);
        if other.0 == 0 {
            return;
        }
        rt.outlived();
        // A stamp of this carrier is an old one: it has one run at a time.
        if other.0 >> 32 != rt.mark().0 >> 32 && other.is_live() {
            rt.collide();
        }
    }

    /// Panics if a run on another thread is using this object.
    #[inline]
    pub(crate) fn assert_free(&self) {
        if !self.is_free() {
            in_use();
        }
    }

    /// Whether no run that is going on has used this object.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        !Mark(self.0.load(Ordering::SeqCst) >> ID_BITS).is_live()
    }
}

#[cold]
fn in_use() -> ! {
    // Inside a run this cannot happen: a run asks for the id instead.
    debug_assert!(rt::current().is_none());
    panic!(
        "raddle: this object is in use by a run of raddle::check on another thread. Objects can be shared \
         between runs and the code around them, but not while a run is going on."
    );
}
