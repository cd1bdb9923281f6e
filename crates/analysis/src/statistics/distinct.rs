//! How many distinct partial orders were sampled, and how often each, in memory that stays flat.
//!
//! [`Distinct`] is exact up to [`Distinct::exact_max`] different fingerprints. Beyond that it turns
//! into a distinct sample (Gibbons, "Distinct sampling for highly-accurate answers to distinct values
//! queries", VLDB 2001): at level `l` only fingerprints whose hash starts with `l` zero bits are kept,
//! one in `2^l`. When the table is full, the level rises and those that no longer qualify are dropped.
//! A fingerprint that qualifies now has qualified at every earlier level, so each kept count is the
//! true count since the first run, and the kept fingerprints are a uniform sample of all distinct ones,
//! however often each occurred.
//!
//! The final level is the lowest at which the qualifying fingerprints fit. It depends only on which
//! fingerprints were seen, not on their order; hence splitting the runs over several jobs and
//! merging gives the very same structure.

use alloc::vec::Vec;

/// A number of partial orders: counted, or estimated from a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The number, or the best guess at it.
    pub value: u64,
    /// Whether `value` was counted.
    pub exact: bool,
}

/// The fingerprints seen over many runs, with how often each was seen.
///
/// The relative standard deviation of an estimate is about `1 / sqrt(kept)`, and at least half of
/// `exact_max` is kept (give or take that deviation): 0.2% with the default size.
#[derive(Clone)]
pub struct Distinct {
    /// Open addressing with linear probing. Invariant: the length is zero or a power of two, and at
    /// least a quarter of the slots are vacant, so that every probe ends.
    slots: Vec<Slot>,
    /// Occupied slots; never more than `exact_max`.
    kept: usize,
    /// Occupied slots whose count is one.
    kept_once: usize,
    exact_max: usize,
    level: u32,
    runs: u64,
}

/// The fingerprint in two halves, since a `u128` would align the slot to 32 bytes instead of 24.
/// A count of zero marks a vacant slot, so that every fingerprint is a valid key.
#[derive(Clone, Copy)]
struct Slot {
    low: u64,
    high: u64,
    count: u32,
}

const VACANT: Slot = Slot { low: 0, high: 0, count: 0 };
const SLOTS_AT_FIRST: usize = 64;

impl Slot {
    fn hash(&self) -> u64 {
        mix(self.low, self.high)
    }
}

