//! The part of a search tree that a search has not left for good, shared by its workers. A node is where runs part:
//! it has options, which are taken one after the other. A worker goes on with the last node of its own run that has an
//! option left; where there is none it takes one from as early a node as possible, which promises much work.
//!
//! A node is gone once all of its options have been taken and nothing is under way below them. How many workers there
//! are and in which order they ask is no matter of what is taken, only of who takes it when.

use crate::outlook::{Outlook, Sizes};
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, Put, Take};

/// A node, by number.
pub(crate) type NodeId = u32;

/// Leads to the first node.
const NOBODY: NodeId = NodeId::MAX;

/// A path through the tree: nodes, each with the option that is taken there.
pub(crate) type Way = Vec<(NodeId, u32)>;

/// What a node is to the search.
pub(crate) trait Options: Sized {
    /// Number of options; there may be more later.
    fn count(&self) -> usize;

    /// For the journal.
    fn save(&self, put: &mut Put<'_>);

    fn load(take: &mut Take<'_>) -> Result<Self, Unpack>;
}

#[derive(Clone, Debug)]
struct Node<N> {
    /// The node before it, and the option that was taken there.
    parent: NodeId,
    place: u32,
    depth: u32,
    /// None if it is gone.
    options: Option<N>,
    /// Number of options that have been taken, and of those of them that are under way.
    taken: u32,
    open: u32,
    /// Number of workers that will go on from here.
    held: u32,
    /// Whether it is as the journal has it.
    saved: bool,
}

impl<N: Options> Node<N> {
    fn left(&self) -> usize {
        self.options.as_ref().map_or(0, |options| options.count() - self.taken as usize)
    }
}

#[derive(Clone, Default, Debug)]
struct Worker {
    /// What was taken in its run, as far as the search has not left it.
    way: Way,
    running: bool,
    /// Whether it goes on as near to the beginning as possible.
    jumps: bool,
    runs: u64,
    sizes: Sizes,
}

/// What a worker is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Given {
    /// The first run of all.
    First,
    /// A path that is its last one up to the last node.
    Own,
    /// A path from elsewhere.
    Other,
    /// Nothing as long as others have not told what came of their runs.
    Nothing,
    /// Nothing is left.
    Over,
}

/// The nodes, and who is where.
#[derive(Clone, Debug)]
pub(crate) struct Forest<N> {
    nodes: Vec<Node<N>>,
    free: Vec<NodeId>,
    workers: Vec<Worker>,
    begun: bool,
    /// Runs that were under way when the search was interrupted.
    again: Vec<Way>,
    /// Who learned last.
    last: usize,
}

impl<N> Default for Forest<N> {
    fn default() -> Forest<N> {
        let (nodes, free, workers, again) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Forest { nodes, free, workers, begun: false, again, last: 0 }
    }
}

impl<N: Options> Forest<N> {
    pub(crate) fn get(&self, id: NodeId) -> &N {
        self.nodes[id as usize].options.as_ref().expect("raddle bug: a node is gone")
    }

    pub(crate) fn get_mut(&mut self, id: NodeId) -> &mut N {
        let node = &mut self.nodes[id as usize];
        node.saved = false;
        node.options.as_mut().expect("raddle bug: a node is gone")
    }

    /// What a worker's run took.
    pub(crate) fn way(&self, worker: usize) -> &Way {
        &self.workers[worker].way
    }

