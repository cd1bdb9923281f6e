//! Sync order: C11's happens-before by vector clocks. It is not the partial order of the
//! fingerprint, and neither is derived from the other: two conflicting accesses are always ordered
//! there, and ordered here only if synchronization or memory orders say so.
//!
//! Follows Djit+ (Pozniansky and Schuster 2003) with FastTrack's epochs (Flanagan and Freund
//! 2009): a task's time advances when it releases. Two things are added. A released clock that is
//! the copy of one task's clock remembers its epoch, so that acquiring what is known already costs
//! one comparison; and fences keep clocks of their own, as in Lidbury and Donaldson 2017.
//!
//! Values are sequentially consistent, so every load reads the latest store. The edges are:
//!
//! | from | to |
//! |---|---|
//! | spawn | everything the child does |
//! | exit | join, and `is_finished` that says yes (std promises only the first) |
//! | unlock, or the first half of a condvar wait | every later lock of this mutex, the second half of a wait included |
//! | write unlock, downgrade | every later read or write lock |
//! | read unlock | every later write lock; readers do not order each other |
//! | semaphore release | every later acquire |
//! | arrival at a barrier | leaving it in the same round; the last arrival, which opens it, is as good as a leave |
//! | a once is left, complete or not | whoever enters it later, or sees it complete |
//! | send | the receive of the same message |
//! | receive at a rendezvous | the sender's return |
//! | the last drop of one side | what the other side gets as "closed" (not promised, but so in every implementation) |
//! | unpark | every later park that takes the token |
//! | release store | an acquire load that reads it or a read-modify-write of its release sequence |
//! | release fence | as if the task's later relaxed stores had released then |
//! | relaxed loads | as if they had acquired at the task's next acquire fence |
//!
//! No edge: a notification by itself, a try or timed operation that failed, a receive to a later
//! send into the freed place of a bounded channel (std promises none), the total order of SeqCst
//! beyond acquire and release. A release sequence is that of C++20, C23 and Rust: a plain store
//! ends it, even one by the same task.

mod atomics;
mod bank;
mod locks;
mod passing;
mod short;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use bank::{Bank, Row};
use raddle_model::objects::State;
use raddle_model::{Analysis, Event, Kind, ObjectId, Op, Outcome, PlainEvent, SiteId, TaskId, World};

pub use bank::Epoch;

/// So many tasks are few.
pub const FEW: usize = bank::LANES;

/// What somebody released, to be acquired by others.
#[derive(Clone, Copy, Debug)]
struct Released {
    row: Row,
    // invariant: the row is exactly the clock of `by.task` at `by`, if `by` is an epoch.
    by: Epoch,
}

/// Nothing was released.
const NOTHING: Released = Released { row: Row::NONE, by: Epoch::NEVER };

/// Not the clock of one task but a join of several.
const SEVERAL: Epoch = Epoch { task: TaskId(u32::MAX), time: 1 };

/// A task's clock, and what its fences and two-part operations keep.
#[derive(Clone, Copy, Debug)]
struct Clock {
    row: Row,
    /// The task's own column of the row, which is asked for most.
    time: i32,
    /// What a relaxed store releases: the clock at the last release fence.
    fence: Released,
    /// What an acquire fence acquires: what the relaxed loads have read.
    read: Released,
    /// What the second half of a barrier wait or of a rendezvous acquires.
    gate: Released,
    last: Release,
}

/// What an object carries.
#[derive(Clone, Copy, Debug)]
struct Carried {
    /// By writers, arrivals, senders that went: whatever the object's main edge is.
    first: Released,
    /// By readers of a rwlock; by the receiver that went.
    other: Released,
    /// Place in `queues`, for channels.
    queue: u32,
}

const UNUSED: Carried = Carried { first: NOTHING, other: NOTHING, queue: u32::MAX };

/// The last release of a task: where it could have been acquired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// What it was; [`Kind::Exit`] stands for none yet.
    pub kind: Kind,
    /// Of what.
    pub object: ObjectId,
    /// Where.
    pub site: SiteId,
}

/// Which edges count.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Edges {
    /// All of sync order.
    #[default]
    All,
    /// Only those that another schedule cannot turn round: spawn, join, barrier, channel, park.
    /// Who has a lock, a permit or a once first, and which store a load reads, is chance.
    Certain,
}

/// The sync order of the run so far.
#[derive(Default, Debug)]
pub struct Clocks {
    edges: Edges,
    bank: Bank,
    tasks: Vec<Clock>,
    objects: Vec<Carried>,
    queues: Vec<VecDeque<(Released, TaskId)>>,
    queues_used: usize,
}

impl Clocks {
    /// Clocks over these edges.
    pub fn new(edges: Edges) -> Clocks {
        Clocks { edges, ..Clocks::default() }
    }

