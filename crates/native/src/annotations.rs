//! What a program tells ThreadSanitizer of itself: orders that come about where nobody sees them, locks of its own, accesses that
//! are not to be looked at. It concerns races and nothing else: no thread waits for anybody here.
//!
//! An order has two ends. Both are operations on a clock, as an atomic is one, which is known by an address and is not the memory
//! that lies there: searches know that it matters which end comes first, and sync order is what it is for atomics.

use crate::objects::ByAddress;
use crate::run::{Run, active, arrive, with};
use alloc::vec::Vec;
use raddle_model::objects::State;
use raddle_model::{Kind, ObjectId, Op, Order, TaskId};

/// The clocks of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// Of whoever says that something has happened, or had a lock to itself.
    Own,
    /// Of those who had a lock together. They have no order among each other.
    Shared,
}

/// Which accesses are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accesses {
    /// Those that read.
    Reads,
    /// Those that write.
    Writes,
}

/// Everything that the program has said and that still holds.
#[derive(Debug, Default)]
pub struct Annotations {
    clocks: [ByAddress<ObjectId>; 2],
    // How many times each task has asked not to be looked at, for reads and for writes.
    ignoring: Vec<[u32; 2]>,
    // Where races are meant to be.
    benign: Vec<(usize, usize)>,
    // Coroutines: the one that a task is in, once it has changed to one, and how many were made.
    inside: Vec<(TaskId, usize)>,
    made: usize,
}

impl Annotations {
    /// Whether all accesses of all tasks count.
    #[inline]
    pub(crate) fn conceal_nothing(&self) -> bool {
        self.ignoring.is_empty() && self.benign.is_empty()
    }

    /// Whether this access of a task does not count.
    pub(crate) fn conceals(&self, task: TaskId, address: usize, size: usize, write: bool) -> bool {
        self.ignoring.get(task.index()).is_some_and(|depth| depth[usize::from(write)] > 0)
            || self.benign.iter().any(|&(start, end)| start < address + size && address < end)
    }

    /// Memory is given out anew: whatever was said of it was said of something else.
    pub(crate) fn forget(&mut self, start: usize, size: usize) {
        let end = start + size;
        for clocks in self.clocks.iter_mut().filter(|clocks| !clocks.is_empty()) {
            clocks.retain(|&at, _| at < start || at >= end);
        }
        self.benign.retain(|&(from, to)| to <= start || from >= end);
    }

    /// The program begins anew, with what it has said before main.
    pub(crate) fn begin_again(&mut self) {
        *self = Annotations { benign: core::mem::take(&mut self.benign), ..Annotations::default() };
    }
}

impl Run {
    fn clock(&mut self, address: usize, clock: Clock, pc: usize) -> (ObjectId, raddle_model::SiteId) {
        let (site, home) = (self.site(pc), self.objects.mappings.home(address));
        let world = self.engine.world_mut();
        let make = || world.create(State::Atomic, site);
        (*self.annotations.clocks[clock as usize].entry(home).or_insert_with(make), site)
    }
}

/// What the running task has done so far comes before what others do once they have been told.
pub fn tell(address: usize, clock: Clock, pc: usize) {
    if active() {
        let (object, site) = with(|run| run.clock(address, clock, pc));
        // What others have told before stays told.
        arrive(Op::new(Kind::Rmw, object, site).order(Order::Release));
    }
}

/// The running task hears what has been told.
pub fn hear(address: usize, clock: Clock, pc: usize) {
    if active() {
        let (object, site) = with(|run| run.clock(address, clock, pc));
        arrive(Op::new(Kind::Load, object, site).order(Order::Acquire));
    }
}

/// The running task has taken a lock of the program's own.
pub fn taken(address: usize, shared: bool, pc: usize) {
    hear(address, Clock::Own, pc);
    if !shared {
        hear(address, Clock::Shared, pc);
    }
}

/// The running task is about to give it back.
pub fn given(address: usize, shared: bool, pc: usize) {
    tell(address, if shared { Clock::Shared } else { Clock::Own }, pc);
}

/// Accesses of the running task no longer count, or count again. It may say so several times.
pub fn ignore(accesses: Accesses, begin: bool) {
    if !active() {
        return;
    }
    with(|run| {
        let (task, ignoring) = (run.running.index(), &mut run.annotations.ignoring);
        if ignoring.len() <= task {
            ignoring.resize(task + 1, [0; 2]);
        }
        let depth = &mut ignoring[task][accesses as usize];
        *depth = if begin { *depth + 1 } else { depth.saturating_sub(1) };
        if ignoring.iter().all(|depth| *depth == [0; 2]) {
            ignoring.clear();
        }
        run.look_around();
    });
}

/// Both kinds of them.
pub fn ignore_all(begin: bool) {
    ignore(Accesses::Reads, begin);
    ignore(Accesses::Writes, begin);
}

/// Races for these bytes are meant to be.
pub fn allow_races(address: usize, size: usize) {
    if active() {
        with(|run| {
            let home = run.objects.mappings.home(address);
            run.annotations.benign.push((home, home + size));
            run.look_around();
        });
    }
}

/// A new coroutine. Nobody looks at what the number means.
pub fn coroutine() -> usize {
    if !active() {
        return 1;
    }
    with(|run| {
        run.annotations.made += 1;
        run.annotations.made * 2
    })
}

/// The coroutine that the running task is in; its thread is one, too.
pub fn current_coroutine() -> usize {
    if !active() {
        return 1;
    }
    with(|run| {
        let inside = run.annotations.inside.iter().find(|(task, _)| *task == run.running);
        inside.map_or(run.running.index() * 2 + 1, |&(_, coroutine)| coroutine)
    })
}

/// The running task goes on in another coroutine, which may have been in another task before: what was done in it comes first.
pub fn change_coroutine(to: usize, ordered: bool, pc: usize) {
    if !active() {
        return;
    }
    if ordered {
        tell(current_coroutine(), Clock::Own, pc);
        hear(to, Clock::Own, pc);
    }
    with(|run| {
        let (me, inside) = (run.running, &mut run.annotations.inside);
        inside.retain(|(task, _)| *task != me);
        inside.push((me, to));
    });
}