    /// Nodes that the search has not left for good.
    pub(crate) fn size(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// A worker goes on elsewhere, as near to the beginning as something is left.
    pub(crate) fn jump(&mut self, number: usize) {
        if let Some(worker) = self.workers.get_mut(number).filter(|worker| !worker.running) {
            let mut worker = core::mem::take(worker);
            self.leave(&mut worker);
            worker.way.clear();
            worker.jumps = true;
            self.workers[number] = worker;
        }
    }

    /// The next path of a worker.
    pub(crate) fn next(&mut self, number: usize) -> Given {
        if self.workers.len() <= number {
            self.workers.resize(number + 1, Worker::default());
        }
        let mut worker = core::mem::take(&mut self.workers[number]);
        let given = if !core::mem::replace(&mut self.begun, true) {
            Given::First
        } else if self.go_on(&mut worker) {
            Given::Own
        } else if self.go_elsewhere(&mut worker) {
            Given::Other
        } else {
            Given::Nothing
        };
        worker.running = given != Given::Nothing;
        self.workers[number] = worker;
        if given != Given::Nothing {
            return given;
        }
        self.release();
        let running = self.workers.iter().any(|worker| worker.running);
        if self.free.len() == self.nodes.len() && !running { Given::Over } else { Given::Nothing }
    }

    /// Those who have not asked again may have left nothing.
    fn release(&mut self) {
        for number in 0..self.workers.len() {
            if !self.workers[number].running {
                let mut worker = core::mem::take(&mut self.workers[number]);
                self.leave(&mut worker);
                worker.way.clear();
                self.workers[number] = worker;
            }
        }
    }

    /// Whether nothing is left to do from a node. If so it is gone.
    fn settle(&mut self, id: NodeId) -> bool {
        let node = &mut self.nodes[id as usize];
        if node.left() > 0 || node.open > 0 || node.held > 0 {
            return false;
        }
        node.options = None;
        node.saved = false;
        self.free.push(id);
        let parent = node.parent;
        if parent != NOBODY {
            self.nodes[parent as usize].open -= 1;
        }
        true
    }

    /// Leaves those nodes of a worker's last run from which nothing is left.
    fn leave(&mut self, worker: &mut Worker) {
        if let Some(&(id, _)) = worker.way.last() {
            self.nodes[id as usize].held -= 1;
        }
        while let Some(&(id, _)) = worker.way.last()
            && self.settle(id)
        {
            worker.way.pop();
            worker.sizes.end(worker.way.len(), worker.runs);
        }
    }

    fn take(&mut self, id: NodeId) -> Option<u32> {
        let node = &mut self.nodes[id as usize];
        let place = (node.left() > 0).then_some(node.taken)?;
        node.taken += 1;
        node.open += 1;
        node.saved = false;
        Some(place)
    }

    fn go_on(&mut self, worker: &mut Worker) -> bool {
        self.leave(worker);
        let depth = worker.way.len().wrapping_sub(1);
        let Some((id, place)) = worker.way.last_mut() else { return false };
        let Some(taken) = self.take(*id) else { return false };
        *place = taken;
        worker.sizes.end(depth, worker.runs);
        worker.sizes.begin(depth, worker.runs);
        true
    }

    fn go_elsewhere(&mut self, worker: &mut Worker) -> bool {
        worker.way.clear();
        if let Some(way) = self.again.pop() {
            worker.way = way;
            return true;
        }
        // One that is alone goes on where the search was, unless it jumps.
        let alone = self.workers.len() == 1 && !core::mem::take(&mut worker.jumps);
        let offers = (0..self.nodes.len() as NodeId).filter(|&id| self.nodes[id as usize].left() > 0);
        let found = offers.min_by_key(|&id| {
            let depth = self.nodes[id as usize].depth;
            if alone { u32::MAX - depth } else { depth }
        });
        let Some(id) = found else { return false };
        let place = self.take(id).expect("raddle bug: an offer is gone");
        worker.way = self.way_to(id, place);
        for depth in 0..worker.way.len() {
            worker.sizes.begin(depth, worker.runs);
        }
        true
    }

    /// The path to a node, and on with this option.
    fn way_to(&self, mut id: NodeId, mut place: u32) -> Way {
        let mut way = Way::new();
        while id != NOBODY {
            way.push((id, place));
            let node = &self.nodes[id as usize];
            (id, place) = (node.parent, node.place);
        }
        way.reverse();
        way
    }

    /// The run of a worker is over, and nothing is known of what followed what it took.
    pub(crate) fn end(&mut self, worker: usize) {
        self.last = worker;
        let Worker { way, running, runs, .. } = &mut self.workers[worker];
        *running = false;
        *runs += 1;
        if let Some(&(id, _)) = way.last() {
            let node = &mut self.nodes[id as usize];
            node.open -= 1;
            node.held += 1;
        }
    }

    /// The run went on to a node, of which it took the first option.
    pub(crate) fn push(&mut self, worker: usize, options: N) -> NodeId {
        let Worker { way, runs, sizes, .. } = &mut self.workers[worker];
        let (parent, place) = way.last().copied().unwrap_or((NOBODY, 0));
        if let Some(before) = self.nodes.get_mut(parent as usize) {
            before.open += 1;
            before.held -= 1;
        }
        let depth = way.len();
        sizes.begin(depth, *runs - 1);
        let node = Node {
            parent,
            place,
            depth: depth as u32,
            options: Some(options),
            taken: 1,
            open: 0,
            held: 1,
            saved: false,
        };
        let id = self.free.pop().unwrap_or(self.nodes.len() as NodeId);
        match self.nodes.get_mut(id as usize) {
            Some(free) => *free = node,
            None => self.nodes.push(node),
        }
        way.push((id, 0));
        id
    }

    /// How much is left.
    pub(crate) fn outlook(&self) -> Outlook {
        let mut waiting = Vec::new();
        for node in &self.nodes {
            let (depth, left) = (node.depth as usize, node.left());
            if waiting.len() <= depth {
                waiting.resize(depth + 1, 0);
            }
            waiting[depth] += left;
        }
        let mut sizes = Sizes::default();
        self.workers.iter().for_each(|worker| sizes.join(&worker.sizes));
        sizes.outlook(waiting.into_iter())
    }

    /// Writes the nodes that have changed, or all, and which runs are under way. Number of parts.
    pub(crate) fn save(&mut self, entry: &mut Entry, all: bool) -> usize {
        for (number, node) in self.nodes.iter_mut().enumerate().filter(|(_, node)| all || !node.saved) {
            node.saved = true;
            entry.part(number, |put| {
                put.list(node.options.iter(), |put, options| {
                    // The first one has no number there.
                    put.number(u64::from(node.parent.wrapping_add(1)));
                    put.number(u64::from(node.place));
                    put.number(u64::from(node.taken));
                    options.save(put);
                });
            });
        }
        let last = self.workers.get(self.last).map(|worker| &worker.way);
        let running = self.workers.iter().filter(|worker| worker.running).map(|worker| &worker.way);
        let ways = last.into_iter().chain(running).chain(&self.again);
        let ends: Vec<(NodeId, u32)> = ways.map(|way| way.last().copied().unwrap_or((NOBODY, 0))).collect();
        entry.rest().list(ends.iter(), |rest, &(id, place)| {
            rest.number(u64::from(id.wrapping_add(1)));
            rest.number(u64::from(place));
        });
        self.nodes.len()
    }

    /// What was saved; and what the last run took, as far as the search had not left it.
    pub(crate) fn load(parts: &[Vec<u8>], rest: &mut Take<'_>) -> Result<(Forest<N>, Way), Unpack> {
        let mut forest = Forest { begun: true, ..Forest::default() };
        for part in parts {
            let mut take = Take::new(part);
            let loaded = take.list(|take| {
                let (parent, place, taken) = (take.small()?.wrapping_sub(1), take.small()?, take.small()?);
                Ok((parent, place, taken, N::load(take)?))
            })?;
            let (mut parent, mut place, mut taken, mut options) = (NOBODY, 0, 0, None);
            for known in loaded {
                (parent, place, taken) = (known.0, known.1, known.2);
                options = Some(known.3);
            }
            if options.as_ref().is_some_and(|options| options.count() < taken as usize) {
                return Err(Unpack::Nonsense("more options were taken than there are"));
            }
            forest.nodes.push(Node {
                parent,
                place,
                depth: 0,
                options,
                taken,
                open: 0,
                held: 0,
                saved: false,
            });
        }
        for id in 0..forest.nodes.len() as NodeId {
            forest.nodes[id as usize].depth = forest.depth(id)?;
        }
        let ends = rest.list(|rest| Ok((rest.small()?.wrapping_sub(1), rest.small()?)))?;
        let known = |&(id, place): &(NodeId, u32)| {
            id == NOBODY
                || forest
                    .nodes
                    .get(id as usize)
                    .is_some_and(|node| node.options.is_some() && place < node.taken)
        };
        if !ends.iter().all(known) {
            return Err(Unpack::Nonsense("a node that is not there"));
        }
        let mut ways = ends.into_iter().map(|(id, place)| forest.way_to(id, place));
        let last = ways.next().unwrap_or_default();
        forest.again = ways.collect();
        Ok((forest, last))
    }

    /// Number of nodes before this one, which is looked up step by step.
    fn depth(&self, mut id: NodeId) -> Result<u32, Unpack> {
        for depth in 0..=self.nodes.len() as u32 {
            match self.nodes.get(id as usize) {
                Some(node) if node.options.is_none() || node.parent == NOBODY => return Ok(depth),
                Some(node) => id = node.parent,
                None => break,
            }
        }
        Err(Unpack::Nonsense("nodes in a circle"))
    }

    /// After all was loaded and settled: the first worker goes on where the last run was.
    pub(crate) fn resume(&mut self, mut way: Way) {
        way.truncate(way.partition_point(|&(id, _)| self.nodes[id as usize].options.is_some()));
        if let Some(&(id, _)) = way.last() {
            self.nodes[id as usize].held += 1;
        }
        let mut worker = Worker { way, ..Worker::default() };
        (0..worker.way.len()).for_each(|depth| worker.sizes.begin(depth, 0));
        self.workers = vec![worker];
    }

    /// After all was loaded: finds out what is under way, and forgets what is not needed any more.
    pub(crate) fn settle_all(&mut self) {
        for id in 0..self.nodes.len() {
            let Node { parent, options, .. } = &self.nodes[id];
            match (options, *parent) {
                (None, _) => self.free.push(id as NodeId),
                (Some(_), NOBODY) => {}
                (Some(_), parent) => self.nodes[parent as usize].open += 1,
            }
        }
        for way in &self.again {
            if let Some(&(id, _)) = way.last() {
                self.nodes[id as usize].open += 1;
            }
        }
        let mut order: Vec<NodeId> = (0..self.nodes.len() as NodeId).collect();
        order.retain(|&id| self.nodes[id as usize].options.is_some());
        order.sort_by_key(|&id| core::cmp::Reverse(self.nodes[id as usize].depth));
        for id in order {
            self.settle(id);
        }
    }
}
