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

use alloc::vec::Vec;
use raddle_model::hash::Wide;
use raddle_model::{Access, Analysis, Event, Kind, ObjectId, Outcome, World};

/// The groups of one object.
#[derive(Clone, Copy, Debug)]
struct Groups {
    before: Wide,
    current: Wide,
    reading: bool,
}

const NOTHING: Groups = Groups { before: Wide::ZERO, current: Wide::ZERO, reading: false };

/// The fingerprint so far.
#[derive(Default, Debug)]
pub struct Fingerprint {
    total: Wide,
    tasks: Vec<Wide>,
    objects: Vec<Groups>,
}

impl Fingerprint {
    /// The fingerprint of the events so far.
    pub fn value(&self) -> u128 {
        self.total.to_u128()
    }

    /// The groups of an object, with one opened for an access like this.
    #[inline]
    fn groups(&mut self, object: ObjectId, access: Access) -> &mut Groups {
        let index = object.index();
        if index >= self.objects.len() {
            self.grow(index + 1);
        }
        let groups = &mut self.objects[index];
        let reading = matches!(access, Access::Read);
        if !(reading && groups.reading) {
            groups.before = groups.current;
            groups.current = Wide::ZERO;
            groups.reading = reading;
        }
        groups
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        self.objects.resize(len, NOTHING);
    }

    /// Events with two extents or none, and ends and births.
    fn unusual(&mut self, event: Event, world: &World) {
        let Event { task, op, outcome, .. } = event;
        let access = op.access();
        let mut past = Wide::ZERO;
        if op.object.is_some() {
            past = self.groups(op.object, access).before;
        }
        if op.second.is_some() {
            // Not a plain sum: which of the two objects an edge comes through is part of the order.
            past = past.chain(1, self.groups(op.second, access).before);
        }
        if op.kind == Kind::End {
            // The end of the process conflicts with everything: its past is all there is.
            past = self.total;
        }
        let hash = self.tasks[task.index()].chain(label(&event, world), past);
        self.tasks[task.index()] = hash;
        self.total = self.total.plus(hash);
        for object in [op.object, op.second] {
            if object.is_some() {
                let groups = &mut self.objects[object.index()];
                groups.current = groups.current.plus(hash);
            }
        }
        if let Outcome::Spawned(child) = outcome {
            // The child's chain starts from its stable name and from the spawn, its first predecessor.
            self.tasks.push(Wide::from_word(world.task(child).name).chain(2, hash));
        }
    }
}

/// What an event is, apart from its place in the order.
#[inline]
fn label(event: &Event, world: &World) -> u64 {
    (event.op.kind as u64) << 56 ^ event.outcome.label(world)
}

impl Analysis for Fingerprint {
    #[inline]
    fn begin(&mut self) {
        self.total = Wide::ZERO;
        self.tasks.clear();
        self.objects.clear();
        self.tasks.push(Wide::from_word(1));
    }

    #[inline]
    fn event(&mut self, event: &Event, world: &World) {
        let op = &event.op;
        if op.second.is_some() || !op.object.is_some() {
            return self.unusual(*event, world);
        }
        let label = label(event, world);
        let chain = self.tasks[event.task.index()];
        let groups = self.groups(op.object, op.access());
        let hash = chain.chain(label, groups.before);
        groups.current = groups.current.plus(hash);
        self.tasks[event.task.index()] = hash;
        self.total = self.total.plus(hash);
    }
}
