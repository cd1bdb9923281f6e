//! `dfs`: every interleaving, depth first. The plainest search there is, and what the others are
//! compared with. `random-dfs` takes the alternatives, and what follows the last of them, in a random order, and begins
//! anew now and then with decisions as early as possible; the tree of what is left keeps it from running anything twice.

use crate::outlook::Outlook;
use crate::systematic::{Next, Request, Search};
use crate::tree::Tree;
use raddle_model::plan::Step;
use raddle_model::{Plan, Trace, Verdict};
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, State, Take};

/// All interleavings.
#[derive(Clone, Default, Debug)]
pub struct Dfs {
    tree: Tree,
    /// The seed of a random order.
    seed: Option<u64>,
}

impl Dfs {
    /// A search that has not begun.
    pub fn new() -> Dfs {
        Dfs::default()
    }

    /// The same in a random order.
    pub fn shuffled(seed: u64) -> Dfs {
        Dfs { tree: Tree::shuffled(seed), seed: Some(seed) }
    }
}

impl Search for Dfs {
    fn next(&mut self, worker: usize, request: &mut Request) -> Next {
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

    fn outlook(&self) -> Option<Outlook> {
        Some(self.tree.outlook())
    }

    fn save(&mut self, _: &Trace, entry: &mut Entry, all: bool) -> Option<usize> {
        Some(self.tree.save(entry, all))
    }

    fn load(&mut self, state: &State, rest: &mut Take<'_>) -> Result<Vec<Step>, Unpack> {
        self.tree.load(&state.parts, rest)
    }

    fn restart(&mut self) {
        self.tree = self.seed.map_or_else(Tree::default, Tree::shuffled);
    }
}
