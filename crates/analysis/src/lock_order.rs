//! Lock order: deadlocks that did not happen in this run and may in another.
//!
//! Follows Goodlock (Havelund 2000) with the cuts of Bensalem and Havelund 2005 and of Agarwal,
//! Wang and Stoller 2005. A task that waits for a lock while it holds another gives an edge from
//! the one to the other. A cycle of edges is a potential deadlock if
//! - the edges come from different tasks, each of which may wait;
//! - no two of the tasks hold a common lock then (a gate), unless both only read it;
//! - of the two who want the same lock, one at least wants it alone;
//! - the tasks can be there at the same time: nothing that another schedule cannot turn round
//!   ([`Edges::Certain`]) orders two of the edges.
//!
//! Deviations: cycles of any length, found when their last edge appears, with a bound on the work
//! ([`LockOrder::truncated`] says if it was reached); an initialization that others wait for is a
//! lock too. A lock taken by a try or within a time limit can be waited for by others but gives no
//! edge itself.
//!
//! Locks are compared by their ids, which mean something within a run only; what is kept across
//! runs are cycles, and two cycles are the same if their sites are.

use crate::clocks::{Clocks, Edges, Epoch};
use crate::held::{Held, Hold};
use alloc::vec::Vec;
use raddle_model::{Analysis, Event, ObjectId, SiteId, TaskId, World};

/// Edges of a run that are kept; a run with more is told apart by [`LockOrder::truncated`].
const EDGES_MAX: usize = 4096;

/// Edges that are looked at for cycles through one new edge.
const WORK_MAX: u32 = 20_000;

/// A task that waits for a lock while it holds another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Who.
    pub task: TaskId,
    /// What it holds.
    pub held: ObjectId,
    /// What it waits for.
    pub wanted: ObjectId,
    /// Where it took the one and takes the other.
    pub sites: [SiteId; 2],
}

/// A potential deadlock: each edge wants what the next one holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// At least two, the one with the lowest sites first.
    pub edges: Vec<Edge>,
}

impl Cycle {
    /// What makes two cycles the same, in this run or in another.
    pub fn sites(&self) -> impl Iterator<Item = [SiteId; 2]> + '_ {
        self.edges.iter().map(|edge| edge.sites)
    }

    fn same(&self, other: &Cycle) -> bool {
        self.sites().eq(other.sites())
    }
}

/// An edge with what decides whether it can be part of a deadlock with another.
#[derive(Debug)]
struct Candidate {
    edge: Edge,
    wants_shared: bool,
    holds_shared: bool,
    /// The other locks held then, and whether only for reading.
    gates: Vec<(ObjectId, bool)>,
    epoch: Epoch,
    /// Edges that certainly come before this one.
    past: Vec<u32>,
}

/// Potential deadlocks, of this run and of all runs so far.
#[derive(Debug)]
pub struct LockOrder {
    clocks: Clocks,
    held: Held,
    candidates: Vec<Candidate>,
    cycles: Vec<Cycle>,
    known: Vec<Cycle>,
    truncated: bool,
    // invariant: what follows is empty or old between events; kept for its memory.
    path: Vec<u32>,
    holds: Vec<Hold>,
}

impl Default for LockOrder {
    fn default() -> LockOrder {
        LockOrder {
            clocks: Clocks::new(Edges::Certain),
            held: Held::default(),
            candidates: Vec::new(),
            cycles: Vec::new(),
            known: Vec::new(),
            truncated: false,
            path: Vec::new(),
            holds: Vec::new(),
        }
    }
}

impl LockOrder {
    /// The cycles of this run.
    pub fn findings(&self) -> &[Cycle] {
        &self.cycles
    }

    /// The cycles of all runs, and of those merged in, each once, with the ids of the run that
    /// showed it first.
    pub fn known(&self) -> &[Cycle] {
        &self.known
    }

