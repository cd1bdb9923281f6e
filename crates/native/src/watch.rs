//! What is watched in every run of a native program.

use crate::shadow::{Access, Findings, How, Key, Record, Shadow};
use crate::sharing::Sharing;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_analysis::clocks::Clocks;
use raddle_analysis::{Fingerprint, LockOrder};
use raddle_model::{
    Analysis, Event, Kind, ObjectId, Op, Order, Outcome, Plain, PlainEvent, Recorder, SiteId, TaskId,
    TaskSet, Touch, World,
};

/// Two accesses that nothing orders.
#[derive(Clone, Debug)]
pub struct Race {
    /// The earlier one.
    pub earlier: Record,
    /// Who did the later one.
    pub task: TaskId,
    /// Where it stands.
    pub site: SiteId,
    /// How it was done.
    pub how: How,
    /// The first byte that both have accessed.
    pub address: usize,
}

impl Race {
    /// For people; `what` says which memory it is.
    pub fn message(&self, what: &str, world: &World) -> String {
        let verb = |how: How| match (how.write, how.atomic) {
            (true, true) => "writes atomically",
            (true, false) => "writes",
            (false, true) => "reads atomically",
            (false, false) => "reads",
        };
        let (first, second) = (world.path(self.earlier.task()), world.path(self.task));
        format!(
            "{first} {} {what}, then {second} {} it, and nothing orders them",
            verb(self.earlier.how()),
            verb(self.how)
        )
    }
}

/// The analyses of the native front end.
#[derive(Default, Debug)]
pub struct Watch {
    /// The partial order of the run.
    pub fingerprint: Fingerprint,
    /// Sync order.
    clocks: Clocks,
    /// Accesses to memory.
    pub shadow: Shadow,
    /// Whether an access that was done before may be passed over unseen.
    pub hasty: bool,
    /// Every event, in runs that are recorded in full.
    recorder: Option<Recorder>,
    /// The order of locks, in runs that are looked at closely.
    lock_order: Option<LockOrder>,
    // Whether there is either.
    closely: bool,
    /// Whether an atomic weaker than sequentially consistent was executed.
    pub weak_orders: bool,
    /// What is shared, in runs that are to find out.
    pub sharing: Option<Sharing>,
    /// Each pair of sites once.
    pub races: Vec<Race>,
    reported: Vec<[SiteId; 2]>,
    /// Tasks that are about to do a compare-exchange, which may fail.
    pub fallible: TaskSet,
    // One that has been done, and may yet turn out to have failed.
    unsettled: Option<Event>,
    // When the last atomic access happened: a release, which it may be, begins a new time.
    atomic_time: i32,
    found: Findings,
}

impl Watch {
    /// The last event was a compare-exchange that failed: a load with this order.
    pub fn failed_exchange(&mut self, order: Order) {
        if let Some(event) = &mut self.unsettled {
            event.op.kind = Kind::Load;
            event.op.order = order;
        }
    }

    /// Makes room for so many tasks and objects.
    pub fn reserve(&mut self, tasks: usize, objects: usize) {
        self.fingerprint.reserve(objects);
        self.clocks.reserve(tasks, objects);
        self.shadow.reserve();
    }

    /// What else is written down of the run that begins.
    pub fn look_closely(&mut self, recorder: Option<Recorder>, lock_order: Option<LockOrder>) {
        self.closely = recorder.is_some() || lock_order.is_some();
        (self.recorder, self.lock_order) = (recorder, lock_order);
        self.recorder.begin();
        self.lock_order.begin();
    }

    /// The order of locks is of no interest any more.
    pub fn leave_lock_order(&mut self) {
        self.lock_order = None;
        self.closely = self.recorder.is_some();
    }

    /// What was written down of it.
    pub fn take_recorder(&mut self) -> Option<Recorder> {
        self.recorder.take()
    }

    /// The order of locks, if it was looked at.
    pub fn lock_order(&self) -> Option<&LockOrder> {
        self.lock_order.as_ref()
    }

    #[cold]
    fn settle(&mut self, world: &World) {
        if let Some(event) = self.unsettled.take() {
            self.clocks.event(&event, world);
        }
    }

    /// An atomic access of the task whose event was the last one, if all that it does is to take the place of an access
    /// like it. Otherwise nothing has happened.
    #[inline(always)]
    pub fn renews(&mut self, access: &Access) -> bool {
        self.unsettled.is_none()
            && self.sharing.is_none()
            && self.shadow.renews(access, self.atomic_time, &self.clocks)
    }

    /// An access to memory, plain or atomic.
    #[inline(never)]
    pub fn access(&mut self, access: &Access, world: &World) {
        if self.unsettled.is_some() {
            self.settle(world);
        }
        let time = match access.how.atomic {
            true => self.atomic_time,
            false => self.clocks.now(access.task).time,
        };
        self.shadow.access(access, time, &self.clocks, &mut self.found);
        if self.hasty && !access.how.atomic {
            self.shadow.stays(access.task, time);
        }
        if !self.found.races.is_empty() {
            self.report(access);
        }
        if let Some(sharing) = &mut self.sharing {
            sharing.access(access);
        }
    }

