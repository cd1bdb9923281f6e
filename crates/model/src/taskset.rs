//! A set of tasks as bits: whole sets are enabled or disabled at once, and a uniform draw is a
//! count and a select. Up to 64 tasks live in one word; more spill into a box.

use crate::dice::Dice;
use crate::ids::TaskId;
use alloc::{boxed::Box, vec::Vec};

/// A set of [`TaskId`]s.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct TaskSet {
    low: u64,
    // invariant: present only once a task with id 64 or more was inserted; grows, never shrinks.
    #[expect(clippy::box_collection, reason = "keeps the common set at two words")]
    high: Option<Box<Vec<u64>>>,
}

impl Clone for TaskSet {
    #[inline]
    fn clone(&self) -> TaskSet {
        TaskSet { low: self.low, high: self.high.clone() }
    }

    #[inline]
    fn clone_from(&mut self, other: &TaskSet) {
        self.low = other.low;
        if self.high.is_some() || other.high.is_some() {
            self.high.clone_from(&other.high);
        }
    }
}

impl TaskSet {
    /// The empty set.
    pub const EMPTY: TaskSet = TaskSet { low: 0, high: None };

    /// Adds a task.
    #[inline]
    pub fn insert(&mut self, task: TaskId) {
        if task.0 < 64 {
            self.low |= 1 << task.0;
        } else {
            self.insert_high(task);
        }
    }

    /// The same set with one more task.
    #[inline]
    #[must_use]
    pub fn with(&self, task: TaskId) -> TaskSet {
        if self.high.is_none() && task.0 < 64 {
            return TaskSet { low: self.low | 1 << task.0, high: None };
        }
        self.with_high(task)
    }

    #[inline(never)]
    fn with_high(&self, task: TaskId) -> TaskSet {
        let mut with = self.clone();
        with.insert(task);
        with
    }

    #[inline(never)]
    fn insert_high(&mut self, task: TaskId) {
        let word = task.index() / 64 - 1;
        let high = self.high.get_or_insert_default();
        if high.len() <= word {
            high.resize(word + 1, 0);
        }
        high[word] |= 1 << (task.0 % 64);
    }

    /// Takes a task out.
    #[inline]
    pub fn remove(&mut self, task: TaskId) {
        if task.0 < 64 {
            self.low &= !(1 << task.0);
        } else {
            self.remove_high(task);
        }
    }

    #[inline(never)]
    fn remove_high(&mut self, task: TaskId) {
        if let Some(word) = self.high.as_mut().and_then(|high| high.get_mut(task.index() / 64 - 1)) {
            *word &= !(1 << (task.0 % 64));
        }
    }

    /// Adds or takes out.
    #[inline]
    pub fn set(&mut self, task: TaskId, member: bool) {
        if member { self.insert(task) } else { self.remove(task) }
    }

    /// Whether nobody with an id of 64 or more has ever been in it.
    #[inline(always)]
    pub fn is_low(&self) -> bool {
        self.high.is_none()
    }

    /// Whether the task is in the set.
    #[inline]
    pub fn contains(&self, task: TaskId) -> bool {
        if task.0 < 64 { self.low >> task.0 & 1 == 1 } else { self.contains_high(task) }
    }

    #[inline(never)]
    fn contains_high(&self, task: TaskId) -> bool {
        let word = self.high.as_ref().and_then(|high| high.get(task.index() / 64 - 1));
        word.is_some_and(|w| w >> (task.0 % 64) & 1 == 1)
    }

    /// How many tasks are in the set.
    #[inline]
    pub fn len(&self) -> u32 {
        match &self.high {
            None => count(self.low),
            Some(high) => len_of_both(self.low, high),
        }
    }