    /// Makes room for so many tasks and objects.
    pub fn reserve(&mut self, tasks: usize, objects: usize) {
        self.tasks.reserve(tasks);
        self.objects.reserve(objects);
        self.bank.reserve(tasks + objects);
    }

    /// The epoch of what the task does now. Ask before its event: a release ends the epoch.
    #[inline]
    pub fn now(&self, task: TaskId) -> Epoch {
        Epoch { task, time: self.tasks[task.index()].time }
    }

    /// Whether what happened at `epoch` is ordered before what `task` does now. Ask after its
    /// event: an acquire orders the event itself too.
    #[inline(always)]
    pub fn before(&self, epoch: Epoch, task: TaskId) -> bool {
        epoch.time <= self.bank.get(self.tasks[task.index()].row, epoch.task)
    }

    /// Up to which time `task` has heard of each task, as in [`Clocks::before`].
    #[inline(always)]
    pub fn heard(&self, task: TaskId) -> &[i32] {
        self.bank.row(self.tasks[task.index()].row)
    }

    /// The same and the task's time, where there are few tasks: then a row is as long as is known beforehand.
    #[inline(always)]
    pub fn heard_by_few(&self, task: TaskId) -> Option<(&[i32; FEW], i32)> {
        let clock = self.tasks.get(task.index())?;
        Some((self.bank.narrow_row(clock.row)?, clock.time))
    }

    /// The task's last release since `epoch`, which is one of its own.
    pub fn released_since(&self, epoch: Epoch) -> Option<Release> {
        (self.now(epoch.task).time > epoch.time).then(|| self.tasks[epoch.task.index()].last)
    }

    fn add_task(&mut self) -> Row {
        let task = TaskId(self.tasks.len() as u32);
        self.bank.add_task();
        let row = self.bank.take();
        self.tasks.push(Clock {
            row,
            time: 1,
            fence: NOTHING,
            read: NOTHING,
            gate: NOTHING,
            last: Release { kind: Kind::Exit, object: ObjectId::NONE, site: SiteId::UNKNOWN },
        });
        self.bank.set(row, task, 1);
        row
    }

    #[inline]
    fn knows(&self, task: TaskId, released: Released) -> bool {
        released.by.time == 0 || (released.by != SEVERAL && self.before(released.by, task))
    }

    #[inline]
    fn acquire(&mut self, task: TaskId, released: Released) {
        // A short join costs less than a comparison that comes out either way.
        if released.by.time != 0 && (self.bank.is_narrow() || !self.knows(task, released)) {
            self.bank.join(self.tasks[task.index()].row, released.row);
        }
    }

    /// The task's clock in place of what was there.
    #[inline]
    fn replaced(&mut self, task: TaskId, old: Released) -> Released {
        let row = if old.row == Row::NONE { self.bank.take() } else { old.row };
        self.bank.copy(row, self.tasks[task.index()].row);
        Released { row, by: self.now(task) }
    }

    /// The task's clock joined with what was there.
    #[inline]
    fn added(&mut self, task: TaskId, old: Released) -> Released {
        if self.knows(task, old) {
            return self.replaced(task, old);
        }
        self.bank.join(old.row, self.tasks[task.index()].row);
        Released { by: SEVERAL, ..old }
    }

    /// One more released clock joined with another.
    fn merged(&mut self, old: Released, more: Released) -> Released {
        if more.by.time == 0 {
            return old;
        }
        let empty = old.by.time == 0;
        let row = if old.row == Row::NONE { self.bank.take() } else { old.row };
        if empty {
            self.bank.copy(row, more.row);
        } else {
            self.bank.join(row, more.row);
        }
        Released { row, by: if empty { more.by } else { SEVERAL } }
    }

    /// The task has released: what it does from now on is later.
    #[inline]
    fn tick(&mut self, event: &Event) {
        let clock = &mut self.tasks[event.task.index()];
        clock.last = Release { kind: event.op.kind, object: event.op.object, site: event.op.site };
        clock.time += 1;
        self.bank.set(clock.row, event.task, clock.time);
    }

    #[inline]
    fn carried(&mut self, object: ObjectId) -> &mut Carried {
        let index = object.index();
        if index >= self.objects.len() {
            self.objects.resize(index + 1, UNUSED);
        }
        &mut self.objects[index]
    }

    #[inline]
    fn acquire_first(&mut self, task: TaskId, object: ObjectId) {
        let released = self.carried(object).first;
        self.acquire(task, released);
    }

    #[inline]
    fn release_first(&mut self, event: &Event, object: ObjectId) {
        let old = self.carried(object).first;
        self.objects[object.index()].first = self.replaced(event.task, old);
        self.tick(event);
    }

