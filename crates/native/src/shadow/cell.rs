//! What is known of eight bytes of memory: four accesses of the past, and where all of them stood.
//!
//! An access is told by one word, so that "the same again" is one comparison; and it lies where its first byte says,
//! so that this one comparison is enough. That is how nearly all accesses are done with: what a task does twice
//! between two releases is known (the same epoch, as FastTrack has it; Flanagan and Freund 2009).

use super::{Findings, How};
use crate::pages::PAGE;
use core::arch::asm;
use core::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_andnot_si128, _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_cmpgt_epi32,
    _mm_cvtsi32_si128, _mm_cvtsi64_si128, _mm_load_si128, _mm_movemask_epi8, _mm_movemask_ps, _mm_or_si128,
    _mm_set1_epi32, _mm_setr_epi32, _mm_setzero_si128, _mm_shuffle_epi32, _mm_store_si128,
    _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32, _mm_unpacklo_epi64,
};
use raddle_analysis::clocks::{Clocks, Epoch, FEW};
use raddle_model::{SiteId, TaskId};

/// Bytes that a cell is about.
pub(super) const GRANULE: usize = 8;

const WRITE: u64 = 1;
const ATOMIC: u64 = 1 << 1;
const MASK: u64 = 0xff << 8;
const WHO: u64 = 0xffff << 16;

/// One access: when (32 bits, 0 if there is none), by whom (16), to which bytes (8), how (8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key(u64);

impl Key {
    const NONE: Key = Key(0);

    /// Accesses of a task at a time of its clock.
    #[inline(always)]
    pub(crate) fn of(task: TaskId, time: i32) -> u64 {
        (time as u32 as u64) << 32 | u64::from(task.0 as u16) << 16
    }

    /// One of them, to `size` bytes from `offset` on.
    #[inline(always)]
    pub(super) fn new(now: u64, offset: usize, size: usize, how: How) -> Key {
        let mask = ((1u64 << size) - 1) << (offset + 8);
        Key(now | mask | u64::from(how.write) | u64::from(how.atomic) << 1)
    }

    /// Where it lies in its cell while it is the latest of its kind: two neighbouring variables have two places.
    #[inline(always)]
    fn home(offset: usize) -> usize {
        offset / 2
    }

    #[inline(always)]
    fn same_task(self, other: Key) -> bool {
        (self.0 ^ other.0) & WHO == 0
    }

    /// Whether everything that races with `other` races with this one, too, if both are equally old: the same bytes
    /// at least, written if the other is, and atomic only if the other is.
    #[inline(always)]
    fn covers(self, other: Key) -> bool {
        (other.0 & !self.0 & (MASK | WRITE)) | (self.0 & !other.0 & ATOMIC) == 0
    }

    /// Whether two accesses conflict, if nothing orders them.
    #[inline(always)]
    fn conflicts(self, other: Key) -> bool {
        ((self.0 | other.0) & WRITE != 0) & (self.0 & other.0 & ATOMIC == 0)
    }

    pub(super) fn task(self) -> TaskId {
        TaskId((self.0 >> 16) as u16 as u32)
    }

    /// The first of its bytes.
    pub(super) fn first(self) -> usize {
        (self.0 >> 8).trailing_zeros() as usize
    }

    pub(super) fn epoch(self) -> Epoch {
        Epoch { task: self.task(), time: (self.0 >> 32) as i32 }
    }

    pub(super) fn how(self) -> How {
        How { write: self.0 & WRITE != 0, atomic: self.0 & ATOMIC != 0 }
    }
}

pub(super) const RECORDS: usize = 4;
const SITES: usize = 8;

/// How the records of a cell stand to an access; a bit for each.
struct Standing {
    /// There is none.
    free: u32,
    /// The access takes its place: it meets it, and all that races with it races with the access, too.
    gone: u32,
    /// It meets the access and did not go before it.
    late: u32,
    /// It says the same already, or more: whatever races with the access races with it, too.
    known: u32,
    /// `gone` again, as lanes.
    gone_lanes: __m128i,
}

/// The bit of a kept site that says that it is a scheduling point in this plan. Accesses from there are announced
/// each time, so the quick look must never find them.
pub(super) const POINT: u32 = 1 << 31;