    /// Whether nobody is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.low == 0 && self.high.as_ref().is_none_or(|high| none_in(high))
    }

    /// The only member, if there is exactly one.
    #[inline]
    pub fn single(&self) -> Option<TaskId> {
        if self.high.is_some() {
            return self.single_of_both();
        }
        (self.low.is_power_of_two()).then(|| TaskId(self.low.trailing_zeros()))
    }

    #[inline(never)]
    fn single_of_both(&self) -> Option<TaskId> {
        if self.len() == 1 { self.first() } else { None }
    }

    /// Whether there are two members or more.
    #[inline]
    pub fn several(&self) -> bool {
        self.low & self.low.wrapping_sub(1) != 0 || self.high.is_some() && self.len() > 1
    }

    /// The member with the lowest id.
    #[inline]
    pub fn first(&self) -> Option<TaskId> {
        if self.low != 0 { Some(TaskId(self.low.trailing_zeros())) } else { self.iter().next() }
    }

    /// The lowest member that is in the other set too.
    #[inline(always)]
    pub fn first_common(&self, other: &TaskSet) -> Option<TaskId> {
        let low = self.low & other.low;
        if low != 0 {
            return Some(TaskId(low.trailing_zeros()));
        }
        match (&self.high, &other.high) {
            (Some(ours), Some(theirs)) => first_common_of_high(ours, theirs),
            _ => None,
        }
    }

    /// The member with exactly `rank` members below it.
    #[inline]
    pub fn nth(&self, rank: u32) -> Option<TaskId> {
        if let Some(high) = &self.high {
            return nth_of_both(self.low, high, rank);
        }
        (rank < count(self.low)).then(|| TaskId(select(self.low, rank)))
    }

    // The same for a set that is known to have no high members, where `LOW` says so: without a branch.

    /// As [`TaskSet::insert`].
    #[inline(always)]
    pub fn insert_to<const LOW: bool>(&mut self, task: TaskId) {
        if LOW { self.low |= 1 << (task.0 & 63) } else { self.insert(task) }
    }

    /// As [`TaskSet::remove`].
    #[inline(always)]
    pub fn remove_from<const LOW: bool>(&mut self, task: TaskId) {
        if LOW { self.low &= !(1 << (task.0 & 63)) } else { self.remove(task) }
    }

    /// As [`TaskSet::union_with`].
    #[inline(always)]
    pub fn add<const LOW: bool>(&mut self, other: &TaskSet) {
        if LOW { self.low |= other.low } else { self.union_with(other) }
    }

    /// As [`TaskSet::subtract`].
    #[inline(always)]
    pub fn take_out<const LOW: bool>(&mut self, other: &TaskSet) {
        if LOW { self.low &= !other.low } else { self.subtract(other) }
    }

    /// The members below 64, one bit each.
    #[inline(always)]
    pub fn low(&self) -> u64 {
        self.low
    }

    /// The set with these members, one bit each.
    #[inline(always)]
    pub(crate) fn of_low(low: u64) -> TaskSet {
        TaskSet { low, high: None }
    }

    /// Has these members below 64 from now on, one bit each.
    #[inline(always)]
    pub fn set_low(&mut self, low: u64) {
        self.low = low;
    }

    /// One of the tasks that a word stands for, each with the same probability. There must be one.
    #[inline(always)]
    pub fn draw_low(word: u64, dice: &mut impl Dice) -> TaskId {
        match BYTES.get(word as usize) {
            Some(byte) => TaskId(u32::from(byte[dice.below(size(byte)) as usize & 7])),
            None => TaskId(select(word, dice.below(word.count_ones()))),
        }
    }

    /// The same if that takes no time; otherwise nothing was drawn.
    #[inline(always)]
    pub fn draw_low_at_once(word: u64, dice: &mut impl Dice) -> Option<TaskId> {
        let byte = BYTES.get(word as usize)?;
        Some(TaskId(u32::from(byte[dice.below_at_once(size(byte))? as usize & 7])))
    }

    /// The same among those of a ballot, if the word stands for them; otherwise nothing was drawn.
    #[inline(always)]
    pub fn draw_by(ballot: &Ballot, word: u64, dice: &mut impl Dice) -> Option<TaskId> {
        debug_assert!(word != 0, "raddle bug: a draw among nobody");
        if word != ballot.word {
            return None;
        }
        Some(TaskId(u32::from(ballot.tasks[dice.below_at_once(ballot.count)? as usize & 7])))
    }

    /// A member, each with the same probability. There must be one.
    #[inline(always)]
    pub fn draw(&self, dice: &mut impl Dice) -> TaskId {
        if self.high.is_none()
            && let Some(byte) = BYTES.get(self.low as usize)
        {
            let rank = dice.below(size(byte));
            return TaskId(u32::from(byte[rank as usize & 7]));
        }
        self.nth(dice.below(self.len())).expect("raddle bug: a draw among nobody")
    }

    /// Empties the set, keeping its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.low = 0;
        if let Some(high) = &mut self.high {
            high.fill(0);
        }
    }

    /// Adds all members of another set.
    #[inline]
    pub fn union_with(&mut self, other: &TaskSet) {
        self.low |= other.low;
        if let Some(theirs) = &other.high {
            self.union_with_high(theirs);
        }
    }

    #[inline(never)]
    fn union_with_high(&mut self, theirs: &[u64]) {
        let ours = self.high.get_or_insert_default();
        if ours.len() < theirs.len() {
            ours.resize(theirs.len(), 0);
        }
        for (a, b) in ours.iter_mut().zip(theirs) {
            *a |= b;
        }
    }

    /// Takes out all members of another set.
    #[inline]
    pub fn subtract(&mut self, other: &TaskSet) {
        self.low &= !other.low;
        if let Some(theirs) = &other.high {
            self.subtract_high(theirs);
        }
    }

    #[inline(never)]
    fn subtract_high(&mut self, theirs: &[u64]) {
        for (a, b) in self.high.iter_mut().flat_map(|ours| ours.iter_mut()).zip(theirs) {
            *a &= !b;
        }
    }

    /// Becomes a copy of another set, reusing memory.
    #[inline]
    pub fn copy_from(&mut self, other: &TaskSet) {
        self.low = other.low;
        if self.high.is_some() || other.high.is_some() {
            self.clone_from(other);
        }
    }

    /// Calls `each` with the members in ascending order: quicker than [`TaskSet::iter`].
    #[inline]
    pub fn for_each(&self, mut each: impl FnMut(TaskId)) {
        Bits(self.low).for_each(|bit| each(TaskId(bit)));
        if let Some(high) = &self.high {
            for (word, base) in high.iter().zip((64..).step_by(64)) {
                Bits(*word).for_each(|bit| each(TaskId(bit + base)));
            }
        }
    }

    /// The members in ascending order.
    #[inline]
    pub fn iter(&self) -> Members<'_> {
        Members {
            word: Bits(self.low),
            base: 0,
            rest: self.high.as_ref().map_or(&[], |high| high.as_slice()),
        }
    }
}

