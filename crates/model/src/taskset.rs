//! A set of tasks as bits: whole sets are enabled or disabled at once, and a uniform draw is a
//! count and a select. Up to 64 tasks live in one word; more spill into a box.

use crate::ids::TaskId;
use alloc::{boxed::Box, vec::Vec};

/// A set of [`TaskId`]s.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct TaskSet {
    low: u64,
    // invariant: present only once a task with id 64 or more was inserted; grows, never shrinks.
    #[expect(clippy::box_collection, reason = "keeps the common set at two words")]
    high: Option<Box<Vec<u64>>>,
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

    #[cold]
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
        } else if let Some(word) = self.high.as_mut().and_then(|high| high.get_mut(task.index() / 64 - 1)) {
            *word &= !(1 << (task.0 % 64));
        }
    }

    /// Adds or takes out.
    #[inline]
    pub fn set(&mut self, task: TaskId, member: bool) {
        if member { self.insert(task) } else { self.remove(task) }
    }

    /// Whether the task is in the set.
    #[inline]
    pub fn contains(&self, task: TaskId) -> bool {
        if task.0 < 64 {
            self.low >> task.0 & 1 == 1
        } else {
            self.high
                .as_ref()
                .and_then(|high| high.get(task.index() / 64 - 1))
                .is_some_and(|w| w >> (task.0 % 64) & 1 == 1)
        }
    }

    /// How many tasks are in the set.
    #[inline]
    pub fn len(&self) -> u32 {
        let high: u32 = self.high.as_ref().map_or(0, |high| high.iter().map(|w| w.count_ones()).sum());
        self.low.count_ones() + high
    }

    /// Whether nobody is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.low == 0 && self.high.as_ref().is_none_or(|high| high.iter().all(|&w| w == 0))
    }

    /// The only member, if there is exactly one.
    #[inline]
    pub fn single(&self) -> Option<TaskId> {
        if self.high.is_none() {
            return (self.low.is_power_of_two()).then(|| TaskId(self.low.trailing_zeros()));
        }
        if self.len() == 1 { self.first() } else { None }
    }

    /// The member with the lowest id.
    #[inline]
    pub fn first(&self) -> Option<TaskId> {
        if self.low != 0 { Some(TaskId(self.low.trailing_zeros())) } else { self.iter().next() }
    }

    /// The member with exactly `rank` members below it.
    #[inline]
    pub fn nth(&self, rank: u32) -> Option<TaskId> {
        let in_low = self.low.count_ones();
        if rank < in_low {
            return Some(TaskId(select(self.low, rank)));
        }
        let mut rank = rank - in_low;
        for (i, &word) in self.high.as_ref()?.iter().enumerate() {
            let here = word.count_ones();
            if rank < here {
                return Some(TaskId(select(word, rank) + 64 * (i as u32 + 1)));
            }
            rank -= here;
        }
        None
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
            let ours = self.high.get_or_insert_default();
            if ours.len() < theirs.len() {
                ours.resize(theirs.len(), 0);
            }
            for (a, b) in ours.iter_mut().zip(theirs.iter()) {
                *a |= b;
            }
        }
    }

    /// Takes out all members of another set.
    #[inline]
    pub fn subtract(&mut self, other: &TaskSet) {
        self.low &= !other.low;
        if let (Some(ours), Some(theirs)) = (&mut self.high, &other.high) {
            for (a, b) in ours.iter_mut().zip(theirs.iter()) {
                *a &= !b;
            }
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

    /// The members in ascending order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = TaskId> + '_ {
        let words = core::iter::once(self.low).chain(self.high.iter().flat_map(|high| high.iter().copied()));
        words.enumerate().flat_map(|(i, word)| Bits(word).map(move |bit| TaskId(bit + 64 * i as u32)))
    }
}

impl FromIterator<TaskId> for TaskSet {
    fn from_iter<I: IntoIterator<Item = TaskId>>(tasks: I) -> TaskSet {
        let mut set = TaskSet::EMPTY;
        tasks.into_iter().for_each(|task| set.insert(task));
        set
    }
}

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

/// The position of the set bit that has `rank` set bits below it.
#[inline]
fn select(word: u64, rank: u32) -> u32 {
    if rank < 8 {
        let mut word = word;
        for _ in 0..rank {
            word &= word - 1;
        }
        return word.trailing_zeros();
    }
    // Halve the word until one bit is left: constant work however many tasks there are.
    let (mut word, mut rank, mut base, mut width) = (word, rank, 0, 32);
    while width > 0 {
        let lower = (word & ((1 << width) - 1)).count_ones();
        if rank >= lower {
            rank -= lower;
            base += width;
            word >>= width;
        }
        width /= 2;
    }
    base
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
                if rng.next_u64() % 2 == 0 {
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
}