    /// The lock-order graph of this run.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.candidates.iter().map(|candidate| &candidate.edge)
    }

    /// Whether a run had more edges than are kept, or more paths than are searched.
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// Adds what another found in other runs of the same program.
    pub fn merge(&mut self, other: &LockOrder) {
        other.known.iter().for_each(|cycle| self.learn(cycle));
        self.truncated |= other.truncated;
    }

    fn learn(&mut self, cycle: &Cycle) {
        if !self.known.iter().any(|known| known.same(cycle)) {
            self.known.push(cycle.clone());
        }
    }

    /// Each lock that is held gives an edge to the one that is taken.
    fn take(&mut self, event: &Event) {
        let Some(taken) = Held::taken(event).filter(|taken| taken.blocking) else {
            return;
        };
        let mut holds = core::mem::take(&mut self.holds);
        holds.clear();
        holds.extend(self.held.of(event.task));
        // Taking again what one has never waits.
        if holds.iter().any(|hold| hold.lock == taken.lock) {
            holds.clear();
        }
        for hold in &holds {
            let edge = Edge {
                task: event.task,
                held: hold.lock,
                wanted: taken.lock,
                sites: [hold.site, event.op.site],
            };
            self.add(edge, taken.shared, hold, &holds);
        }
        self.holds = holds;
    }

    fn add(&mut self, edge: Edge, wants_shared: bool, hold: &Hold, holds: &[Hold]) {
        let epoch = self.clocks.now(edge.task);
        let gates = || {
            let others = holds.iter().filter(|other| other.lock != hold.lock);
            others.map(|other| (other.lock, other.shared))
        };
        let same = |old: &Candidate| {
            old.edge == edge
                && old.epoch == epoch
                && old.wants_shared == wants_shared
                && old.gates.iter().copied().eq(gates())
        };
        if self.candidates.iter().any(same) {
            return;
        }
        if self.candidates.len() == EDGES_MAX {
            self.truncated = true;
            return;
        }
        let index = self.candidates.len() as u32;
        let past = (0..index).filter(|&i| {
            let old = &self.candidates[i as usize];
            self.clocks.before(old.epoch, edge.task)
        });
        self.candidates.push(Candidate {
            past: past.collect(),
            wants_shared,
            holds_shared: hold.shared,
            gates: gates().collect(),
            epoch,
            edge,
        });
        self.path.push(index);
        let mut work = WORK_MAX;
        self.search(&mut work);
        self.truncated |= work == 0;
        self.path.pop();
    }

    /// Whether two tasks can stand there at the same time. One task's edges are ordered.
    fn compatible(&self, old: u32, new: u32) -> bool {
        let (a, b) = (&self.candidates[old as usize], &self.candidates[new as usize]);
        let (early, late) = if old < new { (old, b) } else { (new, a) };
        let meet = |x: &(ObjectId, bool), y: &(ObjectId, bool)| x.0 == y.0 && !(x.1 && y.1);
        fn all(c: &Candidate) -> impl Iterator<Item = (ObjectId, bool)> {
            let held = (c.edge.held, c.holds_shared);
            core::iter::once(held).chain(c.gates.iter().copied())
        }
        !all(a).any(|x| all(b).any(|y| meet(&x, &y))) && late.past.binary_search(&early).is_err()
    }

    /// Whether the first waits for what the second holds.
    fn waits_for(&self, first: u32, second: u32) -> bool {
        let (a, b) = (&self.candidates[first as usize], &self.candidates[second as usize]);
        a.edge.wanted == b.edge.held && !(a.wants_shared && b.holds_shared)
    }

    /// Extends the path, whose first edge is the newest one, by every older edge that fits.
    fn search(&mut self, work: &mut u32) {
        let (first, last) = (self.path[0], self.path[self.path.len() - 1]);
        if self.path.len() > 1 && self.waits_for(last, first) {
            self.found();
        }
        for next in 0..first {
            if *work == 0 {
                return;
            }
            *work -= 1;
            if self.waits_for(last, next) && self.path.iter().all(|&edge| self.compatible(edge, next)) {
                self.path.push(next);
                self.search(work);
                self.path.pop();
            }
        }
    }

    fn found(&mut self) {
        let edge = |&i: &u32| self.candidates[i as usize].edge.clone();
        let mut edges: Vec<Edge> = self.path.iter().map(edge).collect();
        let lowest = (0..edges.len()).min_by_key(|&i| edges[i].sites);
        edges.rotate_left(lowest.unwrap_or(0));
        let cycle = Cycle { edges };
        if !self.cycles.iter().any(|known| known.same(&cycle)) {
            self.learn(&cycle);
            self.cycles.push(cycle);
        }
    }
}

impl Analysis for LockOrder {
    fn begin(&mut self) {
        self.clocks.begin();
        self.held.begin();
        self.candidates.clear();
        self.cycles.clear();
    }

    #[inline]
    fn event(&mut self, event: &Event, world: &World) {
        self.take(event);
        self.held.event(event);
        self.clocks.event(event, world);
    }
}
