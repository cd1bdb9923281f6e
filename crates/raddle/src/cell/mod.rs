//! Cells, as [`std::cell`].
//!
//! `Cell`, `RefCell`, `OnceCell` and `LazyCell` are std's own: they are not `Sync`, so no two tasks
//! reach one at the same time and nothing about them depends on the schedule.
//!
//! Two cells are Raddle's, because what several tasks do to them without synchronization is a data
//! race:
//!
//! | type | what is seen | what is not |
//! |---|---|---|
//! | [`UnsafeCell`] | [`with`](UnsafeCell::with) is a read, [`with_mut`](UnsafeCell::with_mut) a write, both at the moment in which they begin | what is done through the pointers of [`get`](UnsafeCell::get) and [`raw_get`](UnsafeCell::raw_get), or through a pointer kept longer than the closure |
//! | [`RaceCell`] | every access but those through `&mut` | nothing |
//!
//! A plain access is an event of the run, but no point at which others can go on, until a run has
//! shown that it races: from then on the runs that follow switch there too. So that a loop which only
//! looks at a cell cannot keep others from running, every 256th event of a task offers the processor
//! if it is a plain access.

mod race;
mod unsafe_cell;

pub use race::RaceCell;
pub use std::cell::{BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut};
pub use unsafe_cell::UnsafeCell;

use crate::rt::Rt;
use crate::rt::slot::Slot;
use crate::rt::statics;
use raddle_model::objects::State;
use raddle_model::{Kind, ObjectId, Op, SiteId};

/// Events of a task between two at which a plain access offers the processor.
const PATIENCE: u32 = 256;

/// A plain access to `whole`. `look` is called once in each run before anything else.
#[inline]
fn access<T: ?Sized>(
    whole: &T,
    slot: &Slot,
    rt: Rt,
    kind: Kind,
    site: SiteId,
    look: impl FnOnce(),
) -> ObjectId {
    let object = slot.id(rt, site, || {
        look();
        statics::first_use(whole);
        State::Cell
    });
    // By the task's own events: the same in all linearizations of a partial order.
    let offer = rt.with(|run| {
        let me = run.running;
        let events = run.engine().world().task(me).events;
        events % PATIENCE == PATIENCE - 1 && !run.ending
    });
    if offer {
        rt.arrive(Op::new(Kind::Yield, ObjectId::NONE, site));
    }
    rt.arrive(Op::new(kind, object, site));
    object
}
