//! Data races: two accesses to the same memory, at least one a write and at least one not atomic,
//! that sync order leaves unordered.
//!
//! Follows FastTrack (Flanagan and Freund 2009): the last write as an epoch, the reads since then
//! as an epoch while they are ordered and as one entry for each task once they are not. It reports
//! a race on a variable exactly if there is one in this run, the first one included, and never
//! one that is not there; of several races on one variable it may report only some. Deviations:
//! - A write forgets the reads before it: either they are ordered before the write, and whoever is
//!   unordered with them is unordered with the write too, or a race has been reported.
//! - An access in the same epoch as the one before it only takes its place, so that a report names
//!   the latest; the fast path costs one comparison.
//! - Atomic accesses to memory that is also accessed plainly are kept like reads: they do not race
//!   with each other.
//!
//! A program without plain accesses has no races, and most programs that use a library of
//! synchronized types have none: so the clocks stand still until a campaign has seen a plain
//! access. The run that shows the first one has [`Races::missed`] it and is to be run again.
//!
//! One shadow stands for a whole object. Spans slot in at `Races::place`, which alone knows what
//! a shadow stands for; until then a front end whose objects have parts must name each part.

use crate::clocks::{Clocks, Edges, Epoch, Release};
use crate::crowd::{Access, Crowd, Pool};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::objects::State;
use raddle_model::{Analysis, Event, Kind, ObjectId, Op, Order, SiteId, TaskId, World};

/// What the two accesses of a race are, the earlier first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RaceKind {
    /// Two writes.
    WriteWrite,
    /// A write, then a read.
    WriteRead,
    /// A read, then a write.
    ReadWrite,
}

/// One side of a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Side {
    /// Who.
    pub task: TaskId,
    /// Which of the task's events.
    pub index: u32,
    /// Where.
    pub site: SiteId,
    /// Whether it was an atomic access.
    pub atomic: bool,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// What was accessed.
    pub object: ObjectId,
    /// How.
    pub kind: RaceKind,
    /// The access that came first in this run.
    pub earlier: Side,
    /// The other.
    pub later: Side,
    /// The last thing that the earlier task released after its access. The later task has not
    /// acquired it; `None` if there was nothing to acquire.
    pub released: Option<Release>,
}

impl Race {
    /// Both sites, the earlier access first.
    pub fn sites(&self) -> [SiteId; 2] {
        [self.earlier.site, self.later.site]
    }

    /// For people; the sites are for the caller to show.
    pub fn message(&self, world: &World) -> String {
        let (first, second) = match self.kind {
            RaceKind::WriteWrite => ("writes", "writes"),
            RaceKind::WriteRead => ("writes", "reads"),
            RaceKind::ReadWrite => ("reads", "writes"),
        };
        let how = |side: &Side| if side.atomic { " atomically" } else { "" };
        let noun = |object: ObjectId| match object.is_some() {
            true => format!(" of {} {object:?}", world.object(object).state.noun()),
            false => String::new(),
        };
        let earlier = world.path(self.earlier.task);
        let later = world.path(self.later.task);
        let missing = match self.released {
            None => format!("{earlier} has released nothing in between"),
            Some(Release { kind, object, .. }) => format!(
                "{later} has acquired nothing that {earlier} released in between, last by {kind:?}{}",
                noun(object)
            ),
        };
        format!(
            "{earlier} {first} {} {:?}{}, then {later} {second} it{}, and nothing orders them: {missing}",
            world.object(self.object).state.noun(),
            self.object,
            how(&self.earlier),
            how(&self.later),
        )
    }
}

/// What is remembered of an object.
#[derive(Clone, Copy, Debug)]
struct Shadow {
    write: Access,
    reads: Crowd,
}

const UNTOUCHED: Shadow = Shadow { write: Access::NEVER, reads: Crowd::EMPTY };

/// What is remembered of atomic accesses to it, beside the shadow since it is seldom there.
#[derive(Clone, Copy, Debug)]
struct Atomics {
    loads: Crowd,
    stores: Crowd,
}

const NO_ATOMICS: Atomics = Atomics { loads: Crowd::EMPTY, stores: Crowd::EMPTY };

