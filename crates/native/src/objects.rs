//! Which object an address is. Addresses are looked up and never compared or enumerated: an object's number is
//! the order of its first use, so nothing that a run does depends on where memory happens to lie.
//!
//! Synchronization objects are what the program calls them by. Memory is divided into words of four bytes,
//! each of them an object: an access to more has an object for each. So accesses to neighbouring variables do
//! not conflict, and an operation on eight bytes needs no more than its two extents. What lies at several addresses
//! is looked up by its home.

use crate::mappings::Mappings;
use alloc::vec::Vec;
use core::hash::{BuildHasherDefault, Hasher};
use hashbrown::HashMap;
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
}

/// Bytes of the smallest of them, nearly always.
const SYNC: usize = 16;

/// No word has this number, and no object this address.
const NOWHERE: (usize, ObjectId) = (usize::MAX, ObjectId::NONE);

/// How many of them there are.
const NEAR: usize = 16;

impl Default for Objects {
    fn default() -> Objects {
        Objects {
            mappings: Mappings::default(),
            sync: ByAddress::default(),
            words: ByAddress::default(),
            near: [NOWHERE; NEAR],
            near_sync: [NOWHERE; NEAR],
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
    pub fn remove_sync(&mut self, address: usize) -> Option<ObjectId> {
        self.forget_near();
        self.sync.remove(&self.mappings.home(address))
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
        let object = *self.words.entry(home).or_insert_with(make);
        self.near[word % NEAR] = (word, object);
        object
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
        self.words.clear();
        self.forget_near();
    }

    fn forget_near(&mut self) {
        (self.near, self.near_sync) = ([NOWHERE; NEAR], [NOWHERE; NEAR]);
    }

    /// The memory is another's from now on: what lay there has nothing to do with what will.
    pub fn forget(&mut self, start: usize, size: usize) {
        let end = start + size;
        self.forget_near();
        if self.words.len() + self.sync.len() < size / WORD {
            self.words.retain(|&word, _| word * WORD + WORD <= start || word * WORD >= end);
            self.sync.retain(|&at, _| at < start || at >= end);
        } else {
            for word in start / WORD..end.div_ceil(WORD) {
                self.words.remove(&word);
                self.sync.remove(&(word * WORD));
            }
        }
    }
}
