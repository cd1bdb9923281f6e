//! Shadow memory: who accessed which byte last, and whether anything orders that before the access at hand.
//!
//! Every eight bytes of the program's memory have four records; a record is one task's access to some of these
//! bytes, at a time of its clock ([`Clocks`] knows which of them the others have heard of). Follows the shadow
//! cells of ThreadSanitizer (Serebryany et al. 2011), with records thrown out in turn and not at random: a run
//! reports the same each time. A race that is reported is one; when more than four unordered accesses meet in
//! eight bytes, one may go unnoticed in this run.
//!
//! Where a race shows, all sites that have accessed these bytes in this run are told, and those that still will:
//! sharedness belongs to the location, and each of them must be a scheduling point in later plans. A cell has room
//! for four sites beyond those of its records.

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
const SITES: usize = 4;
const GRANULE: usize = 8;
const PAGE: usize = 4096;

/// What is known of eight bytes.
#[derive(Clone, Copy, Debug)]
struct Cell {
    records: [Record; RECORDS],
    // Sites of accesses that have no record any more. The last place tells that there was a race: then all sites
    // have been told, and whoever comes later is told at once.
    sites: [SiteId; SITES],
}

const NOTHING: Cell = Cell { records: [Record::NONE; RECORDS], sites: [SiteId::UNKNOWN; SITES] };

/// Stands in the last place of a cell's sites.
const RACY: SiteId = SiteId(u32::MAX);

type Page = [Cell; PAGE / GRANULE];

/// What an access has brought to light.
#[derive(Default, Debug)]
pub struct Findings {
    /// Accesses that nothing orders before the one at hand.
    pub races: Vec<Record>,
    /// Sites that access what is raced for. Sorted.
    pub shared: Vec<SiteId>,
}

impl Findings {
    fn share(&mut self, site: SiteId) {
        if site != SiteId::UNKNOWN
            && let Err(at) = self.shared.binary_search(&site)
        {
            self.shared.insert(at, site);
        }
    }
}

impl Cell {
    fn is_racy(&self) -> bool {
        self.sites[SITES - 1] == RACY
    }

    fn knows(&self, site: SiteId) -> bool {
        self.records.iter().any(|record| record.site == site) || self.sites.contains(&site)
    }

    /// A record is about to be replaced: its site is kept as long as there is room.
    fn keep(&mut self, site: SiteId) {
        if site != SiteId::UNKNOWN && !self.sites.contains(&site) {
            let free = self.sites.iter().position(|&kept| kept == SiteId::UNKNOWN);
            self.sites[free.unwrap_or(0)] = site;
        }
    }

    fn tell(&mut self, findings: &mut Findings) {
        self.records.iter().for_each(|record| findings.share(record.site));
        self.sites.iter().filter(|&&site| site != RACY).for_each(|&site| findings.share(site));
        self.sites[SITES - 1] = RACY;
    }

    /// Compares with all records and finds a place for the new one. Says whose turn it is to be thrown out next.
    fn note(&mut self, record: Record, clocks: &Clocks, victim: usize, findings: &mut Findings) -> usize {
        let task = record.task();
        let known = self.knows(record.site);
        let (mut place, mut raced) = (None, false);
        for at in 0..RECORDS {
            let old = self.records[at];
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
                findings.races.push(old);
                raced = true;
            }
            // Whoever is unordered with what is ordered before a write is unordered with the write, too.
            if ordered && (record.how & 1 != 0 || old.task == record.task) && record.covers(&old) {
                if old.site != record.site {
                    self.keep(old.site);
                }
                self.records[at] = Record::NONE;
                place = Some(place.map_or(at, |place: usize| place.min(at)));
            }
        }
        let at = place.unwrap_or(victim);
        self.keep(self.records[at].site);
        self.records[at] = record;
        // The latest is compared first.
        self.records.swap(0, at);
        if raced && !self.is_racy() {
            self.tell(findings);
        } else if self.is_racy() && !known {
            findings.share(record.site);
        }
        if place.is_some() { victim } else { victim % (RECORDS - 1) + 1 }
    }
}

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
            // SAFETY: pages are boxed, and none is ever removed.
            return unsafe { &mut *page };
        }
        let page = self.pages.entry(number).or_insert_with(|| {
            // SAFETY: all zeros is `NOTHING` in every place.
            unsafe { Box::<Page>::new_zeroed().assume_init() }
        });
        self.last = Some((number, &raw mut **page));
        page
    }

    /// Notes an access at a time of its task's clock, and tells of the records that nothing orders before it.
    #[inline]
    pub fn access(&mut self, access: &Access, time: i32, clocks: &Clocks, findings: &mut Findings) {
        let Access { address, size, how, task, site } = *access;
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
            // What a loop does again and again is known, whichever of the four it is.
            if !cell.records.contains(&record) {
                self.victim = cell.note(record, clocks, victim, findings);
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
            *granule = NOTHING;
        }
    }
}
