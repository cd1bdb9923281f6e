//! Shadow memory: who accessed which byte last, and whether anything orders that before the access at hand.
//!
//! Every eight bytes of the program's memory have four records; a record is one task's access to some of these
//! bytes, at a time of its clock ([`Clocks`] knows which of them the others have heard of). Follows the shadow
//! cells of ThreadSanitizer (Serebryany et al. 2011), with records thrown out in turn and not at random: a run
//! reports the same each time. A race that is reported is one; when more than four unordered accesses meet in
//! eight bytes, one may go unnoticed in this run.

use crate::objects::ByAddress;
use alloc::boxed::Box;
use alloc::vec::Vec;
use raddle_analysis::clocks::{Clocks, Epoch};
use raddle_model::{SiteId, TaskId};

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct How {
    /// Whether it is written.
    pub write: bool,
    /// Whether the access is atomic: two of them do not race.
    pub atomic: bool,
}

/// An access at hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Its first byte.
    pub address: usize,
    /// How many there are.
    pub size: usize,
    /// How.
    pub how: How,
    /// Who.
    pub task: TaskId,
    /// Where it stands.
    pub site: SiteId,
}

/// One access of the past.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    // 0 if there is none.
    time: i32,
    task: u16,
    mask: u8,
    how: u8,
    /// Where it stands.
    pub site: SiteId,
}

impl Record {
    const NONE: Record = Record { time: 0, task: 0, mask: 0, how: 0, site: SiteId::UNKNOWN };

    /// Who.
    pub fn task(&self) -> TaskId {
        TaskId(u32::from(self.task))
    }

    /// How.
    pub fn how(&self) -> How {
        How { write: self.how & 1 != 0, atomic: self.how & 2 != 0 }
    }

    /// When, by the task's own clock.
    pub fn epoch(&self) -> Epoch {
        Epoch { task: self.task(), time: self.time }
    }

    fn covers(&self, other: &Record) -> bool {
        let stronger = (self.how & 1 >= other.how & 1) && (self.how & 2 <= other.how & 2);
        other.mask & !self.mask == 0 && stronger
    }
}

const RECORDS: usize = 4;
const GRANULE: usize = 8;
const PAGE: usize = 4096;

type Granule = [Record; RECORDS];
type Page = [Granule; PAGE / GRANULE];

/// The shadow of all memory that was accessed.
#[derive(Default, Debug)]
pub struct Shadow {
    pages: ByAddress<Box<Page>>,
    // The page of the last access, since the next one is mostly in the same.
    last: Option<(usize, *mut Page)>,
    victim: usize,
}

impl Shadow {
    #[inline]
    fn page(&mut self, number: usize) -> &mut Page {
        if let Some((last, page)) = self.last
            && last == number
        {
            // SAFETY: pages are boxed, and none is removed without forgetting `last`.
            return unsafe { &mut *page };
        }
        let page = self.pages.entry(number).or_insert_with(|| {
            // SAFETY: all zeros is `Record::NONE` in every place.
            unsafe { Box::<Page>::new_zeroed().assume_init() }
        });
        self.last = Some((number, &raw mut **page));
        page
    }

    /// Notes an access, and tells of the records that nothing orders before it.
    #[inline]
    pub fn access(&mut self, access: &Access, clocks: &Clocks, races: &mut Vec<Record>) {
        let Access { address, size, how, task, site } = *access;
        let time = clocks.now(task).time;
        let (mut at, end) = (address, address + size);
        while at < end {
            let granule = at & !(GRANULE - 1);
            let upto = end.min(granule + GRANULE);
            let mask = ((1u16 << (upto - at)) - 1) << (at - granule);
            let record = Record {
                time,
                task: task.0 as u16,
                mask: mask as u8,
                how: u8::from(how.write) | u8::from(how.atomic) << 1,
                site,
            };
            let victim = self.victim;
            let cell = &mut self.page(granule / PAGE)[granule % PAGE / GRANULE];
            if cell[0].time == time && cell[0].task == record.task && cell[0].covers(&record) {
                if cell[0].mask == record.mask && cell[0].how == record.how {
                    cell[0].site = site;
                }
            } else {
                self.victim = note(cell, record, clocks, victim, races);
            }
            at = upto;
        }
    }

    /// The memory is given out anew: what was done to it before concerns nobody.
    pub fn forget(&mut self, start: usize, size: usize) {
        let (first, last) = (start / PAGE, (start + size).div_ceil(PAGE));
        if self.pages.len() < last - first {
            let touched: Vec<usize> =
                self.pages.keys().copied().filter(|page| (first..last).contains(page)).collect();
            touched.into_iter().for_each(|page| self.clear(page, start, size));
        } else {
            (first..last).for_each(|page| self.clear(page, start, size));
        }
    }

    fn clear(&mut self, number: usize, start: usize, size: usize) {
        let Some(page) = self.pages.get_mut(&number) else { return };
        let from = start.max(number * PAGE) - number * PAGE;
        let upto = (start + size).min((number + 1) * PAGE) - number * PAGE;
        for granule in &mut page[from / GRANULE..upto.div_ceil(GRANULE)] {
            *granule = [Record::NONE; RECORDS];
        }
    }
}

/// Compares with all records and finds a place for the new one. Says whose turn it is to be thrown out next.
fn note(
    cell: &mut Granule,
    record: Record,
    clocks: &Clocks,
    victim: usize,
    races: &mut Vec<Record>,
) -> usize {
    let task = record.task();
    let mut place = None;
    for (at, old) in cell.iter_mut().enumerate() {
        if old.time == 0 {
            place = place.or(Some(at));
            continue;
        }
        if old.mask & record.mask == 0 {
            continue;
        }
        let ordered = old.task == record.task || clocks.before(old.epoch(), task);
        let conflict = (old.how | record.how) & 1 != 0 && (old.how & record.how) & 2 == 0;
        if !ordered && conflict {
            races.push(*old);
        }
        // Whoever is unordered with what is ordered before a write is unordered with the write, too.
        if ordered && (record.how & 1 != 0 || old.task == record.task) && record.covers(old) {
            match place {
                Some(_) => *old = Record::NONE,
                None => place = Some(at),
            }
        }
    }
    let at = place.unwrap_or(victim);
    cell[at] = record;
    if at != 0 {
        // The latest is compared first.
        cell.swap(0, at);
    }
    if place.is_some() { victim } else { victim % (RECORDS - 1) + 1 }
}