/// Stands in the last place of the sites once there was a race: then all sites have been told, and whoever comes
/// later is told at once.
const RACY: SiteId = SiteId(u32::MAX);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub(super) struct Cell {
    keys: [Key; RECORDS],
    // First those of the records, in the same places; then those of accesses that have no record any more.
    sites: [SiteId; SITES],
}

impl Cell {
    /// No access.
    pub(super) const NOTHING: Cell = Cell { keys: [Key::NONE; RECORDS], sites: [SiteId::UNKNOWN; SITES] };

    /// Whether nothing would come of a plain access, because its task has done the same since its last release.
    #[inline(always)]
    pub(super) fn has<const IS_WRITE: bool>(&self, key: Key, offset: usize, site: SiteId) -> bool {
        // A read after one's own write shows nothing that the write does not.
        let home = Key::home(offset);
        let differs = self.keys[home].0 ^ key.0;
        let differs = if IS_WRITE { differs } else { differs & !WRITE };
        // Mostly the site is that of the last access or of the one before.
        differs == 0 && (self.sites[home] == site || self.sites[RECORDS + home] == site || self.knows(site))
    }

    /// Whether an access from this site has been here.
    #[inline]
    fn knows(&self, site: SiteId) -> bool {
        let sites = self.sites.as_ptr().cast::<__m128i>();
        // SAFETY: eight numbers, aligned as the cell is; these instructions are part of the architecture.
        unsafe {
            let wanted = _mm_set1_epi32(site.0 as i32);
            let [first, second] = [0, 1].map(|half| _mm_cmpeq_epi32(_mm_load_si128(sites.add(half)), wanted));
            _mm_movemask_epi8(_mm_or_si128(first, second)) != 0
        }
    }

    /// Whether all is the same.
    #[inline(always)]
    pub(super) fn is_same(&self, other: &Cell) -> bool {
        let [these, those] = [self, other].map(|cell| (&raw const *cell).cast::<__m128i>());
        // SAFETY: a cell is four such numbers, and aligned as they are.
        unsafe {
            let same =
                |at: usize| _mm_cmpeq_epi32(_mm_load_si128(these.add(at)), _mm_load_si128(those.add(at)));
            let [low, high] = [0, 2].map(|at| _mm_and_si128(same(at), same(at + 1)));
            _mm_movemask_epi8(_mm_and_si128(low, high)) == 0xffff
        }
    }

    /// Memory that is read before it is written costs two page faults. Whoever reads more at once than was just written
    /// waits until that has come to the cache, so it is one key, which are read one by one.
    #[inline(always)]
    pub(super) fn claim(&mut self) {
        // SAFETY: changes nothing, by an instruction that the kernel takes for a write.
        unsafe { asm!("or qword ptr [{}], 0", in(reg) self, options(nostack)) };
    }

    /// Whether it is the first in its page.
    #[inline(always)]
    pub(super) fn is_first(&self) -> bool {
        (&raw const *self as usize).is_multiple_of(PAGE)
    }

    /// Whether there has been no access. One that was cleared may seem so again.
    #[inline(never)]
    pub(super) fn is_empty(&self) -> bool {
        self.keys == [Key::NONE; RECORDS]
    }

    pub(super) fn clear(&mut self) {
        *self = Cell::NOTHING;
    }

    fn is_racy(&self) -> bool {
        self.sites[SITES - 1] == RACY
    }

    /// A record is about to be replaced: its site is kept as long as there is room, where an access at `home` looks
    /// first if that is free.
    fn keep(&mut self, site: SiteId, home: usize) {
        let kept = &mut self.sites[RECORDS..];
        // Mostly it is, and where is chance.
        let is_kept = kept.iter().fold(false, |is_kept, &other| is_kept | (other == site));
        if site != SiteId::UNKNOWN && !is_kept {
            let free = |place: &usize| kept[*place] == SiteId::UNKNOWN;
            let place = [home, 0, 1, 2, 3].into_iter().find(free);
            kept[place.unwrap_or(0)] = site;
        }
    }

    fn tell(&mut self, findings: &mut Findings) {
        self.sites.iter().filter(|&&site| site != RACY).for_each(|&site| findings.share(site));
        self.sites[SITES - 1] = RACY;
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.keys.swap(one, other);
        self.sites.swap(one, other);
    }