impl Shadow {
    fn has_plain(&self) -> bool {
        self.write.epoch.time != 0 || !self.reads.is_empty()
    }
}

/// The races of the run so far.
#[derive(Default, Debug)]
pub struct Races {
    watching: bool,
    // Whether atomic accesses are kept from a run's beginning: only once an object was accessed both ways.
    mixed: bool,
    missed: bool,
    missed_mix: bool,
    clocks: Clocks,
    shadows: Vec<Shadow>,
    atomics: Vec<Atomics>,
    pool: Pool,
    // A read-modify-write of which the front end may yet say that it stored nothing.
    unsettled: Option<Event>,
    findings: Vec<Race>,
    // Pairs of sites that were reported, each pair and the list sorted.
    reported: Vec<[SiteId; 2]>,
}

impl Races {
    /// A detector that watches from the first run on, rather than from the first plain access on.
    pub fn watching_at_once() -> Races {
        Races { watching: true, mixed: true, clocks: Clocks::new(Edges::All), ..Races::default() }
    }

    /// Whether this run is watched.
    pub fn watching(&self) -> bool {
        self.watching
    }

    /// Whether this run had accesses that were not watched. From the next run on they are: run
    /// this one again.
    pub fn missed(&self) -> bool {
        self.missed || self.missed_mix
    }

    /// The races of this run, each pair of sites once.
    pub fn findings(&mut self) -> &[Race] {
        self.settle();
        &self.findings
    }

    /// The last event was a compare-exchange that failed: a load with this order and no store.
    pub fn failed_exchange(&mut self, order: Order) {
        if let Some(event) = &mut self.unsettled {
            event.op.kind = Kind::Load;
            event.op.order = order;
        }
    }

    /// Where an operation's extent is remembered.
    #[inline]
    fn place(&mut self, op: &Op) -> usize {
        let place = op.object.index();
        if place >= self.shadows.len() {
            self.shadows.resize(place + 1, UNTOUCHED);
        }
        place
    }

    /// The first plain access to an atomic shows that both occur.
    #[inline]
    fn meet(&mut self, event: &Event, world: &World, shadow: &Shadow) {
        if !shadow.has_plain() && world.object(event.op.object).state == State::Atomic {
            self.missed_mix |= !self.mixed;
        }
    }

    #[inline]
    fn read(&mut self, event: &Event, world: &World) {
        let place = self.place(&event.op);
        let epoch = self.clocks.now(event.task);
        let shadow = &mut self.shadows[place];
        if shadow.reads.is_only(epoch) {
            shadow.reads.one.repeat(event);
        } else {
            self.read_anew(event, world, place, epoch);
        }
    }

    #[inline(never)]
    fn read_anew(&mut self, event: &Event, world: &World, place: usize, epoch: Epoch) {
        let shadow = self.shadows[place];
        let Shadow { write, mut reads } = shadow;
        self.meet(event, world, &shadow);
        self.check(event, write, RaceKind::WriteRead, false);
        if let Some(&Atomics { stores, .. }) = self.atomics.get(place) {
            self.check_crowd(event, stores, RaceKind::WriteRead, true);
        }
        self.pool.add(&mut reads, Access::new(event, epoch), &self.clocks);
        self.shadows[place].reads = reads;
    }

    #[inline]
    fn write(&mut self, event: &Event, world: &World) {
        let place = self.place(&event.op);
        let epoch = self.clocks.now(event.task);
        let shadow = &mut self.shadows[place];
        let alone = shadow.reads.is_empty() || shadow.reads.is_only(epoch);
        if shadow.write.epoch == epoch && alone && place >= self.atomics.len() {
            shadow.write.repeat(event);
        } else {
            self.write_anew(event, world, place, epoch);
        }
    }

    #[inline(never)]
    fn write_anew(&mut self, event: &Event, world: &World, place: usize, epoch: Epoch) {
        let shadow = self.shadows[place];
        let Shadow { write, mut reads } = shadow;
        self.meet(event, world, &shadow);
        self.check(event, write, RaceKind::WriteWrite, false);
        self.check_crowd(event, reads, RaceKind::ReadWrite, false);
        if let Some(&Atomics { loads, stores }) = self.atomics.get(place) {
            self.check_crowd(event, loads, RaceKind::ReadWrite, true);
            self.check_crowd(event, stores, RaceKind::WriteWrite, true);
        }
        self.pool.empty(&mut reads);
        self.shadows[place] = Shadow { write: Access::new(event, epoch), reads };
    }