    #[inline]
    fn add_first(&mut self, event: &Event, object: ObjectId) {
        let old = self.carried(object).first;
        self.objects[object.index()].first = self.added(event.task, old);
        self.tick(event);
    }

    fn spawned(&mut self, event: &Event, child: TaskId) {
        let row = self.add_task();
        assert!(child.index() + 1 == self.tasks.len(), "raddle bug: a task without a clock");
        self.bank.copy(row, self.tasks[event.task.index()].row);
        self.bank.set(row, child, 1);
        self.tick(event);
    }

    /// An exited task's own clock no longer changes: it is what the exit released.
    fn joined(&mut self, event: &Event, world: &World) {
        let State::Task { task: child, .. } = world.object(event.op.object).state else {
            panic!("raddle bug: a join of another object")
        };
        let row = self.tasks[child.index()].row;
        let by = self.now(child);
        self.acquire(event.task, Released { row, by });
    }

    fn other_event(&mut self, event: &Event, world: &World) {
        let Event { task, op, outcome, .. } = *event;
        match (op.kind, outcome) {
            (Kind::Spawn, Outcome::Spawned(child)) => self.spawned(event, child),
            (Kind::Join, Outcome::Done) | (Kind::Finished, Outcome::Value(1)) => self.joined(event, world),
            (Kind::Park | Kind::Acquire, Outcome::Done)
            | (Kind::OnceEnter, Outcome::Value(_))
            | (Kind::OnceGet, Outcome::Value(1))
            | (Kind::Recv, Outcome::Closed) => self.acquire_first(task, op.object),
            (Kind::Unpark | Kind::Release | Kind::DropSender, _) => self.add_first(event, op.object),
            (Kind::OnceDone, _) => self.release_first(event, op.object),
            (Kind::Arrive, _) => self.arrive(event, world),
            (Kind::Leave | Kind::Handover, Outcome::Done) => {
                let gate = self.tasks[task.index()].gate;
                self.acquire(task, gate);
            }
            (Kind::Send, Outcome::Done) => self.send(event),
            (Kind::Recv, Outcome::Done) => self.receive(event, world),
            (Kind::Send | Kind::Handover, Outcome::Closed) => {
                let gone = self.carried(op.object).other;
                self.acquire(task, gone);
            }
            (Kind::DropReceiver, _) => self.add_other(event),
            _ => {}
        }
    }
}

/// Whether another schedule could turn an edge of this kind round.
fn by_chance(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Spawn
            | Kind::Join
            | Kind::Arrive
            | Kind::Leave
            | Kind::Send
            | Kind::Recv
            | Kind::Handover
            | Kind::DropSender
            | Kind::DropReceiver
            | Kind::Park
            | Kind::Unpark
    )
}

impl Analysis for Clocks {
    fn begin(&mut self) {
        self.bank.begin();
        self.tasks.clear();
        self.objects.clear();
        self.queues[..self.queues_used].iter_mut().for_each(VecDeque::clear);
        self.queues_used = 0;
        self.add_task();
    }

    /// Operations that programs do all the time: put together in memory they would cost more than what follows.
    #[inline(always)]
    fn plain(&mut self, event: PlainEvent, world: &World) {
        let certain = self.edges == Edges::Certain;
        if self.at_once(event, world).is_some() {
            return;
        }
        match event.plain.kind {
            Kind::Load | Kind::Store | Kind::Rmw if !certain => self.atomic(&event.event()),
            Kind::Lock | Kind::Unlock if !certain => self.lock_event(&event.event()),
            Kind::CellRead | Kind::CellWrite => {}
            _ => self.event(&event.event(), world),
        }
    }

    #[inline]
    fn event(&mut self, event: &Event, world: &World) {
        let Event { op, outcome, .. } = *event;
        if self.edges == Edges::Certain && by_chance(op.kind) {
            return;
        }
        match op.kind {
            Kind::CellRead | Kind::CellWrite => {}
            Kind::Load | Kind::Store | Kind::Rmw => {
                self.atomic(event);
                if op.second.is_some() {
                    self.atomic(&Event { op: Op { object: op.second, ..op }, ..*event });
                }
            }
            Kind::Fence => self.fence(event),
            // It has its mutex again, however the wait ended.
            Kind::Wake => self.lock_event(event),
            Kind::Lock
            | Kind::Unlock
            | Kind::ReadLock
            | Kind::WriteLock
            | Kind::ReadUnlock
            | Kind::WriteUnlock
            | Kind::Downgrade
            | Kind::Wait => {
                if outcome == Outcome::Done {
                    self.lock_event(event);
                }
            }
            _ => self.other_event(event, world),
        }
    }
}
