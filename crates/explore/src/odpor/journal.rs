//! The journal of an optimal search. Each state of the tree is a part; what belongs to states that are gone is not
//! looked at again. A run that was under way is run once more by whoever goes on.

use super::Odpor;
use super::alphabet::{Alphabet, LetterId};
use super::letter::Letter;
use super::tree::{Child, Node, NodeId, ROOT, Tree};
use super::wakeup::Wakeups;
use raddle_model::plan::Step;
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, Put, Take};

/// Writes the states that have changed, or all.
pub(super) fn save(search: &mut Odpor, entry: &mut Entry, all: bool) -> usize {
    // The last run is repeated from its steps: all of them must be there.
    let mut last = ROOT;
    if let Some(worker) = search.workers.get_mut(search.last) {
        worker.reach_end(&mut search.tree);
        last = worker.nodes.last().copied().unwrap_or(ROOT);
    }
    let (nodes, alphabet, wakeups) = search.tree.parts_mut();
    for (number, node) in nodes.iter_mut().enumerate().filter(|(_, node)| all || !node.saved) {
        node.saved = true;
        entry.part(number, |put| save_node(node, alphabet, wakeups, put));
    }
    let count = nodes.len();
    let mut rest = entry.rest();
    rest.number(u64::from(last));
    rest.number(search.runs);
    rest.number(search.redundant);
    count
}

fn save_node(node: &Node, alphabet: &Alphabet, wakeups: &Wakeups, put: &mut Put<'_>) {
    let save = |put: &mut Put<'_>, letter: LetterId| alphabet.get(letter).save(put);
    [node.entered, node.fresh, node.running].into_iter().for_each(|flag| put.flag(flag));
    put.list(node.asleep.iter(), |put, &letter| save(put, letter));
    put.list(node.children.iter(), |put, &child| match child {
        Child::Waiting(step) => {
            put.number(0);
            wakeups.save(alphabet, step, put);
        }
        Child::Live(letter, next) => {
            put.number(1);
            save(put, letter);
            put.number(u64::from(next));
        }
        Child::Done(letter) => {
            put.number(2);
            save(put, letter);
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
    let (mut left, mut end) = (vec![(0, ROOT)], ROOT);
    let mut runs = Vec::new();
    while let Some((old, id)) = left.pop() {
        let part = parts.get(old as usize).ok_or(Unpack::Nonsense("a state that is not there"))?;
        if loaded.tree.len() > parts.len() {
            return Err(Unpack::Nonsense("a state that leads to itself"));
        }
        load_node(&mut loaded.tree, id, &mut Take::new(part), &mut left)?;
        if u64::from(old) == last {
            end = id;
        }
        if loaded.tree.node(id).running {
            runs.push(id);
        }
    }
    loaded.tree.write_path(end, &mut steps, &mut Vec::new());
    if let Some(&last @ Child::Done(_)) = loaded.tree.node(end).children.first() {
        steps.push(loaded.tree.letter(last).step());
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
    let Tree { alphabet, wakeups, .. } = tree;
    let asleep = take.list(|take| Ok(alphabet.id(Letter::load(take)?)))?;
    let children = take.list(|take| {
        Ok(match take.small()? {
            0 => (Child::Waiting(wakeups.load(alphabet, take)?), None),
            1 => (Child::Done(alphabet.id(Letter::load(take)?)), Some(take.small()?)),
            _ => (Child::Done(alphabet.id(Letter::load(take)?)), None),
        })
    })?;
    tree.restore(id, flags, asleep);
    for (child, live) in children {
        let next = tree.restore_child(id, child, live.is_some());
        left.extend(live.zip(next));
    }
    Ok(())
}
