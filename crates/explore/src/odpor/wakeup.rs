//! Wakeup trees (Abdulla, Aronis, Jonsson and Sagonas, POPL 2014): the sequences of steps that must
//! still be taken from a state, such that none of them leads into a partial order that another
//! one covers.
//!
//! A sequence covers another if both can be continued to the same partial order. What that means is
//! decided step by step: a step is a *weak initial* of a sequence if the sequence can be reordered to
//! begin with it, or if it conflicts with nothing in it.
//!
//! There may be as many sequences as runs: steps with nothing between them to branch off are packed into a few bytes each.

use super::alphabet::{Alphabet, LetterId};
use super::letter::{Letter, Relation};
use super::packed::Packed;
use raddle_wire::Unpack;
use raddle_wire::journal::{Put, Take};

/// A sequence of steps that is to be taken from a state.
pub(crate) struct Sequence<'a> {
    /// The last one first: what is left of it mostly begins with the step that is passed.
    pub(crate) letters: &'a mut Vec<LetterId>,
    /// Number of objects that all runs through the state know by their ids.
    pub(crate) known: u32,
}

/// How a step relates to a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Initial {
    /// The sequence begins with it.
    First,
    /// The sequence can begin with it: it is the one at this position.
    At(usize),
    /// It is not in the sequence and conflicts with nothing in it.
    Apart,
    /// Neither.
    No,
}

impl Sequence<'_> {
    /// The steps that are left.
    pub(crate) fn left(&self) -> impl ExactSizeIterator<Item = LetterId> {
        self.letters.iter().rev().copied()
    }

    /// Whether a step is a weak initial.
    #[inline(always)]
    pub(crate) fn initial(&self, alphabet: &Alphabet, step: LetterId) -> Initial {
        if !step.has_more() && self.letters.last() == Some(&step) {
            return Initial::First;
        }
        self.find(alphabet, step)
    }

    fn find(&self, alphabet: &Alphabet, step: LetterId) -> Initial {
        let relations = alphabet.relations(step, self.known);
        for (position, &other) in self.letters.iter().enumerate().rev() {
            match relations.to(other) {
                Relation::Same => return Initial::At(position),
                Relation::Conflict => return Initial::No,
                Relation::Apart => {}
            }
        }
        Initial::Apart
    }

    /// What is left of it after a step that is a weak initial.
    #[inline(always)]
    pub(crate) fn pass(&mut self, initial: Initial) {
        match initial {
            Initial::First => _ = self.letters.pop(),
            Initial::At(position) => _ = self.letters.remove(position),
            Initial::Apart | Initial::No => {}
        }
    }
}

/// Steps that wait to be taken one after the other, and stand for all that can follow them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waiting(u32);

const NONE: Waiting = Waiting(u32::MAX);

/// Where the letters of steps are packed; none for a link that is not in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place(pub(super) u32);

const NOWHERE: Place = Place(u32::MAX);

/// Steps that follow each other, what can be taken instead of them, and what must follow; nothing must if there is none.
#[derive(Clone, Copy, Debug)]
struct Link {
    letters: Place,
    next: Waiting,
    first: Waiting,
}

/// Where a sequence branches off from others that wait.
#[derive(Clone, Default, Debug)]
pub(crate) struct Graft {
    /// Which of what can follow is gone down into, again and again.
    pub(crate) turns: Vec<u32>,
    /// Number of the steps there after which it does; 0 for after all of them, where others do.
    pub(crate) kept: u32,
}

/// The wakeup trees of all states.
#[derive(Clone, Debug)]
pub(crate) struct Wakeups {
    links: Vec<Link>,
    free: Waiting,
    packed: Packed,
    /// Where the last sequence went that was inserted.
    graft: Graft,
}

impl Default for Wakeups {
    fn default() -> Wakeups {
        Wakeups { links: Vec::new(), free: NONE, packed: Packed::default(), graft: Graft::default() }
    }
}

impl Wakeups {
    fn link(&self, at: Waiting) -> &Link {
        &self.links[at.0 as usize]
    }

