//! The fingerprint of a run's partial order: 128 bits, kept up to date with constant work per
//! event.
//!
//! The hash of an event covers its task's stable name and its index within the task (through the
//! chain of the task's earlier events), its kind and outcome, and the hashes of its latest
//! conflicting predecessors; no object name and no address. The fingerprint is the sum of all
//! hashes, so it does not depend on the linearization.
//!
//! For each object two sums suffice. Its events fall into groups: a write alone, or reads between
//! two writes. All of a group conflict with all of the neighbouring groups and not with each other,
//! so the latest conflicting predecessors of an event are exactly the group before its own.
//!
//! Equal fingerprints and equal partial orders are the same thing up to hash collisions: the
//! hash of an event determines, by induction, the labels and edges of its whole past. It also
//! follows that objects need no names: what a task does next, to which object, is a function of
//! its past.

mod chains;

use self::chains::Chains;
use alloc::vec::Vec;
use core::marker::PhantomData;
use raddle_model::hash::Wide;
use raddle_model::{
    Access, Analysis, Event, Kind, ObjectId, Op, Outcome, Plain, PlainEvent, SiteId, TaskId, World,
};

/// The groups of one object.
#[derive(Clone, Copy, Debug)]
struct Groups {
    // Meant for reads only: what comes before a write is always what was there last.
    before: Wide,
    current: Wide,
    reading: bool,
}

impl Groups {
    /// The group before that of an access like this, whose own is opened if it is not open.
    #[inline(always)]
    fn before(&mut self, reading: bool) -> Wide {
        if !reading {
            return self.current;
        }
        if !self.reading {
            self.before = self.current;
        }
        self.before
    }

    /// Puts the access into its group. Reads are a sum, since they have no order.
    #[inline(always)]
    fn add(&mut self, reading: bool, hash: Wide) {
        self.current = if reading && self.reading { self.current.plus(hash) } else { hash };
        self.reading = reading;
    }
}

const NOTHING: Groups = Groups { before: Wide::START, current: Wide::START, reading: false };

/// What enters the hash of an event. There is one right recipe, [`Exact`]; tests spoil it to see
/// that the oracle notices.
pub trait Recipe {
    /// Whether plain events may go the short way, which knows the right recipe only.
    const SHORT: bool = false;

    /// The objects through which an operation has predecessors and successors.
    #[inline(always)]
    fn extents(op: &Op) -> [ObjectId; 2] {
        [op.object, op.second]
    }

    /// What an operation is, besides its kind and outcome.
    #[inline(always)]
    fn label(_: &Op) -> u64 {
        0
    }
}

/// The right recipe.
#[derive(Default, Debug)]
pub struct Exact;

impl Recipe for Exact {
    const SHORT: bool = true;
}

/// The fingerprint so far.
pub type Fingerprint = Hashing<Exact>;

/// The fingerprint by a recipe.
#[derive(Default, Debug)]
pub struct Hashing<R> {
    total: Wide,
    tasks: Chains,
    objects: Vec<Groups>,
    recipe: PhantomData<R>,
}

impl<R> Clone for Hashing<R> {
    fn clone(&self) -> Hashing<R> {
        let Hashing { total, tasks, objects, recipe } = self;
        Hashing { total: *total, tasks: tasks.clone(), objects: objects.clone(), recipe: *recipe }
    }

    /// In the memory that is there.
    fn clone_from(&mut self, other: &Hashing<R>) {
        self.total = other.total;
        self.tasks.copy_from(&other.tasks);
        self.objects.clone_from(&other.objects);
    }
}

impl<R: Recipe> Hashing<R> {
    /// The fingerprint of the events so far.
    pub fn value(&self) -> u128 {
        self.total.to_u128()
    }

    /// The groups of an object.
    fn groups(&mut self, object: ObjectId) -> &mut Groups {
        if object.index() >= self.objects.len() {
            self.grow(object.index());
        }
        &mut self.objects[object.index()]
    }

    /// Makes room for so many objects.
    pub fn reserve(&mut self, objects: usize) {
        self.objects.reserve(objects);
    }

    /// An object is accessed for the first time.
    #[inline(never)]
    fn grow(&mut self, object: usize) {
        while self.objects.len() <= object {
            self.objects.push(NOTHING);
        }
    }

    /// As [`Hashing::any`], for the right recipe, when a task has made one of this name.
    #[inline]
    fn made(&mut self, task: TaskId, child: u64) {
        let chain = self.tasks.of(task);
        let hash = chain.chain(SPAWNED, Wide::START);
        *chain = hash;
        self.total = self.total.plus(hash);
        self.begin_task(child, hash);
    }

    /// The same when a task has ended the process, which conflicts with everything: its past is all there is.
    #[inline]
    fn all_over(&mut self, task: TaskId) {
        let chain = self.tasks.of(task);
        let hash = chain.chain(ENDED, self.total);
        *chain = hash;
        self.total = self.total.plus(hash);
    }

    /// A child's chain starts from its stable name and from the spawn, its first predecessor.
    #[inline]
    fn begin_task(&mut self, name: u64, spawn: Wide) {
        self.tasks.push(Wide::from_word(name).chain(2, spawn));
    }

