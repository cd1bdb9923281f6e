//! What happens to the tree, as the journal has it: a state may have thousands of sequences, of which a run takes one and
//! adds a few. So states are written once, and from then on each call that has changed something, with what came of it:
//! which states are new, who sleeps, where a sequence went. Whoever reads it repeats these calls, and compares no steps: what is
//! known of the objects of a run is not in the journal (see [`Letter::save`]).

use super::{Child, NOBODY, Node, NodeId, ROOT, Tree};
use crate::odpor::alphabet::{Alphabet, LetterId};
use crate::odpor::letter::Letter;
use crate::odpor::wakeup::Graft;
use raddle_wire::Unpack;
use raddle_wire::journal::{Put, Take};
use std::collections::BTreeMap;

/// What has happened. The numbers are part of the journal's format.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// The first run is under way.
    Begin = 0,
    /// The first sequence that waits at a state was taken; the states on its way.
    Take = 1,
    /// The run that ends its sequence at a state is over.
    Release = 2,
    /// A run goes on with a step of its own; its letter and the state.
    Extend = 3,
    /// A run ends with a step of its own; its letter.
    End = 4,
    /// The step that leads to a state has this letter.
    Letter = 5,
    /// A run came to a state for the first time; who sleeps there.
    Enter = 6,
    /// A sequence waits behind all others; its letters.
    Grow = 7,
    /// A sequence branches off from the child at a place; where, and its letters.
    Graft = 8,
    /// Nothing is left to do from a state.
    Settle = 9,
    /// What waits at a state is left out.
    Abandon = 10,
    /// As [`What::Settle`], and it had been so when all was written.
    Complete = 11,
}

/// Calls since everything was written; nothing is noted before.
#[derive(Clone, Default, Debug)]
pub(super) struct Changes {
    notes: Option<Box<Notes>>,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Notes {
    bytes: Vec<u8>,
    /// Letters that the journal has, by number.
    known: Vec<bool>,
}

impl Changes {
    /// Something happens to a state. Where the rest of it goes, if anybody wants to know.
    #[inline(always)]
    pub(super) fn note(&mut self, what: What, id: NodeId) -> Option<&mut Notes> {
        let notes = self.notes.as_deref_mut()?;
        notes.bytes.push(what as u8);
        notes.number(id);
        Some(notes)
    }

    /// The same with a letter.
    #[inline]
    pub(super) fn note_letter(
        &mut self,
        what: What,
        id: NodeId,
        alphabet: &Alphabet,
        letter: LetterId,
    ) -> Option<&mut Notes> {
        let notes = self.note(what, id)?;
        notes.letter(alphabet, letter);
        Some(notes)
    }

    /// Another sequence waits; where it branches off, if it does.
    #[inline]
    pub(super) fn note_sequence(
        &mut self,
        id: NodeId,
        graft: Option<(usize, &Graft)>,
        alphabet: &Alphabet,
        letters: impl ExactSizeIterator<Item = LetterId>,
    ) {
        let what = if graft.is_some() { What::Graft } else { What::Grow };
        let Some(notes) = self.note(what, id) else { return };
        if let Some((place, Graft { turns, kept })) = graft {
            notes.number(place as u32);
            Put::new(&mut notes.bytes).list(turns.iter(), |put, &turn| put.number(u64::from(turn)));
            notes.number(*kept);
        }
        notes.letters(alphabet, letters);
    }
}

impl Notes {
    pub(super) fn number(&mut self, number: u32) {
        Put::new(&mut self.bytes).number(u64::from(number));
    }

    pub(super) fn numbers(&mut self, numbers: &[NodeId]) {
        Put::new(&mut self.bytes).list(numbers.iter(), |put, &number| put.number(u64::from(number)));
    }

    /// Those with nothing to them but an operation have the same number for ever, so they are written once. The others are
    /// few.
    fn letter(&mut self, alphabet: &Alphabet, letter: LetterId) {
        let mut put = Put::new(&mut self.bytes);
        if letter.has_more() {
            put.number(0);
            return alphabet.get(letter).save(&mut put);
        }
        let number = letter.number() as usize;
        self.known.resize(self.known.len().max(number + 1), false);
        let new = !std::mem::replace(&mut self.known[number], true);
        put.number((number as u64 + 1) << 1 | u64::from(new));
        if new {
            alphabet.get(letter).save(&mut put);
        }
    }

