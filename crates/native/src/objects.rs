//! Which object an address is. Addresses are looked up and never compared or enumerated: an object's number is
//! the order of its first use, so nothing that a run does depends on where memory happens to lie.
//!
//! Synchronization objects are what the program calls them by. Memory is divided into words of four bytes,
//! each of them an object: an access to more has an object for each. So accesses to neighbouring variables do
//! not conflict, and an operation on eight bytes needs no more than its two extents. What lies at several addresses
//! is looked up by its home.
//!
//! An atomic of more than a word is its first word, since nearly always nobody has anything to do with a part of it alone.
//! Where somebody has, whoever comes to the second of two that overlap has the other as another extent; and one of
//! them, if there are several.

use crate::mappings::Mappings;
use alloc::vec::Vec;
use core::hash::{BuildHasherDefault, Hasher};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use raddle_model::ObjectId;

/// Mixes one word: addresses need no more.
#[derive(Clone, Copy, Default, Debug)]
pub struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_usize(usize::from(byte));
        }
    }
    fn write_usize(&mut self, word: usize) {
        self.0 = (self.0 ^ word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
    fn write_u64(&mut self, word: u64) {
        self.write_usize(word as usize);
    }
}

/// A map by address.
pub type ByAddress<T> = HashMap<usize, T, BuildHasherDefault<AddressHasher>>;

/// Bytes of a word of memory.
pub const WORD: usize = 4;

/// The objects of a run by address.
#[derive(Clone, Debug)]
pub struct Objects {
    /// Which addresses are the same memory.
    pub mappings: Mappings,
    // By their homes.
    sync: ByAddress<ObjectId>,
    words: ByAddress<ObjectId>,
    // Words that were looked up lately, each in the one place that its number says.
    near: [(usize, ObjectId); NEAR],
    // The same for synchronization objects, which lie further apart.
    near_sync: [(usize, ObjectId); NEAR],
    // How many words atomics of several have, by their first.
    wide: ByAddress<usize>,
    // The first words of those that were looked up lately, each with how many it has.
    near_wide: [(usize, ObjectId); NEAR],
    // Whether a part of one is an object, too.
    mixed: bool,
    // Synchronization objects that are no more.
    gone: ByAddress<ObjectId>,
}

/// Most words of an atomic.
const WIDE_MAX: usize = 4;

/// Bytes of the smallest of them, nearly always.
const SYNC: usize = 16;

/// No word has this number, and no object this address.
const NOWHERE: (usize, ObjectId) = (usize::MAX, ObjectId::NONE);

/// How many of them there are.
const NEAR: usize = 16;

/// Tells atomics of several words apart that begin with the same one: words are numbers below this.
fn tag(size: usize) -> usize {
    size << (usize::BITS - 5)
}

impl Default for Objects {
    fn default() -> Objects {
        Objects {
            mappings: Mappings::default(),
            sync: ByAddress::default(),
            words: ByAddress::default(),
            near: [NOWHERE; NEAR],
            near_sync: [NOWHERE; NEAR],
            wide: ByAddress::default(),
            near_wide: [NOWHERE; NEAR],
            mixed: false,
            gone: ByAddress::default(),
        }
    }
}

impl Objects {
    /// The synchronization object at an address.
    #[inline(always)]
    pub fn sync(&mut self, address: usize) -> Option<ObjectId> {
        let (near, object) = self.near_sync[address / SYNC % NEAR];
        if near == address { Some(object) } else { self.far_sync(address) }
    }

    #[inline(never)]
    fn far_sync(&mut self, address: usize) -> Option<ObjectId> {
        let object = *self.sync.get(&self.mappings.home(address))?;
        self.near_sync[address / SYNC % NEAR] = (address, object);
        Some(object)
    }

    /// Makes room for so many synchronization objects.
    pub fn reserve(&mut self, objects: usize) {
        self.sync.reserve(objects);
    }

    /// From now on the address is this one.
    pub fn set_sync(&mut self, address: usize, object: ObjectId) {
        let home = self.mappings.home(address);
        if home != address {
            // Another may have been known by another address.
            self.forget_near();
        }
        self.sync.insert(home, object);
        self.near_sync[address / SYNC % NEAR] = (address, object);
    }

    /// There is nothing any more.
    pub fn remove_sync(&mut self, address: usize) {
        self.forget_near();
        let home = self.mappings.home(address);
        if let Some(object) = self.sync.remove(&home) {
            self.gone.insert(home, object);
        }
    }

    /// The synchronization object that is or was at an address.
    pub fn last_sync(&mut self, address: usize) -> Option<ObjectId> {
        self.sync(address).or_else(|| self.gone.get(&self.mappings.home(address)).copied())
    }

    /// The word of memory that holds the byte at `address`; `make` gives out the number of a new one.
    #[inline(always)]
    pub fn word(&mut self, address: usize, make: impl FnOnce() -> ObjectId) -> ObjectId {
        let word = address / WORD;
        let (near, object) = self.near[word % NEAR];
        if near == word { object } else { self.far_word(word, make) }
    }

    #[inline(never)]
    fn far_word(&mut self, word: usize, make: impl FnOnce() -> ObjectId) -> ObjectId {
        let home = self.mappings.home(word * WORD) / WORD;
        let object = match self.words.entry(home) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                let object = *place.insert(make());
                let mixed = self.around(home).next().is_some();
                self.mixed |= mixed;
                object
            }
        };
        self.near[word % NEAR] = (word, object);
        object
    }

    /// The object of an atomic; and another that it overlaps with, if there is one.
    #[inline(always)]
    pub fn atomic(
        &mut self,
        address: usize,
        size: usize,
        make: impl FnOnce() -> ObjectId,
    ) -> (ObjectId, ObjectId) {
        let word = address / WORD;
        let (near, object) =
            if size > WORD { self.near_wide[word / 2 % NEAR] } else { self.near[word % NEAR] };
        let simple = near == if size > WORD { word | tag(size) } else { word } && !self.mixed;
        if simple { (object, ObjectId::NONE) } else { self.far_atomic(word, size, make) }
    }

    #[inline(never)]
    fn far_atomic(
        &mut self,
        word: usize,
        size: usize,
        make: impl FnOnce() -> ObjectId,
    ) -> (ObjectId, ObjectId) {
        let object = self.word(word * WORD, make);
        let (home, words) = (self.mappings.home(word * WORD) / WORD, size.div_ceil(WORD));
        if words > 1 {
            let known = self.wide.entry(home).or_default();
            *known = words.max(*known);
            self.near_wide[word / 2 % NEAR] = (word | tag(size), object);
            let mixed = self.within(home, words).next().is_some();
            self.mixed |= mixed;
        }
        let other = self.mixed.then(|| self.around(home).chain(self.within(home, words)).next()).flatten();
        (object, other.unwrap_or(ObjectId::NONE))
    }

    /// All that an atomic overlaps with.
    pub fn others(&self, address: usize, size: usize) -> Vec<ObjectId> {
        let home = self.mappings.home(address) / WORD;
        self.around(home).chain(self.within(home, size.div_ceil(WORD))).collect()
    }

    /// The atomics that a word is a part of without being their first.
    pub fn around(&self, home: usize) -> impl Iterator<Item = ObjectId> {
        let most = if self.wide.is_empty() { 0 } else { WIDE_MAX.min(home) };
        let reaches =
            move |before: &usize| self.wide.get(&(home - before)).is_some_and(|words| words > before);
        (1..most).filter(reaches).filter_map(move |before| self.words.get(&(home - before)).copied())
    }

    /// What lies behind the first of these words.
    fn within(&self, home: usize, words: usize) -> impl Iterator<Item = ObjectId> {
        (1..words).filter_map(move |at| self.words.get(&(home + at)).copied())
    }

    /// The synchronization objects in these bytes, in the order in which they lie there.
    pub fn sync_in(&self, start: usize, size: usize) -> Vec<ObjectId> {
        let mut inside: Vec<(usize, ObjectId)> = if self.sync.len() < size {
            let all = self.sync.iter().map(|(&address, &object)| (address, object));
            all.filter(|(address, _)| (start..start + size).contains(address)).collect()
        } else {
            (start..start + size).filter_map(|address| Some((address, *self.sync.get(&address)?))).collect()
        };
        inside.sort_unstable();
        inside.into_iter().map(|(_, object)| object).collect()
    }

    /// Where each is that is still there, in the order of their numbers.
    pub fn places(&self) -> Vec<(ObjectId, usize)> {
        let sync = self.sync.iter().map(|(&address, &object)| (object, address));
        let words = self.words.iter().map(|(&word, &object)| (object, word * WORD));
        let mut all: Vec<(ObjectId, usize)> = sync.chain(words).collect();
        all.sort_unstable();
        all
    }

    /// There is none.
    pub fn clear(&mut self) {
        self.sync.clear();
        self.gone.clear();
        self.words.clear();
        self.wide.clear();
        self.mixed = false;
        self.forget_near();
    }

    fn forget_near(&mut self) {
        (self.near, self.near_sync, self.near_wide) = ([NOWHERE; NEAR], [NOWHERE; NEAR], [NOWHERE; NEAR]);
    }

    /// The memory is another's from now on: what lay there has nothing to do with what will.
    pub fn forget(&mut self, start: usize, size: usize) {
        let end = start + size;
        self.forget_near();
        self.gone.retain(|&at, _| at < start || at >= end);
        if self.words.len() + self.sync.len() < size / WORD {
            self.words.retain(|&word, _| word * WORD + WORD <= start || word * WORD >= end);
            self.wide.retain(|&word, _| word * WORD + WORD <= start || word * WORD >= end);
            self.sync.retain(|&at, _| at < start || at >= end);
        } else {
            for word in start / WORD..end.div_ceil(WORD) {
                self.words.remove(&word);
                self.wide.remove(&word);
                self.sync.remove(&(word * WORD));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: ObjectId = ObjectId::NONE;

    /// Comes to atomics of these sizes at these addresses, one after the other.
    fn met(atomics: &[(usize, usize)]) -> Vec<(ObjectId, ObjectId)> {
        let (mut objects, mut next) = (Objects::default(), 0);
        let mut look = |&(address, size): &(usize, usize)| {
            objects.atomic(address, size, || {
                next += 1;
                ObjectId(next)
            })
        };
        atomics.iter().map(&mut look).collect()
    }

    #[test]
    fn who_comes_second_to_a_part_has_both() {
        let [a, b] = [ObjectId(1), ObjectId(2)];
        assert_eq!(met(&[(0x100, 8), (0x104, 4)]), [(a, NONE), (b, a)]);
        assert_eq!(met(&[(0x104, 4), (0x100, 8)]), [(a, NONE), (b, a)]);
        assert_eq!(met(&[(0x108, 8), (0x100, 16)]), [(a, NONE), (b, a)]);
        assert_eq!(met(&[(0x100, 16), (0x108, 8), (0x100, 16)]), [(a, NONE), (b, a), (a, b)]);
        assert_eq!(met(&[(0x100, 16), (0x10c, 4)]), [(a, NONE), (b, a)]);
        assert_eq!(met(&[(0x108, 8), (0x100, 8), (0x100, 16)]), [(a, NONE), (b, NONE), (b, a)]);
    }

    #[test]
    fn there_may_be_several_others() {
        let (mut objects, mut next) = (Objects::default(), 0);
        for (address, size) in [(0x104, 4), (0x108, 8), (0x100, 16)] {
            next += 1;
            objects.atomic(address, size, || ObjectId(next));
        }
        assert_eq!(objects.others(0x100, 16), [ObjectId(1), ObjectId(2)]);
        assert_eq!(objects.others(0x108, 8), [ObjectId(3)]);
        assert_eq!(objects.others(0x10c, 4), [ObjectId(2), ObjectId(3)]);
        assert_eq!(objects.others(0x200, 16), []);
    }

    #[test]
    fn neighbours_have_nothing_to_do_with_each_other() {
        let alone = |atomics: &[(usize, usize)]| met(atomics).iter().all(|(_, other)| *other == NONE);
        assert!(alone(&[(0x100, 8), (0x108, 8), (0xfc, 4), (0x100, 8), (0x100, 4)]));
        assert!(alone(&[(0x100, 4), (0x104, 4), (0x102, 2)]));
    }

    #[test]
    fn what_is_forgotten_overlaps_with_nothing() {
        let mut objects = Objects::default();
        objects.atomic(0x100, 8, || ObjectId(1));
        objects.forget(0x100, 8);
        assert_eq!(objects.atomic(0x104, 4, || ObjectId(2)), (ObjectId(2), NONE));
    }
}