/// The members of a [`TaskSet`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    word: Bits,
    /// The first that the word can stand for.
    base: u32,
    rest: &'a [u64],
}

impl Iterator for Members<'_> {
    type Item = TaskId;

    #[inline]
    fn next(&mut self) -> Option<TaskId> {
        loop {
            if let Some(bit) = self.word.next() {
                return Some(TaskId(self.base + bit));
            }
            let (&word, rest) = self.rest.split_first()?;
            (self.word, self.rest, self.base) = (Bits(word), rest, self.base + 64);
        }
    }
}

impl FromIterator<TaskId> for TaskSet {
    fn from_iter<I: IntoIterator<Item = TaskId>>(tasks: I) -> TaskSet {
        let mut set = TaskSet::EMPTY;
        tasks.into_iter().for_each(|task| set.insert(task));
        set
    }
}

#[derive(Clone, Debug)]
struct Bits(u64);

impl Iterator for Bits {
    type Item = u32;
    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[inline(never)]
fn none_in(high: &[u64]) -> bool {
    high.iter().all(|&word| word == 0)
}

#[inline(never)]
fn len_of_both(low: u64, high: &[u64]) -> u32 {
    low.count_ones() + high.iter().map(|word| word.count_ones()).sum::<u32>()
}

#[inline(never)]
fn nth_of_both(low: u64, high: &[u64], mut rank: u32) -> Option<TaskId> {
    for (i, word) in core::iter::once(low).chain(high.iter().copied()).enumerate() {
        let here = count(word);
        if rank < here {
            return Some(TaskId(select(word, rank) + 64 * i as u32));
        }
        rank -= here;
    }
    None
}

#[inline(never)]
fn first_common_of_high(ours: &[u64], theirs: &[u64]) -> Option<TaskId> {
    let common = |(i, (a, b)): (usize, (&u64, &u64))| {
        let both = a & b;
        (both != 0).then(|| TaskId(both.trailing_zeros() + 64 * (i as u32 + 1)))
    };
    ours.iter().zip(theirs).enumerate().find_map(common)
}

/// A few tasks to draw from again and again: who they are has been looked up. Whom a draw gives then hangs on the dice
/// alone, and a processor need not wait for the last one to know who can run now: it goes on as if they were the same.
#[derive(Clone, Debug, Default)]
pub struct Ballot {
    // invariant: two members or more, or nobody.
    word: u64,
    tasks: [u8; 8],
    count: u32,
}

impl Ballot {
    /// Is about those that a word stands for from now on, if they are few and there is something to draw.
    #[inline]
    pub fn put(&mut self, word: u64) {
        if let Some(&[ref tasks @ .., last]) = BYTES.get(word as usize)
            && word & word.wrapping_sub(1) != 0
        {
            *self = Ballot { word, tasks: *tasks, count: u32::from(last) + 1 };
        }
    }
}

/// A byte's bits: entry `r` is the position of the set bit that has `r` set bits below it, and the
/// last entry is their number without one. (So it is plain that a draw is not among nobody, of which there is no byte.)
///
/// Draws happen at every step, most runs have a handful of tasks, and the processors that programs
/// are built for by default have no instruction that counts bits.
static BYTES: [[u8; 9]; 256] = {
    let mut table = [[0; 9]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut rank) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][rank] = bit;
                rank += 1;
            }
            bit += 1;
        }
        table[byte][8] = (rank as u8).wrapping_sub(1);
        byte += 1;
    }
    table
};