    fn link_mut(&mut self, at: Waiting) -> &mut Link {
        &mut self.links[at.0 as usize]
    }

    /// The first step.
    #[inline]
    pub(crate) fn letter(&self, at: Waiting) -> LetterId {
        self.packed.read(self.link(at).letters).0
    }

    /// Where the first step is.
    pub(crate) fn place(&self, at: Waiting) -> Place {
        self.link(at).letters
    }

    /// The step here, and where the one that follows it is.
    pub(crate) fn read(&self, place: Place) -> (LetterId, Option<Place>) {
        self.packed.read(place)
    }

    /// All steps.
    fn letters(&self, at: Waiting) -> impl Iterator<Item = LetterId> + '_ {
        let mut place = Some(self.link(at).letters);
        core::iter::from_fn(move || {
            let (letter, rest) = self.packed.read(place?);
            place = rest;
            Some(letter)
        })
    }

    /// What can follow them.
    fn rest(&self, at: Waiting) -> impl Iterator<Item = Waiting> + '_ {
        let some = |at: Waiting| (at != NONE).then_some(at);
        core::iter::successors(some(self.link(at).first), move |&at| some(self.link(at).next))
    }

    fn add(&mut self, letters: Place, first: Waiting) -> Waiting {
        let link = Link { letters, next: NONE, first };
        let at = self.free;
        if at == NONE {
            self.links.push(link);
            return Waiting((self.links.len() - 1) as u32);
        }
        self.free = self.link(at).next;
        *self.link_mut(at) = link;
        at
    }

    /// The steps of a sequence, and nothing that must follow them.
    pub(crate) fn add_sequence(&mut self, alphabet: &mut Alphabet, sequence: &Sequence<'_>) -> Waiting {
        self.add_letters(sequence.left().map(|letter| alphabet.keep(letter)))
    }

    /// The same for letters that were the caller's.
    pub(crate) fn add_letters(&mut self, letters: impl Iterator<Item = LetterId>) -> Waiting {
        if self.packed.is_wasteful() {
            self.pack();
        }
        let letters = self.packed.write(letters);
        self.add(letters, NONE)
    }

    /// Steps are taken: they are gone, and what can follow them is told. Their letters are the caller's now.
    pub(crate) fn take(&mut self, at: Waiting, mut each: impl FnMut(Waiting)) {
        let Link { letters, first: mut next, .. } = *self.link(at);
        while next != NONE {
            each(next);
            next = core::mem::replace(&mut self.link_mut(next).next, NONE);
        }
        self.packed.free(letters);
        *self.link_mut(at) = Link { letters: NOWHERE, next: self.free, first: NONE };
        self.free = at;
    }

    /// Steps and all that can follow them are left out.
    pub(crate) fn remove(&mut self, alphabet: &mut Alphabet, at: Waiting) {
        let mut left = vec![at];
        while let Some(at) = left.pop() {
            self.letters(at).for_each(|letter| alphabet.drop(letter));
            self.take(at, |next| left.push(next));
        }
    }

    /// Adds a sequence of which the first step is a weak initial, unless what is there covers it. What is left of the
    /// sequence means nothing then. Says whether anything was added.
    pub(crate) fn insert(
        &mut self,
        alphabet: &mut Alphabet,
        mut at: Waiting,
        mut initial: Initial,
        sequence: &mut Sequence<'_>,
    ) -> bool {
        let mut place = self.link(at).letters;
        let mut follows = self.packed.read(place).1;
        self.graft.turns.clear();
        let mut kept = 1;
        loop {
            sequence.pass(initial);
            if sequence.letters.is_empty() {
                return false;
            }
            if let Some(rest) = follows {
                let (letter, after) = self.packed.read(rest);
                initial = sequence.initial(alphabet, letter);
                if initial == Initial::No {
                    self.split(at, place, rest);
                    let other = self.add_sequence(alphabet, sequence);
                    let rest = self.link(at).first;
                    self.link_mut(rest).next = other;
                    self.graft.kept = kept;
                    return true;
                }
                (place, follows) = (rest, after);
                kept += 1;
                continue;
            }
            let mut next = self.link(at).first;
            if next == NONE {
                return false;
            }
            let mut turn = 0;
            loop {
                let Link { letters, next: after, .. } = *self.link(next);
                let (letter, rest) = self.packed.read(letters);
                initial = sequence.initial(alphabet, letter);
                if initial != Initial::No {
                    (at, place, follows) = (next, letters, rest);
                    self.graft.turns.push(turn);
                    kept = 1;
                    break;
                }
                if after == NONE {
                    self.link_mut(next).next = self.add_sequence(alphabet, sequence);
                    self.graft.kept = 0;
                    return true;
                }
                next = after;
                turn += 1;
            }
        }
    }

    /// Where the last sequence went that was inserted.
    pub(crate) fn last_graft(&self) -> &Graft {
        &self.graft
    }

    /// Inserts a sequence where one went before. None if there is no such place.
    pub(crate) fn graft(
        &mut self,
        at: Waiting,
        graft: &Graft,
        letters: impl Iterator<Item = LetterId>,
    ) -> Option<()> {
        let mut at = at;
        for &turn in &graft.turns {
            at = self.rest(at).nth(turn as usize)?;
        }
        if graft.kept > 0 {
            let mut place = self.link(at).letters;
            for _ in 1..graft.kept {
                place = self.packed.read(place).1?;
            }
            let rest = self.packed.read(place).1?;
            self.split(at, place, rest);
        }
        let last = self.rest(at).last()?;
        self.link_mut(last).next = self.add_letters(letters);
        Some(())
    }

    /// Nothing may follow any more than the steps from `rest` on: they become a link of their own, behind the one
    /// at `place`.
    fn split(&mut self, at: Waiting, place: Place, rest: Place) {
        let first = self.link(at).first;
        let rest = self.add(rest, first);
        self.link_mut(at).first = rest;
        self.packed.end_at(place);
    }

    /// Leaves out what is wasted.
    fn pack(&mut self) {
        let mut packed = Packed::default();
        for link in self.links.iter_mut().filter(|link| link.letters != NOWHERE) {
            link.letters = packed.copy(self.packed.bytes(link.letters));
        }
        self.packed = packed;
    }

    /// Number of sequences that begin with these steps.
    pub(crate) fn leaves(&self, at: Waiting) -> usize {
        let (mut left, mut leaves) = (vec![at], 0);
        while let Some(at) = left.pop() {
            leaves += usize::from(self.link(at).first == NONE);
            left.extend(self.rest(at));
        }
        leaves
    }

    /// Writes steps, the last one first, and all that can follow them.
    pub(crate) fn save(&self, alphabet: &Alphabet, at: Waiting, put: &mut Put<'_>) {
        let letters: Vec<LetterId> = self.letters(at).collect();
        put.list(letters.iter().rev(), |put, &letter| alphabet.get(letter).save(put));
        let rest: Vec<Waiting> = self.rest(at).collect();
        put.list(rest.iter(), |put, &next| self.save(alphabet, next, put));
    }

    /// Writes a step that nothing must follow, as [`Wakeups::save`] does.
    pub(crate) fn save_single(alphabet: &Alphabet, letter: LetterId, put: &mut Put<'_>) {
        put.list([letter].iter(), |put, &letter| alphabet.get(letter).save(put));
        put.list([].iter(), |_, ()| ());
    }

    pub(crate) fn load(&mut self, alphabet: &mut Alphabet, take: &mut Take<'_>) -> Result<Waiting, Unpack> {
        let letters = take.list(|take| Ok(alphabet.id(Letter::load(take)?)))?;
        if letters.is_empty() {
            return Err(Unpack::Nonsense("a branch without a step"));
        }
        let rest = take.list(|take| self.load(alphabet, take))?;
        for pair in rest.windows(2) {
            self.link_mut(pair[0]).next = pair[1];
        }
        let letters = self.packed.write(letters.into_iter().rev());
        Ok(self.add(letters, rest.first().copied().unwrap_or(NONE)))
    }
}