    /// If there has been no access, this is the first.
    #[inline(always)]
    pub(super) fn begin(&mut self, key: Key, offset: usize, site: SiteId) -> bool {
        let home = Key::home(offset);
        // The latest is at home. That was written not long ago, and whoever reads it together with others has to wait.
        let first = self.keys[home] == Key::NONE && self.is_empty();
        if first {
            self.keys[home] = key;
            self.sites[home] = site;
        }
        first
    }

    /// The record at home is of an access to the very same bytes in the very same way that went before this one, and no other
    /// meets it: then it is brought up to date where it is. An atomic that is written in turn comes to this.
    #[inline(always)]
    pub(super) fn again(
        &mut self,
        key: Key,
        offset: usize,
        site: SiteId,
        task: TaskId,
        clocks: &Clocks,
    ) -> bool {
        let home = Key::home(offset);
        let old = self.keys[home];
        let others = (1..RECORDS).fold(0, |others, by| others | self.keys[home ^ by].0);
        let can = (old.0 ^ key.0) as u16 == 0
            && self.sites[home] == site
            && others & key.0 & MASK == 0
            && (key.0 & WRITE != 0 || old.same_task(key))
            && clocks.before(old.epoch(), task);
        if can {
            self.keys[home] = key;
        }
        can
    }

    /// Compares an access with all records and finds a place for it. `heard` says up to when the task has heard of
    /// each task. True if another record had to be thrown out; so many have been before, so that it is a different
    /// one each time.
    #[inline(always)]
    pub(super) fn note(
        &mut self,
        key: Key,
        offset: usize,
        site: SiteId,
        heard: &[i32],
        thrown_out: usize,
        findings: &mut Findings,
    ) -> bool {
        let home = Key::home(offset);
        // What is as long as is known beforehand needs no look whether it is long enough.
        let up_to = match <&[i32; FEW]>::try_from(heard) {
            Ok(few) => self.keys.map(|old| few[old.task().index() % FEW]),
            Err(_) => self.keys.map(|old| heard[old.task().index()]),
        };
        let standing = self.compare(key, up_to);
        if standing.known != 0 && self.knows(site) {
            // Whatever races with this access races with that one, too.
            self.swap(standing.known.trailing_zeros() as usize % RECORDS, home);
            return false;
        }
        let room = standing.free | standing.gone;
        if standing.late != 0 || room == 0 || self.is_racy() {
            return self.place(key, home, site, heard, thrown_out, findings);
        }
        self.follow(key, home, site, &standing);
        false
    }

    /// All records that meet the access went before it, and there is room for another: that is what becomes of what tasks do
    /// in turn, each of them once it has heard of the others. What [`Cell::place`] would do, with fewer questions.
    #[inline(always)]
    fn follow(&mut self, key: Key, home: usize, site: SiteId, standing: &Standing) {
        let room = (standing.free | standing.gone).trailing_zeros() as usize % RECORDS;
        if !self.forget(standing.gone_lanes, site) {
            self.forget_and_keep(standing.gone, home, site);
        }
        // What is at home makes room; if that is the room itself, nothing is lost. How often it is is chance.
        self.keys[room] = self.keys[home];
        self.sites[room] = self.sites[home];
        self.keys[home] = key;
        self.sites[home] = site;
    }

