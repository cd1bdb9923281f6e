//! What is watched in every run, and what only in those that are looked at closely.

use super::Heart;
use super::callers::{Callers, StackId};
use raddle_analysis::hapset::Predecessors;
use raddle_analysis::lock_order::Cycle;
use raddle_analysis::{Fingerprint, LockOrder, Races};
use raddle_model::{Analysis, Event, Op, Pair, Plain, PlainEvent, Recorder, SiteId, TaskId, World};
use std::sync::Arc;

/// The analyses of the library front end.
#[derive(Default, Debug)]
pub(crate) struct Watch {
    /// Where it is shown what happens.
    heart: Arc<Heart>,
    /// Always on.
    pub(crate) fingerprint: Fingerprint,
    /// Whether plain events matter to more than the fingerprint: not before a plain access was seen,
    /// unless this run is looked at closely. All that follows costs this one branch otherwise.
    attentive: bool,
    /// Whether that is so only because the order of locks is followed in this run: a run that is led by it does without.
    only_locks: bool,
    /// Whether an atomic weaker than sequentially consistent was executed. Whoever does that says so: it is known where
    /// it is compiled.
    pub(crate) weak_orders: bool,
    /// Looked for once a plain access was seen.
    pub(crate) races: Races,
    /// Whether this run is looked at closely.
    pub(crate) closely: bool,
    /// On in runs that are recorded in full; they are looked at closely.
    pub(crate) recorder: Option<Recorder>,
    lock_order: LockOrder,
    /// On in all runs of a check that asks for HaPSets.
    pub(crate) hapsets: Option<Hapsets>,
    /// What it was at points of a search's runs.
    kept: Vec<Kept>,
}

/// What is watched in every run, as it was.
#[derive(Default, Debug)]
struct Kept {
    fingerprint: Fingerprint,
    weak_orders: bool,
}

/// HaPSets of a run, with callers as a part of each statement.
#[derive(Default, Debug)]
pub(crate) struct Hapsets {
    predecessors: Predecessors,
    pub(crate) callers: Callers,
}

impl Hapsets {
    /// The pairs of statements of the run that has ended.
    pub(crate) fn pairs(&mut self) -> Vec<Pair> {
        let callers = &mut self.callers;
        let mut pairs: Vec<Pair> = self
            .predecessors
            .pairs()
            .map(|pair| pair.map(|stack| callers.statement(StackId(stack.0))))
            .collect();
        // Stacks may differ where statements do not.
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

impl Analysis for Hapsets {
    fn begin(&mut self) {
        self.predecessors.begin();
        self.callers.begin();
    }

    fn event(&mut self, event: &Event, _: &World) {
        let StackId(number) = self.callers.happens(event.task, event.op.site);
        let site = SiteId(number);
        self.predecessors.take(&Event { op: Op { site, ..event.op }, ..*event });
    }
}

impl Watch {
    /// One that shows here what happens.
    pub(crate) fn new(heart: Arc<Heart>) -> Watch {
        Watch { heart, ..Watch::default() }
    }

    /// Potential deadlocks of this run; none if it was not looked at closely.
    pub(crate) fn cycles(&self) -> &[Cycle] {
        if self.closely { self.lock_order.findings() } else { &[] }
    }

    /// The program accesses plain memory: from now on every event matters.
    #[inline]
    pub(crate) fn expect_races(&mut self) {
        self.attentive = true;
    }

    #[inline(never)]
    fn attend_spawn(&mut self, task: TaskId, child: TaskId, site: SiteId, world: &World) {
        self.attend(&world.spawned(task, child, site), world);
    }

    #[inline(never)]
    fn attend_end(&mut self, task: TaskId, site: SiteId, world: &World) {
        self.attend(&world.ended(task, site), world);
    }

    #[inline(never)]
    fn attend(&mut self, event: &Event, world: &World) {
        self.races.event(event, world);
        self.hapsets.event(event, world);
        if self.closely {
            self.lock_order.event(event, world);
            if let Some(recorder) = &mut self.recorder {
                recorder.events.push(*event);
            }
        }
    }
}

impl Analysis for Watch {
    fn begin(&mut self) {
        self.fingerprint.begin();
        self.races.begin();
        self.weak_orders = false;
        if self.closely {
            self.lock_order.begin();
            self.recorder.begin();
        }
        self.hapsets.begin();
        let follows = self.races.watching() || self.hapsets.is_some();
        self.attentive = self.closely || follows;
        self.only_locks = !follows && self.recorder.is_none();
    }

    #[inline]
    fn event(&mut self, event: &Event, world: &World) {
        self.heart.goes_on(event.task, event.op.site);
        self.fingerprint.event(event, world);
        if self.attentive {
            self.attend(event, world);
        }
    }

    #[inline]
    fn spawned(&mut self, task: TaskId, child: TaskId, site: SiteId, world: &World) {
        self.fingerprint.spawned(task, child, site, world);
        if self.attentive {
            self.attend_spawn(task, child, site, world);
        }
    }

    #[inline]
    fn ended(&mut self, task: TaskId, site: SiteId, world: &World) {
        self.fingerprint.ended(task, site, world);
        if self.attentive {
            self.attend_end(task, site, world);
        }
    }

    /// Races and orders of locks are not kept: whoever follows them goes the whole way. Nobody who is led follows the order of locks.
    fn can_keep(&self) -> bool {
        !self.attentive || self.only_locks
    }

    fn keep(&mut self, place: usize) {
        self.kept.resize_with(self.kept.len().max(place + 1), Kept::default);
        let Kept { fingerprint, weak_orders } = &mut self.kept[place];
        fingerprint.clone_from(&self.fingerprint);
        *weak_orders = self.weak_orders;
    }

    fn recall(&mut self, place: usize) {
        self.races.begin();
        let Kept { fingerprint, weak_orders } = &self.kept[place];
        self.fingerprint.clone_from(fingerprint);
        self.weak_orders = *weak_orders;
        self.attentive = false;
    }

    #[inline(always)]
    fn plain(&mut self, event: PlainEvent, world: &World) {
        self.heart.goes_on(event.task, event.plain.site);
        self.fingerprint.plain(event, world);
        if self.attentive {
            self.attend(&event.event(), world);
        }
    }

    #[inline(always)]
    fn can_be_late(&self) -> bool {
        !self.attentive
    }

    fn again(&mut self, first: PlainEvent, gives: Option<Plain>, times: u32, world: &World) {
        debug_assert!(!self.attentive, "raddle bug: who looks closely is told too late");
        self.heart.beat();
        self.fingerprint.again(first, gives, times, world);
    }

    #[inline(always)]
    fn plain_at_once(&mut self, event: PlainEvent, world: &World) -> bool {
        self.heart.goes_on(event.task, event.plain.site);
        !self.attentive && self.fingerprint.plain_at_once(event, world)
    }
}
