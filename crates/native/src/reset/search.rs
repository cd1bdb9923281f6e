//! The one who undoes, for the runs of a search: each has a plan of its own, which comes from the controller, and goes
//! on from the checkpoint that the controller names. Where checkpoints are worth it is found out on the way.

use super::outside::Outside;
use super::{End, check_layers, go_in, outside};
use crate::fiber::{self, Fiber};
use crate::server::{self, Order, nanoseconds};
use core::mem;
use core::sync::atomic::Ordering;
use raddle_model::Plan;

/// The plan of the run that begins here or goes on, also in a copy that does this one only.
pub(crate) fn plan() -> Plan {
    // SAFETY: mapped once and never given back.
    let outside = unsafe { super::OUTSIDE.load(Ordering::Relaxed).as_ref() };
    server::decode(outside.expect("raddle bug: nothing lies outside").mail.message())
}

/// The run has had so many scheduling points, and stands where a checkpoint is wanted. Comes back at once, and again
/// for each run that goes on from here: then with its plan.
pub(crate) fn keep_checkpoint(points: u32) -> Option<Plan> {
    let outside = outside()?;
    outside.end = End::Due(points);
    // Whoever runs has its own thread pointer.
    outside.here = Fiber::main();
    // SAFETY: the other side waits in `enter`; it goes on with who is here, now or later.
    unsafe { fiber::switch(&raw mut outside.here, &raw const outside.control) };
    self::outside()?.again.then(plan)
}

/// The other side.
pub(super) extern "C" fn control() -> ! {
    let outside = outside().expect("raddle bug: nothing lies outside");
    if let Err(why) = outside.pages.take(outside.range()) {
        outside.errand.unfit(why);
    }
    outside.undo.look();
    if outside.errand.takes_all() {
        outside.when.always();
    }
    let mut order = outside.errand.first_order();
    loop {
        outside.number = order.number;
        follow(outside, &order);
        order = outside.errand.next_order(|length| outside.mail.room(length));
    }
}

/// Does what is asked for.
fn follow(outside: &mut Outside, order: &Order) {
    let count = match order.since {
        None => Some(0),
        Some(points) => outside.layers.find(points),
    };
    let Some(count) = count else { return outside.errand.lost(order.number, server::NO_CHECKPOINT) };
    outside.layers.back_to(count, &mut outside.undo, &mut outside.pages);
    check_layers(outside);
    if order.alone {
        if outside.errand.searched_alone(order.number) {
            outside.be_alone();
            go_in(outside);
        }
        return;
    }
    let points = outside.layers.last().map_or(0, |layer| layer.points);
    outside.errand.begin(count == 0, outside.when.next(points), outside.layers.is_empty());
    run(outside);
    outside.undo.close();
    if outside.undo.spoiled {
        outside.when.failed();
        outside.layers.back_to(0, &mut outside.undo, &mut outside.pages);
    }
    match outside.end {
        End::Refused(call) => outside.errand.lost(order.number, call),
        _ => outside.errand.tell(order.number, outside.layers.iter().map(|layer| layer.points)),
    }
}

/// From the uppermost checkpoint, or from the beginning, to the end.
fn run(outside: &mut Outside) {
    let (begun, from) = (nanoseconds(), outside.layers.last().map_or(0, |layer| layer.points));
    outside.again = !outside.layers.is_empty();
    outside.listens = false;
    let mut taking = 0;
    match outside.layers.last() {
        None => go_in(outside),
        Some(layer) => {
            outside.listens = layer.listens;
            outside.here = layer.fiber.again();
            go_on(outside);
        }
    }
    let mut since = begun;
    while let End::Due(points) = outside.end {
        let now = nanoseconds();
        if outside.when.pays(now - since) {
            take(outside, points);
            since = nanoseconds();
            outside.when.took(since - now);
            taking += since - now;
        }
        outside.errand.due(outside.when.next(points), false);
        outside.again = false;
        go_on(outside);
    }
    let ran = nanoseconds() - begun - taking;
    outside.when.ran(outside.errand.points(), from, ran);
}

fn take(outside: &mut Outside, points: u32) {
    let Outside { layers, undo, pages, here, listens, .. } = outside;
    if !layers.push(points, here.again(), *listens, undo, pages) {
        outside.when.failed();
    }
}

/// Goes on with a run where it has come to a checkpoint.
fn go_on(outside: &mut Outside) {
    let here = mem::replace(&mut outside.here, Fiber::main());
    // SAFETY: memory is as it was when that was left.
    unsafe { fiber::switch(&raw mut outside.control, &raw const here) };
}