    /// Takes away records, none or some, which is chance: nothing branches on it. False, and nothing has happened, if one has
    /// a site that must be kept.
    #[inline(always)]
    fn forget(&mut self, gone: __m128i, site: SiteId) -> bool {
        // SAFETY: these instructions are part of the architecture; keys and sites are aligned as the cell is.
        unsafe {
            // As with keys: each was written by itself.
            let [a, b, c, d] = [0, 1, 2, 3].map(|at| _mm_cvtsi32_si128(self.sites[at].0 as i32));
            let sites = _mm_unpacklo_epi64(_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
            let kept = _mm_load_si128(self.sites.as_ptr().add(RECORDS).cast());
            let are = |others: __m128i| _mm_cmpeq_epi32(sites, others);
            // Each with each.
            let [straight, by_one, by_two, by_three] = [
                are(kept),
                are(_mm_shuffle_epi32::<0b00_11_10_01>(kept)),
                are(_mm_shuffle_epi32::<0b01_00_11_10>(kept)),
                are(_mm_shuffle_epi32::<0b10_01_00_11>(kept)),
            ];
            let kept = _mm_or_si128(_mm_or_si128(straight, by_one), _mm_or_si128(by_two, by_three));
            let other = _mm_or_si128(are(_mm_set1_epi32(site.0 as i32)), are(_mm_setzero_si128()));
            let lost = _mm_andnot_si128(_mm_or_si128(kept, other), gone);
            if _mm_movemask_ps(_mm_castsi128_ps(lost)) != 0 {
                return false;
            }
            _mm_store_si128(self.sites.as_mut_ptr().cast(), _mm_andnot_si128(gone, sites));
            let [a, b, c, d] = self.keys.map(|old| _mm_cvtsi64_si128(old.0 as i64));
            let keys = self.keys.as_mut_ptr().cast::<__m128i>();
            let (low, high) = (_mm_unpacklo_epi32(gone, gone), _mm_unpackhi_epi32(gone, gone));
            _mm_store_si128(keys, _mm_andnot_si128(low, _mm_unpacklo_epi64(a, b)));
            _mm_store_si128(keys.add(1), _mm_andnot_si128(high, _mm_unpacklo_epi64(c, d)));
        }
        true
    }

    /// The same one by one, where there are sites to be kept.
    #[inline(never)]
    fn forget_and_keep(&mut self, mut gone: u32, home: usize, site: SiteId) {
        while gone != 0 {
            let at = gone.trailing_zeros() as usize % RECORDS;
            gone &= gone - 1;
            let old = self.sites[at];
            if old != site {
                self.keep(old, home);
            }
            self.keys[at] = Key::NONE;
            self.sites[at] = SiteId::UNKNOWN;
        }
    }

    /// How all records stand to an access of one who has heard of their tasks up to these times. Which of them meet it is chance, so nothing branches on that: the four are
    /// looked at side by side.
    #[inline(always)]
    fn compare(&self, key: Key, up_to: [i32; RECORDS]) -> Standing {
        // SAFETY: these instructions are part of the architecture, and touch no memory.
        unsafe {
            let all = |bits: u64| _mm_set1_epi32(bits as u32 as i32);
            let none = |lanes: __m128i, bits: u64| {
                _mm_cmpeq_epi32(_mm_and_si128(lanes, all(bits)), _mm_setzero_si128())
            };
            // Each was written by itself, and not long ago: who reads two at once has to wait.
            let [a, b, c, d] = self.keys.map(|old| _mm_cvtsi64_si128(old.0 as i64));
            let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
            let (lows, times) = (_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd));
            let late = _mm_cmpgt_epi32(times, _mm_setr_epi32(up_to[0], up_to[1], up_to[2], up_to[3]));
            // What a record has and the access has not, and the other way round: see `Key::covers`.
            let low = all(key.0);
            let (more, less) = (_mm_andnot_si128(low, lows), _mm_andnot_si128(lows, low));
            let is_covered = _mm_and_si128(none(more, MASK | WRITE), none(less, ATOMIC));
            let is_covering = _mm_and_si128(none(less, MASK | WRITE), none(more, ATOMIC));
            let same_task = none(_mm_or_si128(more, less), WHO);
            let same_time = _mm_cmpeq_epi32(times, all(key.0 >> 32));
            let known = _mm_and_si128(_mm_and_si128(same_task, same_time), is_covering);
            let replaced = _mm_or_si128(same_task, all(0u64.wrapping_sub(key.0 & WRITE)));
            let apart = none(_mm_and_si128(lows, low), MASK);
            let gone_lanes = _mm_andnot_si128(apart, _mm_and_si128(replaced, is_covered));
            let bits = |lanes: __m128i| _mm_movemask_ps(_mm_castsi128_ps(lanes)) as u32;
            Standing {
                free: bits(none(lows, u64::MAX)),
                gone: bits(gone_lanes),
                gone_lanes,
                late: bits(_mm_andnot_si128(apart, late)),
                known: bits(known),
            }
        }
    }

