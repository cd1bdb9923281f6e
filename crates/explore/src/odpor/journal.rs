//! The journal of an optimal search. Each state of the tree is a part; what belongs to states that are gone is not
//! looked at again. A run that was under way is run once more by whoever goes on.

use super::Odpor;
use super::tree::{Child, Node, NodeId, ROOT, Tree};
use crate::wakeup::{Branch, Letter};
use raddle_model::plan::Step;
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, Put, Take};

/// Writes the states that have changed, or all.
pub(super) fn save(search: &mut Odpor, entry: &mut Entry, all: bool) -> usize {
    let nodes = search.tree.nodes_mut();
    for (number, node) in nodes.iter_mut().enumerate().filter(|(_, node)| all || !node.saved) {
        node.saved = true;
        entry.part(number, |put| save_node(node, put));
    }
    let count = nodes.len();
    let mut rest = entry.rest();
    rest.number(u64::from(search.last));
    rest.number(search.runs);
    rest.number(search.redundant);
    count
}

fn save_node(node: &Node, put: &mut Put<'_>) {
    [node.entered, node.fresh, node.running].into_iter().for_each(|flag| put.flag(flag));
    put.list(node.asleep.iter(), |put, letter| letter.save(put));
    put.list(node.children.iter(), |put, child| match child {
        Child::Waiting(branch) => {
            put.number(0);
            branch.save(put);
        }
        Child::Live(letter, next) => {
            put.number(1);
            letter.save(put);
            put.number(u64::from(*next));
        }
        Child::Done(letter) => {
            put.number(2);
            letter.save(put);
        }
    });
}

/// Becomes what was saved. The steps of the last run, as far as the search had not left them.
pub(super) fn load(search: &mut Odpor, parts: &[Vec<u8>], rest: &mut Take<'_>) -> Result<Vec<Step>, Unpack> {
    let last = rest.number()?;
    let mut loaded = Odpor { begun: true, runs: rest.number()?, ..Odpor::default() };
    loaded.redundant = rest.number()?;
    let mut steps = Vec::new();
    // The id that each state had, its new one, and the steps to the last one.
    let mut left = vec![(0, ROOT)];
    let mut runs = Vec::new();
    while let Some((old, id)) = left.pop() {
        let part = parts.get(old as usize).ok_or(Unpack::Nonsense("a state that is not there"))?;
        if loaded.tree.len() > parts.len() {
            return Err(Unpack::Nonsense("a state that leads to itself"));
        }
        load_node(&mut loaded.tree, id, &mut Take::new(part), &mut left)?;
        if u64::from(old) == last {
            loaded.last = id;
        }
        if loaded.tree.node(id).running {
            runs.push(id);
        }
    }
    loaded.tree.write_path(loaded.last, &mut steps, &mut Vec::new());
    if let Some(Child::Done(letter)) = loaded.tree.node(loaded.last).children.first() {
        steps.push(letter.step());
    }
    loaded.again = runs;
    loaded.tree.settle_all();
    *search = loaded;
    Ok(steps)
}

fn load_node(
    tree: &mut Tree,
    id: NodeId,
    take: &mut Take<'_>,
    left: &mut Vec<(NodeId, NodeId)>,
) -> Result<(), Unpack> {
    let flags = [take.flag()?, take.flag()?, take.flag()?];
    let asleep = take.list(Letter::load)?;
    let children = take.list(|take| {
        Ok(match take.small()? {
            0 => (Child::Waiting(Branch::load(take)?), None),
            1 => (Child::Done(Letter::load(take)?), Some(take.small()?)),
            _ => (Child::Done(Letter::load(take)?), None),
        })
    })?;
    tree.restore(id, flags, asleep);
    for (child, live) in children {
        let next = tree.restore_child(id, child, live.is_some());
        left.extend(live.zip(next));
    }
    Ok(())
}
