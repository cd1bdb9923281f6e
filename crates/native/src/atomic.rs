//! Atomic accesses: each is a scheduling point, and then happens in the program's own memory. An access is told in two
//! halves, [`begin`] and [`done`]: the switch between them is the caller's, which is called by the program itself.

use crate::access::check_memory;
use crate::run::{Way, arrive, with, with_active};
use crate::sent;
use crate::shadow::How;
use raddle_model::objects::State;
use raddle_model::{Kind, ObjectId, Op, Order, Plain, SiteId, Touch};

/// An atomic access that a task has come to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    object: ObjectId,
    site: SiteId,
    address: usize,
    size: usize,
}

impl Atomic {
    /// None yet.
    pub(crate) const NONE: Atomic =
        Atomic { object: ObjectId::NONE, site: SiteId::UNKNOWN, address: 0, size: 0 };
}

/// An atomic access is about to happen: when the way has been gone. One that may fail begins by [`begin_exchange`].
#[inline(never)]
pub fn begin(kind: Kind, address: usize, size: usize, order: Order, pc: usize) -> Way {
    let touch = if kind == Kind::Load { Touch::Read } else { Touch::Write };
    let (plain, tossed) = with_active(|run| {
        let site = run.site(pc);
        let object = run.word(address, site, State::Atomic);
        let me = run.running.index();
        run.threads[me].atomic = Atomic { object, site, address, size };
        let plain = Plain { kind, touch, order, object, site };
        (plain, run.toss(plain).map(|next| run.hand_over(next)))
    });
    match tossed {
        Some(Some(way)) => way,
        Some(None) => crate::end::over(),
        None => {
            let Plain { kind, order, object, site, .. } = plain;
            arrive(Op::new(kind, object, site).order(order));
            // A signal handler may have come to other ones meanwhile.
            with(|run| run.threads[run.running.index()].atomic = Atomic { object, site, address, size });
            Way::NOWHERE
        }
    }
}

/// The same for one that may fail.
pub fn begin_exchange(address: usize, size: usize, order: Order, pc: usize) -> Way {
    with(|run| {
        let me = run.running;
        run.engine.analysis_mut().fallible.insert(me);
    });
    begin(Kind::Rmw, address, size, order, pc)
}

/// The access has happened. If the value is what it was, who waits for a change need not look again.
#[inline(never)]
pub fn done(write: bool, changed: bool) {
    let Atomic { object, site, address, size } = with_active(|run| run.threads[run.running.index()].atomic);
    check_memory(address, size, write, site);
    with_active(|run| {
        if run.several {
            run.note(address, size, How { write, atomic: true }, site, false);
        }
        if write && !changed {
            run.engine.unchanged(object);
        }
    });
    if with_active(|run| !run.sent.is_empty()) {
        sent::handle();
    }
}

/// It was a compare-exchange, and has failed: a load with this order.
pub fn failed(order: Order) {
    let object = with(|run| {
        run.engine.analysis_mut().failed_exchange(order);
        run.threads[run.running.index()].atomic.object
    });
    done(false, false);
    with(|run| run.engine.unchanged(object));
}