    /// The general way, for an access that is not [`Standing::known`] with its site.
    #[inline(never)]
    fn place(
        &mut self,
        key: Key,
        home: usize,
        site: SiteId,
        heard: &[i32],
        thrown_out: usize,
        findings: &mut Findings,
    ) -> bool {
        let (racy, unknown) = (self.is_racy(), self.is_racy() && !self.knows(site));
        let (mut place, mut raced) = (None, false);
        for at in 0..RECORDS {
            let old = self.keys[at];
            if old == Key::NONE {
                place = place.or(Some(at));
                continue;
            }
            if old.0 & key.0 & MASK == 0 {
                continue;
            }
            let Epoch { task, time } = old.epoch();
            let ordered = time <= heard[task.index()];
            if !ordered && old.conflicts(key) {
                findings.raced(old, self.sites[at]);
                raced = true;
            }
            // Whoever is unordered with what is ordered before a write is unordered with the write, too.
            if ordered && (key.0 & WRITE != 0 || old.same_task(key)) && key.covers(old) {
                if self.sites[at] != site {
                    self.keep(self.sites[at], home);
                }
                self.keys[at] = Key::NONE;
                self.sites[at] = SiteId::UNKNOWN;
                place = Some(place.map_or(at, |place: usize| place.min(at)));
            }
        }
        // One's own home is never the one to be thrown out: the latest access is there.
        let at = place.unwrap_or((home + 1 + thrown_out % (RECORDS - 1)) % RECORDS);
        self.keep(self.sites[at], home);
        self.keys[at] = key;
        self.sites[at] = site;
        self.swap(at, home);
        if raced && !racy {
            self.tell(findings);
        } else if unknown {
            findings.share(site);
        }
        place.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use raddle_model::{Dice, Rng};

    /// As [`Cell::note`], record by record and always the general way.
    fn note_plainly(
        cell: &mut Cell,
        key: Key,
        offset: usize,
        site: SiteId,
        heard: &[i32],
        thrown_out: usize,
        findings: &mut Findings,
    ) -> bool {
        let home = Key::home(offset);
        let same = |old: &Key| (old.0 ^ key.0) >> 16 == 0 && old.covers(key);
        if let Some(at) = cell.keys.iter().position(same)
            && cell.knows(site)
        {
            cell.swap(at, home);
            return false;
        }
        cell.place(key, home, site, heard, thrown_out, findings)
    }

    /// Accesses of three tasks that hear of each other now and then.
    #[test]
    fn accesses_are_noted_as_the_general_way_would() {
        let (mut followed, mut known, mut raced, mut noted) = (0, 0, 0, 0);
        for seed in 0..2000 {
            let mut rng = Rng::new(seed);
            let mut draw = |below: usize| rng.below(below as u32) as usize;
            let mut cell = Cell::NOTHING;
            // As many as are few, and as many as there are.
            let width = if seed % 2 == 0 { FEW } else { 3 };
            let mut heard = [[1i32; FEW]; 3];
            for step in 0..40 {
                let task = draw(3);
                match draw(3) {
                    0 => heard[task][task] += 1,
                    1 => {
                        let from = draw(3);
                        let mut told = heard[from];
                        told[from] -= i32::from(from != task);
                        heard[task].iter_mut().zip(told).for_each(|(mine, told)| *mine = (*mine).max(told));
                    }
                    _ => {
                        let how = How { write: draw(2) == 0, atomic: draw(4) == 0 };
                        let size = 1usize << draw(4);
                        let offset = draw(GRANULE / size) * size;
                        let heard = &heard[task][..width];
                        let key = Key::new(Key::of(TaskId(task as u32), heard[task]), offset, size, how);
                        let site = SiteId(1 + draw(6) as u32);
                        let standing = cell.compare(key, cell.keys.map(|old| heard[old.task().index()]));
                        let mut other = cell;
                        let mut findings = [(); 2].map(|()| Findings::default());
                        let [one, two] = &mut findings;
                        let full = cell.note(key, offset, site, heard, step, one);
                        assert_eq!(note_plainly(&mut other, key, offset, site, heard, step, two), full);
                        assert_eq!(cell, other, "seed {seed}");
                        assert_eq!(one.shared, two.shared, "seed {seed}");
                        let [one, two] = findings.each_ref().map(|found| {
                            found.races.iter().map(|race| (race.key, race.site)).collect::<Vec<_>>()
                        });
                        assert_eq!(one, two, "seed {seed}");
                        noted += 1;
                        raced += u32::from(!one.is_empty());
                        known += u32::from(standing.known != 0);
                        followed += u32::from(standing.late == 0);
                    }
                }
            }
        }
        assert!(followed * 10 > noted, "{followed} of {noted}");
        assert!(known * 30 > noted && raced * 30 > noted, "{known} and {raced} of {noted}");
    }
}