    pub(super) fn letters(&mut self, alphabet: &Alphabet, letters: impl ExactSizeIterator<Item = LetterId>) {
        self.number(letters.len() as u32);
        letters.for_each(|letter| self.letter(alphabet, letter));
    }
}

impl Tree {
    /// Whether all that happens is noted.
    pub(in crate::odpor) fn is_noted(&self) -> bool {
        self.changes.notes.is_some()
    }

    /// Everything has been written: notes what happens from now on.
    pub(in crate::odpor) fn begin_notes(&mut self) {
        let mut changes = Changes { notes: Some(Box::default()) };
        for (id, _) in self.used().filter(|&(id, node)| id != ROOT && node.complete) {
            changes.note(What::Complete, id);
        }
        self.changes = changes;
    }

    /// What was noted, once.
    pub(in crate::odpor) fn hand_over(&mut self, write: impl FnOnce(&[u8])) {
        if let Some(notes) = &mut self.changes.notes {
            write(&notes.bytes);
            notes.bytes.clear();
        }
    }

    /// States that are in use, by number, and what is needed to write them down.
    pub(in crate::odpor) fn used(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        let all = self.nodes.iter().enumerate().map(|(id, node)| (id as NodeId, node));
        all.filter(|(id, node)| *id == ROOT || node.parent != NOBODY)
    }

    /// Room for so many states, of which only the first is in use.
    pub(in crate::odpor) fn make_room(&mut self, count: usize) {
        self.nodes.resize(count.max(1), Node::default());
    }

    /// A state as it was saved, still without children.
    pub(in crate::odpor) fn restore(&mut self, id: NodeId, saved: [bool; 3], asleep: Vec<LetterId>) {
        let node = self.node_mut(id);
        [node.entered, node.fresh, node.running] = saved;
        node.asleep = asleep;
        let (parent, running) = (node.parent, node.running);
        if running && parent != NOBODY {
            self.node_mut(parent).awaited = true;
        }
    }

    /// A child of it, with its state if that was under way.
    pub(in crate::odpor) fn restore_child(
        &mut self,
        id: NodeId,
        child: Child,
        live: Option<NodeId>,
    ) -> Result<(), Unpack> {
        let place = self.node(id).children.len() as u32;
        if let Some(next) = live {
            self.offer(&[next])?;
            self.add(id, place);
        }
        let node = self.node_mut(id);
        node.taken += u32::from(!matches!(child, Child::Waiting(_)));
        node.open += u32::from(live.is_some());
        match (child, live) {
            (Child::Done(letter), Some(next)) => node.children.push(Child::Live(letter, next)),
            (child, _) => node.children.push(child),
        }
        while let Some(Child::Done(_)) = node.children.get(node.done as usize) {
            node.done += 1;
        }
        Ok(())
    }

    /// Forgets what nothing is left to do of, after all was restored.
    pub(in crate::odpor) fn settle_all(&mut self) {
        let mut all: Vec<(u32, NodeId)> = self.used().map(|(id, node)| (node.depth, id)).collect();
        all.sort_unstable();
        for (_, id) in all.into_iter().rev() {
            if id == ROOT || self.node(id).parent != NOBODY {
                self.settle(id);
            }
        }
        let free = |&id: &NodeId| self.node(id).parent == NOBODY;
        self.free = (1..self.nodes.len() as NodeId).rev().filter(free).collect();
    }

