//! Atomic accesses: each is a scheduling point, and then happens in the program's own memory. An access is told in two
//! halves, [`Atomic::begin`] and [`Atomic::done`]: the switch between them is the caller's, which is called by the
//! program itself.

use crate::access::check_memory;
use crate::hidden;
use crate::run::{self, Run, arrive, with, with_active};
use crate::shadow::{Access, How};
use crate::way::Way;
use raddle_model::trace::Hidden;
use raddle_model::{Kind, Op, Order, Plain, Touch};

/// An atomic access.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// Its first byte.
    pub address: usize,
    /// How many there are.
    pub size: usize,
    /// Where the program called us from.
    pub pc: usize,
}

impl Atomic {
    /// It is about to happen: when the way has been gone. One that may fail begins by [`Atomic::begin_exchange`].
    #[inline(always)]
    pub fn begin(self, kind: Kind, order: Order) -> Way {
        begin(kind, self.address, self.size, order, self.pc)
    }

    /// The same for one that may fail.
    pub fn begin_exchange(self, order: Order) -> Way {
        with(|run| {
            let me = run.running;
            run.engine.analysis_mut().fallible.insert(me);
        });
        self.begin(Kind::Rmw, order)
    }

    /// It has happened. If the value is what it was, who waits for a change need not look again.
    #[inline(always)]
    pub fn done(self, write: bool, changed: bool) {
        let in_vain = write && !changed;
        // SAFETY: it is not kept, and `renews` neither switches nor calls anybody.
        let at_once = !in_vain && unsafe { run::current() }.renews(self, write);
        if !at_once {
            done(self.address, self.size, self.pc, write, in_vain);
        }
    }

    /// It was a compare-exchange, and has failed: a load with this order.
    pub fn failed(self, order: Order) {
        with(|run| run.engine.analysis_mut().failed_exchange(order));
        done(self.address, self.size, self.pc, false, true);
    }
}

// What is known to the compiler where these are called travels in registers.

#[inline(never)]
fn begin(kind: Kind, address: usize, size: usize, order: Order, pc: usize) -> Way {
    let touch = if kind == Kind::Load { Touch::Read } else { Touch::Write };
    let (plain, other, tossed) = with_active(|run| {
        let site = run.site(pc);
        let (object, other) = run.atomic(address, size, site);
        let plain = Plain { kind, touch, order, object, site };
        let tossed = if other.is_some() { None } else { run.toss(plain) };
        (plain, other, tossed.map(|next| run.hand_over(next)))
    });
    match tossed {
        Some(Some(way)) => way,
        Some(None) => crate::idle::next(),
        None => {
            let Plain { kind, order, object, site, .. } = plain;
            let op = Op::new(kind, object, site).order(order).second(other);
            arrive_at(op, address, size);
            Way::NOWHERE
        }
    }
}

/// Comes to an atomic that may overlap with another. An operation has two extents: if there are more others than one, the rest has no order.
pub(crate) fn arrive_at(op: Op, address: usize, size: usize) {
    if op.second.is_some() && with(|run| run.objects.others(address, size).len() > 1) {
        hidden::hides(Hidden::PARTS);
    }
    arrive(op);
}

impl Run {
    /// An atomic access has happened, and nearly always there is nothing more to it than that it takes the place of the
    /// last one. False, and nothing has happened, if there is.
    #[inline(always)]
    fn renews(&mut self, atomic: Atomic, write: bool) -> bool {
        let Atomic { address, size, pc } = atomic;
        let site = self.site(pc);
        let how = How { write, atomic: true };
        let access = Access { address, size, how, task: self.running, site, point: false };
        self.annotations.conceal_nothing() && self.engine.analysis_mut().renews(&access)
    }
}

#[inline(never)]
fn done(address: usize, size: usize, pc: usize, write: bool, in_vain: bool) {
    let site = with_active(|run| run.site(pc));
    check_memory(address, size, write, site);
    with_active(|run| {
        if run.several {
            run.note(address, size, How { write, atomic: true }, site, false);
        }
        if in_vain {
            let (object, _) = run.atomic(address, size, site);
            run.engine.unchanged(object);
        }
    });
}
