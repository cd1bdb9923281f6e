//! `dfs`: every interleaving, depth first. The plainest search there is, and what the others are
//! compared with.

use crate::systematic::{Request, Search};
use crate::tree::Tree;
use raddle_model::{Plan, Trace, Verdict};

/// All interleavings.
#[derive(Clone, Default, Debug)]
pub struct Dfs {
    tree: Tree,
}

impl Search for Dfs {
    fn next(&mut self) -> Option<Request> {
        self.tree.next()
    }

    fn learn(&mut self, _: &Plan, trace: &Trace, _: &Verdict) {
        self.tree.learn(trace);
    }

    fn restart(&mut self) {
        self.tree = Tree::default();
    }
}