    /// The next states that are made get these numbers.
    fn offer(&mut self, ids: &[NodeId]) -> Result<(), Unpack> {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        let unused = |&id: &NodeId| id != ROOT && self.nodes.get(id as usize).is_some_and(Node::is_unused);
        if !sorted.iter().all(unused) || sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Unpack::Nonsense("a state that is there already"));
        }
        self.free.clear();
        self.free.extend(ids.iter().rev());
        Ok(())
    }

    /// Repeats what was noted.
    pub(in crate::odpor) fn repeat(&mut self, take: &mut Take<'_>) -> Result<(), Unpack> {
        let mut letters = Letters::default();
        while !take.is_over() {
            let (what, id) = (take.small()?, take.small()?);
            let node = self.nodes.get(id as usize).filter(|node| id == ROOT || !node.is_unused());
            let node = node.ok_or(Unpack::Nonsense("a state that is not there"))?;
            let [childless, waits] = [node.children.is_empty(), (node.taken as usize) < node.children.len()];
            match what {
                0 => self.begin(),
                1 if waits => self.repeat_take(id, take)?,
                2 => self.release(id),
                3 if childless => {
                    let letter = letters.next(&mut self.alphabet, take)?;
                    self.offer(&[take.small()?])?;
                    self.extend(id, letter);
                    self.alphabet.drop(letter);
                }
                4 if childless => {
                    let letter = letters.next(&mut self.alphabet, take)?;
                    self.end(id, letter);
                    self.alphabet.drop(letter);
                }
                5 if id != ROOT => {
                    let by = letters.next(&mut self.alphabet, take)?;
                    self.rename(id, by);
                    self.alphabet.drop(by);
                }
                6 => {
                    let asleep = letters.list(&mut self.alphabet, take)?;
                    let node = self.node_mut(id);
                    (node.asleep, node.entered) = (asleep, true);
                }
                7 => {
                    let sequence = letters.sequence(&mut self.alphabet, take)?;
                    let step = self.wakeups.add_letters(sequence.into_iter());
                    self.node_mut(id).children.push(Child::Waiting(step));
                    self.reopen(id);
                }
                8 => {
                    let place = take.size()?;
                    let graft = Graft { turns: take.list(Take::small)?, kept: take.small()? };
                    let sequence = letters.sequence(&mut self.alphabet, take)?;
                    let Some(&Child::Waiting(step)) = self.node(id).children.get(place) else {
                        return Err(NOWHERE);
                    };
                    self.wakeups.graft(step, &graft, sequence.into_iter()).ok_or(NOWHERE)?;
                }
                9 if self.settle(id) => {}
                10 => self.abandon(id),
                11 if id != ROOT => {
                    let node = self.node_mut(id);
                    node.complete = true;
                    let parent = node.parent;
                    self.retained += 1;
                    let open = &mut self.node_mut(parent).open;
                    *open = open.checked_sub(1).ok_or(Unpack::Nonsense("more is done than was begun"))?;
                }
                _ => return Err(Unpack::Nonsense("something that cannot have happened")),
            }
        }
        Ok(())
    }

    fn repeat_take(&mut self, id: NodeId, take: &mut Take<'_>) -> Result<(), Unpack> {
        let count = self.nodes.len();
        self.offer(&take.list(Take::small)?)?;
        self.take(id, &mut Vec::new(), &mut Vec::new());
        let all = self.free.is_empty() && self.nodes.len() == count;
        if all { Ok(()) } else { Err(Unpack::Nonsense("a sequence with other states")) }
    }
}

const NOWHERE: Unpack = Unpack::Nonsense("a sequence that branches off from nothing");

impl Node {
    fn is_unused(&self) -> bool {
        self.parent == NOBODY
    }
}

/// The letters that were read.
#[derive(Default)]
struct Letters {
    known: BTreeMap<u64, LetterId>,
}

impl Letters {
    /// The next letter; whoever reads it has it.
    fn next(&mut self, alphabet: &mut Alphabet, take: &mut Take<'_>) -> Result<LetterId, Unpack> {
        let number = take.number()?;
        if number == 0 {
            return Ok(alphabet.id(Letter::load(take)?));
        }
        if number & 1 == 0 {
            let known = self.known.get(&(number >> 1));
            return known.copied().ok_or(Unpack::Nonsense("a letter that was never written"));
        }
        let letter = alphabet.id(Letter::load(take)?);
        self.known.insert(number >> 1, letter);
        Ok(letter)
    }

    fn list(&mut self, alphabet: &mut Alphabet, take: &mut Take<'_>) -> Result<Vec<LetterId>, Unpack> {
        take.list(|take| self.next(alphabet, take))
    }

    /// At least one.
    fn sequence(&mut self, alphabet: &mut Alphabet, take: &mut Take<'_>) -> Result<Vec<LetterId>, Unpack> {
        let sequence = self.list(alphabet, take)?;
        if sequence.is_empty() { Err(Unpack::Nonsense("a branch without a step")) } else { Ok(sequence) }
    }
}
