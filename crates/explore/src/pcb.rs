//! `pcb`: preemption bounding after Musuvathi and Qadeer (PLDI 2007), in the form in which Wang, Said and
//! Gupta compare with it (ICSE 2011, §4.2.1): every interleaving with at most k preemptions, branching at every
//! step within the bound. A switch away from a task that cannot go on, or that offers the processor,
//! is free. There is nothing that merges interleavings: a bound on preemptions and the reordering of
//! independent steps do not go together.
//!
//! Without a bound it takes 0, 1, 2, … in turn, until nothing is left out. An interleaving with fewer
//! preemptions is then run again for each later bound: to remember them all would take memory in
//! proportion to the runs.

use crate::outlook::Outlook;
use crate::systematic::{Next, Request, Search};
use crate::tree::Tree;
use raddle_model::plan::Step;
use raddle_model::{Plan, Trace, Verdict};
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, State, Take};

/// Interleavings with few preemptions.
#[derive(Clone, Debug)]
pub struct Pcb {
    tree: Tree,
    /// Preemptions allowed now.
    bound: u32,
    /// Whether it grows.
    grows: bool,
}

impl Pcb {
    /// At most `bound` preemptions; ever more of them if there is none.
    pub fn new(bound: Option<u32>) -> Pcb {
        let first = bound.unwrap_or(0);
        Pcb { tree: Tree::new(Some(first)), bound: first, grows: bound.is_none() }
    }

    /// Preemptions allowed now.
    pub fn preemptions_max(&self) -> u32 {
        self.bound
    }
}

impl Search for Pcb {
    fn next(&mut self, worker: usize, request: &mut Request) -> Next {
        let next = self.tree.next(worker, request);
        if next != Next::Over || !self.grows || !self.tree.pruned() {
            return next;
        }
        self.bound += 1;
        self.tree = Tree::new(Some(self.bound));
        self.tree.next(worker, request)
    }

    fn learn(&mut self, worker: usize, _: &Plan, trace: &Trace, _: &Verdict) {
        self.tree.learn(worker, trace);
    }

    fn lose(&mut self, worker: usize) {
        self.tree.lose(worker);
    }

    fn shares(&self) -> bool {
        true
    }

    /// What later bounds will bring is not known.
    fn outlook(&self) -> Option<Outlook> {
        (!self.grows).then(|| self.tree.outlook())
    }

    fn save(&mut self, _: &Trace, entry: &mut Entry, all: bool) -> Option<usize> {
        entry.rest().number(u64::from(self.bound));
        Some(self.tree.save(entry, all))
    }

    fn load(&mut self, state: &State, rest: &mut Take<'_>) -> Result<Vec<Step>, Unpack> {
        self.bound = rest.small()?;
        self.tree = Tree::new(Some(self.bound));
        self.tree.load(&state.parts, rest)
    }

    fn restart(&mut self) {
        *self = Pcb::new((!self.grows).then_some(self.bound));
    }

    fn bound(&self) -> Option<String> {
        self.tree.pruned().then(|| match self.bound {
            1 => String::from("with at most 1 preemption"),
            bound => format!("with at most {bound} preemptions"),
        })
    }
}