/// How many bits a byte has that has any.
#[inline(always)]
fn size(byte: &[u8; 9]) -> u32 {
    u32::from(byte[8]) + 1
}

#[inline]
fn count(word: u64) -> u32 {
    match BYTES.get(word as usize) {
        Some(_) if word == 0 => 0,
        Some(byte) => size(byte),
        None => word.count_ones(),
    }
}

/// The position of the set bit that has `rank` set bits below it; there must be one.
#[inline]
fn select(word: u64, rank: u32) -> u32 {
    if word < 256 && rank < 8 {
        return u32::from(BYTES[word as usize][rank as usize]);
    }
    select_in_word(word, rank)
}

/// Finds the byte by the sums of all bytes up to each, side by side in one word (Vigna, WEA 2008):
/// constant work however many tasks there are.
#[inline(never)]
fn select_in_word(word: u64, rank: u32) -> u32 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = ONES << 7;
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let sums = ((nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(ONES);
    let full = ((((u64::from(rank) * ONES) | TOPS) - sums) & TOPS) >> 7;
    let at = (full.wrapping_mul(ONES) >> 56) * 8;
    let below = (sums << 8) >> at & 0xff;
    let rank = rank as usize - below as usize;
    at as u32 + u32::from(BYTES[(word >> at & 0xff) as usize][rank])
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    #[test]
    fn behaves_like_a_plain_set() {
        let mut rng = crate::dice::Rng::new(3);
        for span in [10, 64, 65, 200] {
            let (mut bits, mut plain) = (TaskSet::EMPTY, BTreeSet::new());
            for _ in 0..2000 {
                let task = TaskId((rng.next_u64() % span) as u32);
                let with: BTreeSet<TaskId> = plain.iter().copied().chain([task]).collect();
                assert!(bits.with(task).iter().eq(with));
                if rng.next_u64().is_multiple_of(2) {
                    bits.insert(task);
                    plain.insert(task);
                } else {
                    bits.remove(task);
                    plain.remove(&task);
                }
                assert_eq!(bits.len() as usize, plain.len());
                assert_eq!(bits.first(), plain.first().copied());
                assert_eq!(bits.is_empty(), plain.is_empty());
                assert_eq!(bits.single(), (plain.len() == 1).then(|| *plain.first().unwrap()));
                assert!(bits.iter().eq(plain.iter().copied()));
                for (rank, &member) in plain.iter().enumerate() {
                    assert_eq!(bits.nth(rank as u32), Some(member));
                }
                assert_eq!(bits.nth(plain.len() as u32), None);
            }
        }
    }

    #[test]
    fn what_a_ballot_gives_is_what_is_drawn() {
        let mut rng = crate::dice::Rng::new(8);
        let (mut one, mut other) = (crate::dice::Rng::new(4), crate::dice::Rng::new(4));
        let mut ballot = Ballot::default();
        let (mut word, mut given) = (2, 0);
        for _ in 0..20_000 {
            if rng.next_u64().is_multiple_of(4) {
                word = rng.next_u64() & [0xf, 0xff, 0xfff][rng.next_u64() as usize % 3] | 2;
            }
            if rng.next_u64().is_multiple_of(4) {
                ballot.put(word);
            }
            let before = one.state();
            match TaskSet::draw_by(&ballot, word, &mut one) {
                Some(task) => {
                    given += 1;
                    assert!(word.count_ones() > 1, "nothing is drawn where there is nothing to choose");
                    assert_eq!(task, TaskSet::draw_low(word, &mut other));
                }
                None => assert_eq!(one.state(), before),
            }
            assert_eq!(one.state(), other.state());
        }
        assert!((4_000..16_000).contains(&given), "{given}");
    }
}
