//! The journal of an optimal search. Each state of the tree is a part; what belongs to states that are gone is not
//! looked at again. They are written once, and then what happens to them (`tree/changes.rs`). A run that was under way is run once
//! more by whoever goes on.

use super::Odpor;
use super::alphabet::{Alphabet, LetterId};
use super::letter::Letter;
use super::tree::{Child, Node, NodeId, ROOT, Tree};
use super::wakeup::Wakeups;
use raddle_model::Trace;
use raddle_model::plan::Step;
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, Put, State, Take};

/// Writes what has happened, or all states.
pub(super) fn save(search: &mut Odpor, trace: &Trace, entry: &mut Entry, all: bool) -> usize {
    // The last run is repeated from its steps: all of them must be there.
    let mut last = ROOT;
    if let Some(worker) = search.workers.get_mut(search.last) {
        worker.reach_end(&mut search.tree, trace);
        last = worker.nodes.last().copied().unwrap_or(ROOT);
    }
    let tree = &mut search.tree;
    if all || !tree.is_noted() {
        entry.is_whole();
        for (number, node) in tree.used() {
            entry.part(number as usize, |put| save_node(node, &tree.alphabet, &tree.wakeups, put));
        }
        tree.begin_notes();
    }
    tree.hand_over(|changes| entry.changes(changes));
    let count = tree.len();
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
        Child::Single(letter) => {
            put.number(0);
            Wakeups::save_single(alphabet, letter, put);
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
pub(super) fn load(search: &mut Odpor, state: &State, rest: &mut Take<'_>) -> Result<Vec<Step>, Unpack> {
    let last = rest.number()?;
    let mut loaded = Odpor { begun: true, runs: rest.number()?, ..Odpor::default() };
    loaded.redundant = rest.number()?;
    let tree = &mut loaded.tree;
    tree.make_room(state.parts.len());
    let mut left = vec![ROOT];
    while let Some(id) = left.pop() {
        let part = state.parts.get(id as usize).ok_or(Unpack::Nonsense("a state that is not there"))?;
        load_node(tree, id, &mut Take::new(part), &mut left)?;
    }
    tree.repeat(&mut Take::new(&state.changes))?;
    let end = tree.used().map(|(id, _)| id).find(|&id| u64::from(id) == last).unwrap_or(ROOT);
    let mut steps = Vec::new();
    tree.write_path(end, &mut steps, &mut Vec::new());
    if let Some(&last @ Child::Done(_)) = tree.node(end).children.first() {
        steps.push(tree.letter(last).step());
    }
    loaded.again = tree.used().filter(|(_, node)| node.running).map(|(id, _)| id).collect();
    tree.settle_all();
    *search = loaded;
    Ok(steps)
}

fn load_node(tree: &mut Tree, id: NodeId, take: &mut Take<'_>, left: &mut Vec<NodeId>) -> Result<(), Unpack> {
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
        tree.restore_child(id, child, live)?;
        left.extend(live);
    }
    Ok(())
}
