//! Runs of a search: each has a plan of its own, which follows from what came of the run before. So a process that
//! repeats runs hears from the controller itself while it is fit; the server watches it meanwhile, and speaks for it
//! when it is gone.

use super::left;
use super::outbox::{Outbox, nanoseconds};
use super::resets::{self, Errand};
use super::shared;
use super::{
    ALONE, CAPTURED, CHECKPOINTS_ALWAYS, CHECKPOINTS_OFF, FROM_MAIN, Head, REQUEST, RESET, Request, THREADS,
    copies, reply, request,
};
use crate::reset;
use crate::signals;
use crate::site::Modules;
use crate::sys;
use core::sync::atomic::Ordering;
use raddle_model::Plan;
use raddle_wire::plan;

/// Why a run of a search is not done: there is no such checkpoint.
pub const NO_CHECKPOINT: u32 = u32::MAX - 2;
/// Why a run of a search is not done: the process that it was in is no more.
pub const GONE: u32 = u32::MAX;

/// The plan of such bytes.
pub(crate) fn decode(bytes: &[u8]) -> Plan {
    plan::decode(bytes).unwrap_or_else(|error| {
        let mut outbox = Outbox::new(super::socket()).expect("raddle bug: no shared memory");
        outbox.despair(alloc::format!("{error}").as_bytes())
    })
}

/// Does a run of a search, and those that come after it as far as one process can. None in the server; else what this
/// process is to do.
pub(super) fn some(request: Request, modules: &Modules, outbox: &mut Outbox) -> Option<Request> {
    if request.flags & RESET != 0 && request.flags & (ALONE | THREADS) == 0 && resets::is_able() {
        return repeated(request, modules, outbox);
    }
    one(request, modules, outbox)
}

/// One run in a process of its own, from the beginning or from one that was left behind.
fn one(request: Request, modules: &Modules, outbox: &mut Outbox) -> Option<Request> {
    let shared = shared::get().expect("raddle bug: no shared memory");
    let takes = left::may_take(&request, shared);
    let (begun, from) = (nanoseconds(), (request.last as u32).saturating_sub(1));
    let due = |first: bool| {
        shared.set_due(shared.when().next(from).filter(|_| takes), first && takes);
        shared.since.store(begun, Ordering::Relaxed);
        shared.begin_run();
    };
    let child = if request.last != 0 {
        due(false);
        signals::wake_every(copies::SLICE_MS);
        let child = if takes { left::go_on(shared, from, &request.encoded) } else { None };
        let Some(child) = child else {
            copies::finish();
            outbox.say(reply::LOST, &[], NO_CHECKPOINT as i32, request.first, true);
            return None;
        };
        child
    } else {
        left::drop_from(shared, 0);
        copies::prepare(&request, modules.clone());
        copies::rewind(request.flags & CAPTURED != 0);
        due(true);
        let Some(child) = copies::watched_copy(outbox) else {
            if takes {
                left::begin(shared);
            }
            if request.flags & FROM_MAIN == 0 {
                copies::start(&request, request.first);
            }
            return Some(request);
        };
        child
    };
    let (status, hangs) = copies::finished(child, request.hang_ms, shared);
    copies::finish();
    left::tidy(shared);
    shared.when().ran(shared.points.load(Ordering::Relaxed), from, nanoseconds() - begun);
    put_checkpoints(left::all(shared), |bytes| {
        outbox.put(begun, reply::CHECKPOINTS, bytes, 0, request.first)
    });
    let status = copies::checked(request.flags, status, shared);
    copies::tell(request.first, status, hangs, shared, outbox);
    outbox.send();
    None
}

/// Which checkpoints there are, as it is told.
fn put_checkpoints(all: impl Iterator<Item = u32>, put: impl FnOnce(&[u8])) {
    const MOST: usize = 64;
    let (mut bytes, mut length) = ([0u8; 4 * MOST], 0);
    for points in all.take(MOST) {
        bytes[length..length + 4].copy_from_slice(&points.to_le_bytes());
        length += 4;
    }
    put(&bytes[..length]);
}

/// Runs in one process that puts back what they have changed.
fn repeated(request: Request, modules: &Modules, outbox: &mut Outbox) -> Option<Request> {
    let shared = shared::get().expect("raddle bug: no shared memory");
    if request.last != 0 {
        outbox.say(reply::LOST, &[], NO_CHECKPOINT as i32, request.first, true);
        return None;
    }
    outbox.send();
    shared.begin_process(request.first, 0);
    signals::wake_every(copies::SLICE_MS);
    let Some(child) = copies::copy(outbox) else {
        return Some(go(request, modules));
    };
    let (status, hangs) = copies::finished(child, request.hang_ms, shared);
    copies::finish();
    if shared.done.load(Ordering::Relaxed) != 0 {
        return None;
    }
    if resets::note_unable(status) {
        return one(request, modules, outbox);
    }
    if shared.is_talking() {
        outbox.break_off();
    }
    let number = shared.run.load(Ordering::Acquire);
    if hangs && shared.alone.load(Ordering::Relaxed) == 0 {
        shared.begin_run();
        copies::tell(number, status, true, shared, outbox);
    } else {
        outbox.say(reply::LOST, &[], GONE as i32, number, true);
    }
    outbox.send();
    None
}

