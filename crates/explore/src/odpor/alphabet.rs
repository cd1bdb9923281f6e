//! The letters of a search, each kept once. Searches hold millions of sequences of them, so that a sequence is made of
//! numbers: a program has few operations, and each run does nearly all of them again.

use super::letter::{Letter, Relation, STABLE};
use crate::path::is_simple;
use core::num::NonZeroU32;
use hashbrown::HashTable;
use raddle_model::{Kind, Op, hash};

/// A letter, by its place among all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LetterId(u32);

/// Set in the number of a letter that has more to it than its operation. Such letters belong to one run, so they are
/// counted and go when nobody has them any more.
const MORE: u32 = 1 << 31;

/// Number of letters whose relations are written down.
const FEW: usize = 256;

impl LetterId {
    /// As a number: small ones for letters that were seen early.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// The letter that has this number.
    pub(crate) fn of(number: u32) -> LetterId {
        LetterId(number)
    }

    /// As a path calls steps.
    pub(crate) fn name(self) -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add(self.0)
    }

    /// The letter that a path calls so.
    #[inline]
    pub(crate) fn called(name: NonZeroU32) -> LetterId {
        LetterId(name.get() - 1)
    }

    /// Whether there is more to it than its operation.
    #[inline]
    pub(crate) fn has_more(self) -> bool {
        self.0 & MORE != 0
    }
}

/// All letters.
#[derive(Clone, Default, Debug)]
pub(crate) struct Alphabet {
    // Those that are only an operation of a task, and where to find them.
    plain: Vec<Letter>,
    // Which of them are simple: see [`Alphabet::is_simple`].
    simple: Vec<bool>,
    places: HashTable<u32>,
    // How the first of them relate to each other: searches ask all the time.
    relations: Vec<[Relation; FEW]>,
    // The others, with the number of those that have them, and which places are free.
    more: Vec<(Letter, u32)>,
    free: Vec<u32>,
}

impl Alphabet {
    /// The number of a letter. Whoever got it has it: see [`Alphabet::keep`].
    pub(crate) fn id(&mut self, letter: Letter) -> LetterId {
        if letter.more.is_none() { self.plain_id(letter.task, &letter.op) } else { self.add(letter) }
    }

    /// The number of a letter that is only an operation of a task.
    #[inline]
    pub(crate) fn plain_id(&mut self, task: u64, op: &Op) -> LetterId {
        let Alphabet { plain, simple, places, .. } = self;
        let key = key(task, op);
        let known = places.find(key, |&at| {
            let letter = &plain[at as usize];
            letter.task == task && letter.op == *op
        });
        if let Some(&at) = known {
            return LetterId(at);
        }
        let at = plain.len() as u32;
        plain.push(Letter { task, op: *op, more: None });
        let on_task = op.object.0 >= STABLE || matches!(op.kind, Kind::Exit | Kind::Join | Kind::Finished);
        simple.push(is_simple(op) && !on_task);
        let again = |&at: &u32| {
            let letter = &plain[at as usize];
            self::key(letter.task, &letter.op)
        };
        places.insert_unique(key, at, again);
        self.relate(at as usize);
        LetterId(at)
    }

    /// Writes down how a new letter relates to those before it.
    fn relate(&mut self, at: usize) {
        if at >= FEW {
            return;
        }
        self.relations.resize(at + 1, [Relation::Apart; FEW]);
        for other in 0..=at {
            // No object of theirs is one that only some runs know.
            let letters = [at, other].map(|letter| &self.plain[letter]);
            self.relations[at][other] = letters[0].relation(letters[1], 0);
            self.relations[other][at] = letters[1].relation(letters[0], 0);
        }
    }

    fn add(&mut self, letter: Letter) -> LetterId {
        let at = self.free.pop().unwrap_or(self.more.len() as u32);
        match self.more.get_mut(at as usize) {
            Some(place) => *place = (letter, 1),
            None => self.more.push((letter, 1)),
        }
        LetterId(at | MORE)
    }

    /// The letter.
    #[inline]
    pub(crate) fn get(&self, id: LetterId) -> &Letter {
        if id.0 & MORE == 0 { &self.plain[id.0 as usize] } else { &self.more[(id.0 & !MORE) as usize].0 }
    }

    /// Whether it is a simple operation on an object that stands for no task, and nothing else.
    #[inline]
    pub(crate) fn is_simple(&self, id: LetterId) -> bool {
        self.simple.get(id.0 as usize).is_some_and(|&simple| simple)
    }

    /// One more has it.
    #[inline]
    pub(crate) fn keep(&mut self, id: LetterId) -> LetterId {
        if id.has_more() {
            self.more[(id.0 & !MORE) as usize].1 += 1;
        }
        id
    }

    /// Whether some letter ever had more to it than its operation: nobody else counts those who have it.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        !self.more.is_empty()
    }

    /// One who had it has it no more.
    #[inline]
    pub(crate) fn drop(&mut self, id: LetterId) {
        if id.has_more() {
            self.drop_more(id.0 & !MORE);
        }
    }

    fn drop_more(&mut self, at: u32) {
        let (letter, count) = &mut self.more[at as usize];
        *count -= 1;
        if *count == 0 {
            letter.more = None;
            self.free.push(at);
        }
    }

    /// How a step relates to others.
    #[inline]
    pub(crate) fn relations(&self, one: LetterId, known: u32) -> Relations<'_> {
        Relations { alphabet: self, row: self.relations.get(one.0 as usize), one, known }
    }

    /// How a step relates to another that comes next. `known` is the number of objects that both runs have in common.
    #[inline(always)]
    pub(crate) fn relation(&self, one: LetterId, other: LetterId, known: u32) -> Relation {
        let [row, column] = [one, other].map(|letter| letter.0 as usize);
        match self.relations.get(row) {
            Some(row) if column < FEW => row[column],
            _ => self.find_relation(one, other, known),
        }
    }

    #[inline(never)]
    fn find_relation(&self, one: LetterId, other: LetterId, known: u32) -> Relation {
        self.get(one).relation(self.get(other), known)
    }
}

/// How a step relates to others that come next: see [`Alphabet::relation`].
pub(crate) struct Relations<'a> {
    alphabet: &'a Alphabet,
    row: Option<&'a [Relation; FEW]>,
    one: LetterId,
    known: u32,
}

impl Relations<'_> {
    #[inline]
    pub(crate) fn to(&self, other: LetterId) -> Relation {
        match self.row.and_then(|row| row.get(other.0 as usize)) {
            Some(&relation) => relation,
            None => self.alphabet.relation(self.one, other, self.known),
        }
    }
}

/// Equal letters have equal ones, and few others do.
#[inline]
fn key(task: u64, op: &Op) -> u64 {
    let place = u64::from(op.site.0) << 8 | op.kind as u64;
    let objects = u64::from(op.object.0) << 32 | u64::from(op.second.0);
    hash::mix(hash::fold(task ^ place, objects | 1) ^ u64::from(op.span.start), op.arg ^ task)
}
