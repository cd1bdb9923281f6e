//! Wakeup trees (Abdulla, Aronis, Jonsson and Sagonas, POPL 2014): the sequences of steps that must
//! still be taken from a state, such that none of them leads into a partial order that another
//! one covers.
//!
//! A sequence covers another if both can be continued to the same partial order. What that means is
//! decided step by step: a step is a *weak initial* of a sequence if the sequence can be reordered to
//! begin with it, or if it conflicts with nothing in it.
//!
//! There may be as many sequences as runs, so that each of their steps takes twelve bytes and nothing else.

use super::alphabet::{Alphabet, LetterId};
use super::letter::{Letter, Relation};
use raddle_wire::Unpack;
use raddle_wire::journal::{Put, Take};

/// A sequence of steps of a run, and one more at its end.
pub(crate) struct Sequence<'a> {
    /// Positions in `letters`; [`LAST`] stands for the one more.
    pub(crate) steps: &'a mut Vec<usize>,
    pub(crate) letters: &'a [LetterId],
    pub(crate) last: LetterId,
    /// Number of objects that all runs through the state know by their ids.
    pub(crate) known: u32,
}

/// See [`Sequence::steps`].
pub(crate) const LAST: usize = usize::MAX;

/// How a step relates to a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Initial {
    /// The sequence can begin with it: it is the one at this position.
    At(usize),
    /// It is not in the sequence and conflicts with nothing in it.
    Apart,
    /// Neither.
    No,
}

impl Sequence<'_> {
    fn letter(&self, step: usize) -> LetterId {
        if step == LAST { self.last } else { self.letters[step] }
    }

    /// Whether a step is a weak initial.
    pub(crate) fn initial(&self, alphabet: &Alphabet, step: LetterId) -> Initial {
        let letter = alphabet.get(step);
        for (position, &other) in self.steps.iter().enumerate() {
            match letter.relation(alphabet.get(self.letter(other)), self.known) {
                Relation::Same => return Initial::At(position),
                Relation::Conflict => return Initial::No,
                Relation::Apart => {}
            }
        }
        Initial::Apart
    }

    /// What is left of it after a step that is a weak initial.
    pub(crate) fn pass(&mut self, initial: Initial) {
        if let Initial::At(position) = initial {
            self.steps.remove(position);
        }
    }
}

/// A step that waits to be taken, and stands for all that can follow it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waiting(u32);

const NONE: Waiting = Waiting(u32::MAX);

/// One step of a wakeup tree: what can be taken instead, and what must follow; nothing must if there is none.
#[derive(Clone, Copy, Debug)]
struct Link {
    letter: LetterId,
    next: Waiting,
    first: Waiting,
}

/// The wakeup trees of all states.
#[derive(Clone, Debug)]
pub(crate) struct Wakeups {
    links: Vec<Link>,
    free: Waiting,
}

impl Default for Wakeups {
    fn default() -> Wakeups {
        Wakeups { links: Vec::new(), free: NONE }
    }
}

impl Wakeups {
    fn link(&self, at: Waiting) -> &Link {
        &self.links[at.0 as usize]
    }

    fn link_mut(&mut self, at: Waiting) -> &mut Link {
        &mut self.links[at.0 as usize]
    }

    /// The step.
    pub(crate) fn letter(&self, at: Waiting) -> LetterId {
        self.link(at).letter
    }

    /// What can follow it.
    fn rest(&self, at: Waiting) -> impl Iterator<Item = Waiting> + '_ {
        let some = |at: Waiting| (at != NONE).then_some(at);
        core::iter::successors(some(self.link(at).first), move |&at| some(self.link(at).next))
    }

    fn add(&mut self, letter: LetterId, first: Waiting) -> Waiting {
        let link = Link { letter, next: NONE, first };
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
        let steps = sequence.steps.iter().rev();
        steps.fold(NONE, |rest, &step| self.add(alphabet.keep(sequence.letter(step)), rest))
    }

    /// A step is taken: it is gone, and what can follow it is told. Its letter is the caller's now.
    pub(crate) fn take(&mut self, at: Waiting, mut each: impl FnMut(Waiting)) {
        let mut next = self.link(at).first;
        while next != NONE {
            each(next);
            next = core::mem::replace(&mut self.link_mut(next).next, NONE);
        }
        self.link_mut(at).next = self.free;
        self.free = at;
    }

    /// A step and all that can follow it are left out.
    pub(crate) fn remove(&mut self, alphabet: &mut Alphabet, at: Waiting) {
        let mut left = vec![at];
        while let Some(at) = left.pop() {
            alphabet.drop(self.letter(at));
            self.take(at, |next| left.push(next));
        }
    }

    /// Adds a sequence of which the step is a weak initial, unless what is there covers it. What is left of the
    /// sequence means nothing then. Says whether anything was added.
    pub(crate) fn insert(
        &mut self,
        alphabet: &mut Alphabet,
        mut at: Waiting,
        mut initial: Initial,
        sequence: &mut Sequence<'_>,
    ) -> bool {
        loop {
            sequence.pass(initial);
            let mut next = self.link(at).first;
            if sequence.steps.is_empty() || next == NONE {
                return false;
            }
            loop {
                initial = sequence.initial(alphabet, self.letter(next));
                if initial != Initial::No {
                    at = next;
                    break;
                }
                let after = self.link(next).next;
                if after == NONE {
                    self.link_mut(next).next = self.add_sequence(alphabet, sequence);
                    return true;
                }
                next = after;
            }
        }
    }

    /// Number of sequences that begin with a step.
    pub(crate) fn leaves(&self, at: Waiting) -> usize {
        let (mut left, mut leaves) = (vec![at], 0);
        while let Some(at) = left.pop() {
            leaves += usize::from(self.link(at).first == NONE);
            left.extend(self.rest(at));
        }
        leaves
    }

    /// Writes a step and all that can follow it: those that have only one to follow in one go, the last one first.
    pub(crate) fn save(&self, alphabet: &Alphabet, mut at: Waiting, put: &mut Put<'_>) {
        let mut letters = vec![self.letter(at)];
        while self.rest(at).count() == 1 {
            at = self.link(at).first;
            letters.push(self.letter(at));
        }
        put.list(letters.iter().rev(), |put, &letter| alphabet.get(letter).save(put));
        let rest: Vec<Waiting> = self.rest(at).collect();
        put.list(rest.iter(), |put, &next| self.save(alphabet, next, put));
    }

    pub(crate) fn load(&mut self, alphabet: &mut Alphabet, take: &mut Take<'_>) -> Result<Waiting, Unpack> {
        let letters = take.list(Letter::load)?;
        if letters.is_empty() {
            return Err(Unpack::Nonsense("a branch without a step"));
        }
        let rest = take.list(|take| self.load(alphabet, take))?;
        for pair in rest.windows(2) {
            self.link_mut(pair[0]).next = pair[1];
        }
        let rest = rest.first().copied().unwrap_or(NONE);
        Ok(letters.into_iter().fold(rest, |rest, letter| self.add(alphabet.id(letter), rest)))
    }
}