/// In the process that repeats runs: returns once for each.
fn go(request: Request, modules: &Modules) -> Request {
    let number = reset::enter_search(Errand::new(&request), &request.encoded);
    let request = Request { plan: reset::plan(), first: number, ..request };
    copies::make_ready(&request, modules.clone());
    if request.flags & FROM_MAIN == 0 {
        copies::start(&request, number);
    }
    request
}

/// What the controller asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) number: u64,
    /// The checkpoint to go on from: how many scheduling points led to it.
    pub(crate) since: Option<u32>,
    /// In a process of its own, from the beginning.
    pub(crate) alone: bool,
}

impl Errand {
    /// What the process was made for.
    pub(crate) fn first_order(&self) -> Order {
        Order { number: self.shared().run.load(Ordering::Relaxed), since: None, alone: false }
    }

    /// Waits for what is asked for next; its plan goes to where there is room. Ends the process if it is for others.
    pub(crate) fn next_order<'a>(&mut self, room: impl FnOnce(usize) -> Option<&'a mut [u8]>) -> Order {
        const RECEIVE: usize = 45;
        const LOOK: usize = 2;
        const ALL: usize = 0x100;
        let (shared, socket) = (self.shared(), super::socket());
        let mut head = [0u8; REQUEST];
        shared.talk();
        // SAFETY: the kernel writes into a buffer that is alive.
        let peeked = unsafe {
            sys::call(RECEIVE, [socket as usize, head.as_mut_ptr() as usize, REQUEST, LOOK | ALL, 0, 0])
        };
        let Head { kind, plan, first: number, last: since, hang_ms, flags, .. } = Head::of(&head);
        let fits = peeked == REQUEST as isize
            && kind == request::SEARCH
            && hang_ms == self.hang_ms
            && flags & !ALONE == self.flags & !ALONE;
        let Some(room) = room(plan).filter(|_| fits) else { self.done() };
        let alone = flags & ALONE != 0;
        if !sys::read_all(socket, &mut head) || !sys::read_all(socket, room) {
            self.done();
        }
        shared.run.store(number, Ordering::Release);
        Order { number, since: since.checked_sub(1).map(|points| points as u32), alone }
    }

    /// A run begins, from the beginning or from a checkpoint.
    pub(crate) fn begin(&mut self, whole: bool, due: Option<u32>, first: bool) {
        if whole {
            self.soiled(resets::ALL_FILES);
            self.prepare();
        }
        self.shared().begin_run();
        self.due(due, first);
    }

    /// When the next checkpoint is to be taken, and whether before the first choice.
    pub(crate) fn due(&self, due: Option<u32>, first: bool) {
        let takes = self.flags & CHECKPOINTS_OFF == 0 && self.flags & CAPTURED != 0;
        self.shared().set_due(due.filter(|_| takes), first && takes);
    }

    /// Whether all checkpoints are taken, whatever they cost.
    pub(crate) fn takes_all(&self) -> bool {
        self.flags & CHECKPOINTS_ALWAYS != 0
    }

    /// Scheduling points of the run that has ended.
    pub(crate) fn points(&self) -> u32 {
        self.shared().points.load(Ordering::Relaxed)
    }

    /// Tells which checkpoints there are, and what came of the run.
    pub(crate) fn tell(&mut self, number: u64, checkpoints: impl Iterator<Item = u32>) {
        put_checkpoints(checkpoints, |bytes| self.put(reply::CHECKPOINTS, bytes, number));
        self.report(number, false);
        self.send();
    }

    /// The run must be done otherwise.
    pub(crate) fn lost(&mut self, number: u64, why: u32) {
        self.say(reply::LOST, why as i32, number);
    }

    /// Does a run in a process of its own. True in that.
    pub(crate) fn searched_alone(&mut self, number: u64) -> bool {
        self.shared().set_due(None, false);
        let copy = self.apart(number);
        if !copy {
            self.put(reply::CHECKPOINTS, &[], number);
            self.send();
        }
        copy
    }
}

/// A run has come to where a checkpoint is due. Comes back at once, and again for each run that goes on from here:
/// then with its plan.
pub(crate) fn keep_checkpoint(points: u32) -> Option<Plan> {
    if reset::is_on() { reset::keep_checkpoint(points) } else { left::keep(points) }
}

/// A run of a search has ended, and had so many scheduling points.
pub(crate) fn had_points(points: usize) {
    if let Some(shared) = shared::get() {
        shared.points.store(points as u32, Ordering::Relaxed);
    }
}