    /// The same for a plain access that is no scheduling point, where few tasks access what has been accessed before: as part
    /// of whoever calls it, so that what it is told travels in registers. False, and nothing has happened, if it is not
    /// as simple.
    #[inline(always)]
    pub(crate) fn notes_at_once(
        &mut self,
        address: usize,
        size: usize,
        write: bool,
        task: TaskId,
        site: SiteId,
    ) -> bool {
        if self.unsettled.is_some() || self.sharing.is_some() {
            return false;
        }
        let Some((heard, time)) = self.clocks.heard_by_few(task) else { return false };
        let how = How { write, atomic: false };
        let key = Key::of(task, time);
        if !self.shadow.notes_near(address, size, how, key, site, heard, &mut self.found) {
            return false;
        }
        if self.hasty {
            self.shadow.stays(task, time);
        }
        if !self.found.races.is_empty() {
            self.report(&Access { address, size, how, task, site, point: false });
        }
        true
    }

    #[cold]
    fn report(&mut self, access: &Access) {
        let Access { how, task, site, address, .. } = *access;
        for earlier in core::mem::take(&mut self.found.races) {
            let mut pair = [earlier.site, site];
            pair.sort_unstable();
            if let Err(at) = self.reported.binary_search(&pair) {
                self.reported.insert(at, pair);
                self.races.push(Race { earlier, task, site, how, address: earlier.meets(address) });
            }
        }
    }

    /// Sites that access memory which is raced for in this run, and in runs that are to find out, which is shared.
    pub fn shared(&self) -> Vec<SiteId> {
        let shared = self.sharing.iter().flat_map(|sharing| sharing.sites());
        let mut all: Vec<SiteId> = self.found.shared.iter().chain(shared).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// What comes before every event. True for one whose part in sync order must wait until it is known whether it
    /// has failed.
    #[inline(always)]
    fn prepare(&mut self, task: TaskId, kind: Kind, order: Order, world: &World) -> bool {
        if self.unsettled.is_some() {
            self.settle(world);
        }
        self.shadow.moved();
        if !matches!(kind, Kind::Load | Kind::Store | Kind::Rmw) {
            return false;
        }
        self.atomic_time = self.clocks.now(task).time;
        self.weak_orders |= order != Order::SeqCst;
        kind == Kind::Rmw && self.fallible.contains(task)
    }

    /// A plain event, once the fingerprint has it.
    #[inline(always)]
    fn look_at(&mut self, event: PlainEvent, world: &World) {
        let PlainEvent { task, index, plain: Plain { kind, touch, order, object, site } } = event;
        let closely = self.closely
            || self.unsettled.is_some()
            || touch == Touch::Write && kind == Kind::Rmw && !self.fallible.is_empty();
        if !closely && let Some(time) = self.clocks.at_once(event, world) {
            self.shadow.moved();
            // Whose access is atomic has just had its event; and only atomics have another order.
            self.atomic_time = time;
            self.weak_orders |= order != Order::SeqCst;
            return;
        }
        self.attend(task, index, kind, order, object, site, world);
    }

    // The event in parts, which travel in registers: otherwise it would be put together in memory whether or not it is
    // looked at here.
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "they travel in registers")]
    fn attend(
        &mut self,
        task: TaskId,
        index: u32,
        kind: Kind,
        order: Order,
        object: ObjectId,
        site: SiteId,
        world: &World,
    ) {
        let op = Op::new(kind, object, site).order(order);
        self.follow(&Event { task, index, op, outcome: Outcome::Done }, world);
    }

    #[inline]
    fn follow(&mut self, event: &Event, world: &World) {
        let Event { task, op, .. } = *event;
        if self.prepare(task, op.kind, op.order, world) {
            self.postpone(*event);
        } else {
            self.clocks.event(event, world);
        }
        if let Some(order) = &mut self.lock_order {
            order.event(event, world);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.events.push(*event);
        }
    }

    #[cold]
    fn postpone(&mut self, event: Event) {
        self.fallible.remove(event.task);
        self.unsettled = Some(event);
    }
}

impl Analysis for Watch {
    fn begin(&mut self) {
        self.fingerprint.begin();
        self.clocks.begin();
        self.recorder.begin();
        self.lock_order.begin();
        self.shadow.begin();
        self.weak_orders = false;
        self.races.clear();
        self.reported.clear();
        self.fallible = TaskSet::default();
        self.unsettled = None;
        self.atomic_time = 0;
        self.found.races.clear();
        self.found.shared.clear();
    }

    fn event(&mut self, event: &Event, world: &World) {
        self.fingerprint.event(event, world);
        self.follow(event, world);
    }

    #[inline(always)]
    fn plain(&mut self, event: PlainEvent, world: &World) {
        self.fingerprint.plain(event, world);
        self.look_at(event, world);
    }

    #[inline(always)]
    fn plain_at_once(&mut self, event: PlainEvent, world: &World) -> bool {
        let at_once = self.fingerprint.plain_at_once(event, world);
        if at_once {
            self.look_at(event, world);
        }
        at_once
    }
}