/// Spreads a fingerprint over 64 bits: the high bits choose the sample, the low bits the slot.
/// Fingerprints are hashes already, but the sample must be uniform even if some of their bits are not.
fn mix(low: u64, high: u64) -> u64 {
    let mut hash = low.wrapping_add((high ^ 0xa076_1d64_78bd_642f).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

impl Distinct {
    /// How many distinct fingerprints are counted exactly unless another size is asked for.
    /// The table then takes at most 24 MiB.
    pub const EXACT_MAX_DEFAULT: usize = 1 << 19;

    /// Nothing seen yet; exact up to [`Self::EXACT_MAX_DEFAULT`].
    pub fn new() -> Self {
        Self::with_exact_max(Self::EXACT_MAX_DEFAULT)
    }

    /// Nothing seen yet; exact up to `exact_max` distinct fingerprints.
    ///
    /// # Panics
    /// If `exact_max` is zero.
    pub fn with_exact_max(exact_max: usize) -> Self {
        assert!(exact_max > 0, "a set of fingerprints needs room for at least one");
        Self { slots: Vec::new(), kept: 0, kept_once: 0, exact_max, level: 0, runs: 0 }
    }

    /// Counts one run with this fingerprint; true if it is not among those kept so far and is kept now.
    ///
    /// While the count is exact this means "seen for the first time".
    #[inline]
    pub fn insert(&mut self, fingerprint: u128) -> bool {
        self.runs += 1;
        self.add(fingerprint as u64, (fingerprint >> 64) as u64, 1)
    }

    /// How many runs were counted.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// How many different fingerprints were seen.
    pub fn distinct(&self) -> Estimate {
        self.scaled(self.kept)
    }

    /// How many fingerprints were seen exactly once.
    pub fn singletons(&self) -> Estimate {
        self.scaled(self.kept_once)
    }

    /// The Good–Turing estimate of the probability that the next run shows a new partial order: the
    /// share of runs whose partial order was seen only once; 1 before the first run.
    ///
    /// It assumes runs drawn independently from one distribution. A strategy that learns between runs,
    /// or a systematic search, breaks that assumption. Zero does not mean that all partial orders were
    /// seen: the standard error is in the order of `1 / sqrt(runs)`, and orders far rarer than
    /// `1 / runs` leave no sign at all.
    pub fn unseen_probability(&self) -> f64 {
        if self.runs == 0 {
            return 1.0;
        }
        (self.singletons().value as f64 / self.runs as f64).min(1.0)
    }

    /// How often each kept partial order was seen, the most frequent first.
    ///
    /// All of them while the count is exact; otherwise a uniform sample of the partial orders, one in
    /// [`Self::sampled_one_in`], whose counts add up to less than [`Self::runs`].
    pub fn counts(&self) -> Vec<u32> {
        let mut counts: Vec<u32> = self.occupied().map(|slot| slot.count).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    /// One in how many distinct fingerprints is kept: 1 while the count is exact.
    pub fn sampled_one_in(&self) -> u64 {
        1 << self.level
    }

    /// Up to how many distinct fingerprints the count is exact.
    pub fn exact_max(&self) -> usize {
        self.exact_max
    }

    /// The memory held, in bytes. It never exceeds 24 bytes times the smallest power of two that is at
    /// least 4/3 of [`Self::exact_max`] (and at least 64).
    pub fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }

    /// Adds what another job saw. The result is the same as if all runs had been inserted here.
    pub fn merge(&mut self, other: &Distinct) {
        self.runs += other.runs;
        self.raise_to(other.level);
        for slot in other.occupied() {
            self.add(slot.low, slot.high, slot.count);
        }
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.slots.fill(VACANT);
        self.kept = 0;
        self.kept_once = 0;
        self.level = 0;
        self.runs = 0;
    }

    fn scaled(&self, kept: usize) -> Estimate {
        Estimate { value: (kept as u64) << self.level, exact: self.level == 0 }
    }

    fn occupied(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.count > 0)
    }

    #[inline]
    fn add(&mut self, low: u64, high: u64, count: u32) -> bool {
        let hash = mix(low, high);
        if !self.qualifies(hash) {
            return false;
        }
        if !self.slots.is_empty() {
            let mask = self.slots.len() - 1;
            let mut at = hash as usize & mask;
            loop {
                let slot = &mut self.slots[at];
                if slot.count == 0 {
                    break;
                }
                if slot.low == low && slot.high == high {
                    self.kept_once -= usize::from(slot.count == 1);
                    slot.count = slot.count.saturating_add(count);
                    return false;
                }
                at = (at + 1) & mask;
            }
        }
        self.add_new(Slot { low, high, count }, hash)
    }

    /// Apart from [`Self::add`], so that the common case, a partial order seen before, stays small.
    #[cold]
    #[inline(never)]
    fn add_new(&mut self, new: Slot, hash: u64) -> bool {
        // Raised step by step, and no further than needed to fit: else the level would depend on the order.
        while self.kept == self.exact_max {
            self.raise_to(self.level + 1);
            if !self.qualifies(hash) {
                return false;
            }
        }
        if (self.kept + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.kept += 1;
        self.kept_once += usize::from(new.count == 1);
        self.place(new, hash);
        true
    }

    #[inline]
    fn qualifies(&self, hash: u64) -> bool {
        hash.leading_zeros() >= self.level
    }

    fn place(&mut self, new: Slot, hash: u64) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at].count > 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = new;
    }

    fn grow(&mut self) {
        let larger = (self.slots.len() * 2).max(SLOTS_AT_FIRST);
        let old = core::mem::replace(&mut self.slots, alloc::vec![VACANT; larger]);
        for slot in old.into_iter().filter(|slot| slot.count > 0) {
            self.place(slot, slot.hash());
        }
    }

    /// Drops, in place, what does not qualify at `level`; nothing if the level is that high already.
    fn raise_to(&mut self, level: u32) {
        if level <= self.level {
            return;
        }
        assert!(level < 64, "[raddle bug] the fingerprints in the set all have the same hash");
        self.level = level;
        for at in 0..self.slots.len() {
            // Removal may pull a later slot into this one, which has to be looked at as well.
            while self.slots[at].count > 0 && !self.qualifies(self.slots[at].hash()) {
                self.remove(at);
            }
        }
    }

    /// Vacates a slot and closes the gap, so that no probe ends too early and no tombstone remains.
    fn remove(&mut self, at: usize) {
        let mask = self.slots.len() - 1;
        self.kept -= 1;
        self.kept_once -= usize::from(self.slots[at].count == 1);
        let mut gap = at;
        let mut next = at;
        loop {
            next = (next + 1) & mask;
            let slot = self.slots[next];
            if slot.count == 0 {
                break;
            }
            // `slot` may move into the gap only if its probe, which starts at home, passes the gap.
            let home = slot.hash() as usize & mask;
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(gap) & mask) {
                self.slots[gap] = slot;
                gap = next;
            }
        }
        self.slots[gap] = VACANT;
    }
}

impl Default for Distinct {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Distinct {
    /// Without the table, which would be half a million lines.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Distinct")
            .field("runs", &self.runs)
            .field("distinct", &self.distinct())
            .field("singletons", &self.singletons())
            .field("exact_max", &self.exact_max)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