    // The event in parts, which travel in registers.
    #[inline(never)]
    fn any_plain(&mut self, task: TaskId, index: u32, plain: Plain, world: &World) {
        self.any(&PlainEvent { task, index, plain }.event(), world);
    }

    /// An event of any kind.
    #[inline(never)]
    fn any(&mut self, event: &Event, world: &World) {
        let Event { task, op, outcome, .. } = *event;
        let reading = op.access() == Access::Read;
        let [first, second] = R::extents(&op);
        let mut past = if first.is_some() { self.groups(first).before(reading) } else { Wide::START };
        if second.is_some() {
            // Not a plain sum: which of the two objects an edge comes through is part of the order.
            past = past.chain(1, self.groups(second).before(reading));
        }
        if op.kind == Kind::End {
            // The end of the process conflicts with everything: its past is all there is.
            past = self.total;
        }
        let chain = self.tasks.of(task);
        let hash = chain.chain(label::<R>(event, world), past);
        *chain = hash;
        self.total = self.total.plus(hash);
        for object in [first, second] {
            if object.is_some() {
                self.objects[object.index()].add(reading, hash);
            }
        }
        if let Outcome::Spawned(child) = outcome {
            self.begin_task(world.task(child).name, hash);
        }
    }
}

/// What an event is, apart from its place in the order.
#[inline]
fn label<R: Recipe>(event: &Event, world: &World) -> u64 {
    (event.op.kind as u64) << 56 ^ event.outcome.label(world) ^ R::label(&event.op)
}

/// The same for a task that has made another.
const SPAWNED: u64 = (Kind::Spawn as u64) << 56 ^ Outcome::SPAWNED;

/// The same for a task that has ended the process.
const ENDED: u64 = (Kind::End as u64) << 56;

impl<R: Recipe> Analysis for Hashing<R> {
    #[inline]
    fn begin(&mut self) {
        self.total = Wide::ZERO;
        self.tasks.clear();
        // Their places are kept: the next run will most likely have as many.
        self.objects.fill(NOTHING);
        self.tasks.push(Wide::from_word(1));
    }

    #[inline]
    fn event(&mut self, event: &Event, world: &World) {
        match event.outcome {
            Outcome::Spawned(child) if R::SHORT => self.made(event.task, world.task(child).name),
            _ => self.any(event, world),
        }
    }

    #[inline]
    fn spawned(&mut self, task: TaskId, child: TaskId, site: SiteId, world: &World) {
        if R::SHORT {
            self.made(task, world.task(child).name);
        } else {
            self.any(&world.spawned(task, child, site), world);
        }
    }

    #[inline]
    fn ended(&mut self, task: TaskId, site: SiteId, world: &World) {
        if R::SHORT {
            self.all_over(task);
        } else {
            self.any(&world.ended(task, site), world);
        }
    }

    #[inline(always)]
    fn plain(&mut self, event: PlainEvent, world: &World) {
        if !Chains::is_first(event.task) || !self.plain_at_once(event, world) {
            self.any_plain(event.task, event.index, event.plain, world);
        }
    }

    fn again(&mut self, first: PlainEvent, gives: Option<Plain>, times: u32, world: &World) {
        let PlainEvent { task, plain, .. } = first;
        if !R::SHORT {
            let mut event = first;
            for _ in 0..times {
                for plain in core::iter::once(plain).chain(gives) {
                    self.any(&PlainEvent { plain, ..event }.event(), world);
                    event.index += 1;
                }
            }
            return;
        }
        // The same with everything in registers: each is a write, so that all of them are one chain.
        let mut before = self.groups(plain.object).before(false);
        let (mut chain, mut total) = (*self.tasks.of(task), self.total);
        let mut add = |label: u64| {
            chain = chain.chain(label, before);
            before = chain;
            total = total.plus(chain);
        };
        for _ in 0..times {
            add((plain.kind as u64) << 56);
            if let Some(gives) = gives {
                add((gives.kind as u64) << 56);
            }
        }
        (*self.tasks.of(task), self.total) = (chain, total);
        self.objects[plain.object.index()].add(false, before);
    }

    /// All but the first access to an object.
    #[inline(always)]
    fn plain_at_once(&mut self, event: PlainEvent, _: &World) -> bool {
        let PlainEvent { task, plain, .. } = event;
        let groups = self.objects.get_mut(plain.object.index());
        let (Some(groups), true) = (groups, R::SHORT) else { return false };
        let hash = add(self.tasks.of_first(task), groups, plain);
        self.total = self.total.plus(hash);
        true
    }
}

/// The hash of a plain event by the right recipe, which becomes part of the task's chain and of the object's groups.
#[inline(always)]
fn add(chain: &mut Wide, groups: &mut Groups, plain: Plain) -> Wide {
    let reading = plain.touch.reads();
    let hash = chain.chain((plain.kind as u64) << 56, groups.before(reading));
    groups.add(reading, hash);
    *chain = hash;
    hash
}