    /// Nobody has said that the read-modify-write failed.
    #[inline]
    fn settle(&mut self) {
        if let Some(rmw) = self.unsettled {
            self.unsettled = None;
            self.atomic(&rmw);
        }
    }

    #[inline]
    fn atomic(&mut self, event: &Event) {
        let epoch = self.clocks.now(event.task);
        self.clocks.atomic(event);
        let place = event.op.object.index();
        let plain = self.shadows.get(place).is_some_and(Shadow::has_plain);
        if self.mixed || plain {
            self.missed_mix |= !self.mixed;
            self.keep_atomic(event, epoch);
        }
    }

    fn keep_atomic(&mut self, event: &Event, epoch: Epoch) {
        let place = self.place(&event.op);
        if place >= self.atomics.len() {
            self.atomics.resize(place + 1, NO_ATOMICS);
        }
        let access = Access::new(event, epoch);
        let Shadow { write, reads } = self.shadows[place];
        let stores = event.op.kind != Kind::Load;
        if stores {
            self.check(event, write, RaceKind::WriteWrite, false);
            self.check_crowd(event, reads, RaceKind::ReadWrite, false);
        } else {
            self.check(event, write, RaceKind::WriteRead, false);
        }
        let atomics = &mut self.atomics[place];
        let crowd = match stores {
            true => &mut atomics.stores,
            false => &mut atomics.loads,
        };
        self.pool.add(crowd, access, &self.clocks);
    }

    #[inline]
    fn check(&mut self, event: &Event, earlier: Access, kind: RaceKind, atomic: bool) {
        if !self.clocks.before(earlier.epoch, event.task) {
            self.report(event, earlier, kind, atomic);
        }
    }

    #[inline]
    fn check_crowd(&mut self, event: &Event, crowd: Crowd, kind: RaceKind, atomic: bool) {
        if !crowd.is_empty() {
            for i in 0..self.pool.len(crowd) {
                self.check(event, self.pool.get(crowd, i), kind, atomic);
            }
        }
    }

    #[cold]
    fn report(&mut self, event: &Event, earlier: Access, kind: RaceKind, atomic: bool) {
        let mut pair = [earlier.site, event.op.site];
        pair.sort_unstable();
        let Err(at) = self.reported.binary_search(&pair) else {
            return;
        };
        self.reported.insert(at, pair);
        let plain = matches!(event.op.kind, Kind::CellRead | Kind::CellWrite);
        self.findings.push(Race {
            object: event.op.object,
            kind,
            earlier: Side { task: earlier.epoch.task, index: earlier.index, site: earlier.site, atomic },
            later: Side { task: event.task, index: event.index, site: event.op.site, atomic: !plain },
            released: self.clocks.released_since(earlier.epoch),
        });
    }

    #[inline(never)]
    fn watch(&mut self, event: &Event, world: &World) {
        self.settle();
        match event.op.kind {
            Kind::CellRead => self.read(event, world),
            Kind::CellWrite => self.write(event, world),
            Kind::Load | Kind::Store => self.atomic(event),
            Kind::Rmw => self.unsettled = Some(*event),
            _ => self.clocks.event(event, world),
        }
    }
}

impl Analysis for Races {
    #[inline]
    fn begin(&mut self) {
        self.watching |= self.missed;
        self.mixed |= self.missed_mix;
        self.missed = false;
        self.missed_mix = false;
        if self.watching {
            self.clocks.begin();
            self.shadows.clear();
            self.atomics.clear();
            self.pool.begin();
            self.unsettled = None;
            self.findings.clear();
            self.reported.clear();
        }
    }

    #[inline]
    fn event(&mut self, event: &Event, world: &World) {
        if self.watching {
            self.watch(event, world);
        } else {
            self.missed |= matches!(event.op.kind, Kind::CellRead | Kind::CellWrite);
        }
    }
}
