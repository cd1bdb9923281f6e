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
//!
//! Of the accesses that a task does between two releases only the first of each kind, site and location matters. So
//! the quick look ([`Shadow::has`]) is nearly always the whole of it, and nothing else need be asked, not even
//! whether the memory may be touched: what is given back or given out anew is forgotten here.

mod cell;
mod even;
#[cfg(test)]
mod even_tests;
#[cfg(test)]
mod tests;

use crate::pages::{PAGE, Pages, Zeros};
use alloc::vec::Vec;
pub(crate) use cell::Key;
use cell::{Cell, GRANULE, POINT};
use even::{CELLS, Even};
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
    /// Whether accesses from there are scheduling points in this plan.
    pub point: bool,
}

impl Access {
    /// The site as it is kept.
    #[inline(always)]
    fn kept_site(&self) -> SiteId {
        SiteId(self.site.0 | if self.point { POINT } else { 0 })
    }
}

/// One access of the past.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    key: Key,
    /// Where it stands.
    pub site: SiteId,
    // The eight bytes in which it was found, if the access that found it has more of them.
    granule: Option<usize>,
}

impl Record {
    /// The first byte in which an access from `address` on, which has found it, meets it.
    pub fn meets(&self, address: usize) -> usize {
        address.max(self.granule.unwrap_or(address & !(GRANULE - 1)) + self.key.first())
    }

    /// Who.
    pub fn task(&self) -> TaskId {
        self.key.task()
    }

    /// How.
    pub fn how(&self) -> How {
        self.key.how()
    }

    /// When, by the task's own clock.
    pub fn epoch(&self) -> Epoch {
        self.key.epoch()
    }
}

/// What an access has brought to light.
#[derive(Default, Debug)]
pub struct Findings {
    /// Accesses that nothing orders before the one at hand.
    pub races: Vec<Record>,
    /// Sites that access what is raced for. Sorted.
    pub shared: Vec<SiteId>,
}

impl Findings {
    #[cold]
    fn raced(&mut self, key: Key, site: SiteId) {
        self.races.push(Record { key, site: SiteId(site.0 & !POINT), granule: None });
    }

    #[cold]
    fn share(&mut self, site: SiteId) {
        let site = SiteId(site.0 & !POINT);
        if site != SiteId::UNKNOWN
            && let Err(at) = self.shared.binary_search(&site)
        {
            self.shared.insert(at, site);
        }
    }
}

/// Bytes from which on it pays to look whether neighbours are the same.
const RANGE: usize = 4 * GRANULE;

/// The cells of a page.
struct Page([Cell; CELLS]);

// SAFETY: numbers, of which 0 says that there is nothing.
unsafe impl Zeros for Page {}

/// The shadow of all memory that was accessed.
#[derive(Default, Debug)]
pub struct Shadow {
    pages: Pages<Page>,
    // Pages of which all cells are the same.
    even: Even,
    // What accesses of the running task have in common until it releases; 0, which no record has, if that is not
    // known or nobody may look quickly.
    now: u64,
    // Records that there was no room for.
    thrown_out: usize,
    // Cells that are to be cleared before another run, if there will be one in this process.
    used: Vec<*mut Cell>,
    afterwards: Afterwards,
}

/// What becomes of cells when the run is over.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Afterwards {
    /// The process ends. It is a copy, which has the memory of a cell only once it writes there.
    #[default]
    Nothing,
    /// They are cleared, so those that are used are listed.
    Cleared,
    /// All memory becomes what it was.
    PutBack,
}

/// Cells that are about to be changed.
struct Used<'a> {
    afterwards: Afterwards,
    cells: &'a mut Vec<*mut Cell>,
}

impl Used<'_> {
    #[inline(always)]
    fn touch(&mut self, cell: &mut Cell) {
        match self.afterwards {
            Afterwards::Nothing => cell.claim(),
            Afterwards::Cleared if cell.is_empty() => self.cells.push(cell),
            _ => {}
        }
    }

    /// Cells become what one has become, as long as they are what that was. Says how many.
    fn repeat(&mut self, before: &Cell, after: &Cell, cells: &mut [Cell]) -> usize {
        let claims = self.afterwards == Afterwards::Nothing;
        let listed = self.afterwards == Afterwards::Cleared && before.is_empty();
        for (count, cell) in cells.iter_mut().enumerate() {
            if claims && cell.is_first() {
                cell.claim();
            }
            if !cell.is_same(before) {
                return count;
            }
            if listed {
                self.cells.push(cell);
            }
            *cell = *after;
        }
        cells.len()
    }
}

impl Shadow {
    /// Makes room for what runs will need, before they begin.
    pub fn reserve(&mut self) {
        self.pages.reserve();
    }

    /// Another run begins.
    pub fn begin(&mut self) {
        for cell in self.used.drain(..) {
            // SAFETY: cells stay where they are.
            unsafe { (*cell).clear() };
        }
        self.even.clear();
        self.now = 0;
        self.thrown_out = 0;
    }

    /// There will be several runs in this process, each after the other.
    pub fn reuse(&mut self) {
        self.afterwards = Afterwards::Cleared;
    }

    /// The same, and before each of them all memory will be put back.
    pub fn is_put_back(&mut self) {
        self.afterwards = Afterwards::PutBack;
    }

    /// The task that runs, or its time, may be another from now on.
    #[inline(always)]
    pub fn moved(&mut self) {
        self.now = 0;
    }

    /// Plain accesses are those of this task at this time, until [`Shadow::moved`].
    #[inline(always)]
    pub fn stays(&mut self, task: TaskId, time: i32) {
        self.now = Key::of(task, time);
    }

    /// Whether nothing would come of a plain access by the running task, since it has done the same before.
    #[inline(always)]
    pub fn has<const SIZE: usize, const WRITE: bool>(&self, address: usize, site: SiteId) -> bool {
        // What lies across two granules, or could, is not looked for.
        if SIZE > GRANULE {
            return false;
        }
        let Some(page) = self.pages.near::<SIZE>(address) else { return false };
        let offset = address & (GRANULE - SIZE);
        let key = Key::new(self.now, offset, SIZE, How { write: WRITE, atomic: false });
        page.0[address % PAGE / GRANULE].has::<WRITE>(key, offset, site)
    }

    /// Notes an access to as many bytes as a number has, if all that it does is to take the place of one like it.
    /// Otherwise nothing has happened. As with [`Shadow::has`] nothing else need be asked.
    #[inline(always)]
    pub fn renews(&mut self, access: &Access, time: i32, clocks: &Clocks) -> bool {
        let Access { address, size, how, task, site, .. } = *access;
        if size > GRANULE {
            return false;
        }
        let Some(page) = self.pages.near_mut(address, size) else { return false };
        let offset = address & (GRANULE - size);
        let key = Key::new(Key::of(task, time), offset, size, how);
        page.0[address % PAGE / GRANULE].again(key, offset, site, task, clocks)
    }

    /// Notes an access at a time of its task's clock, and tells of the records that nothing orders before it.
    #[inline(always)]
    pub fn access(&mut self, access: &Access, time: i32, clocks: &Clocks, findings: &mut Findings) {
        let &Access { address, size, how, task, .. } = access;
        let (now, site, heard) = (Key::of(task, time), access.kept_site(), clocks.heard(task));
        if !self.notes_near(address, size, how, now, site, heard, findings) {
            self.access_far(access, time, clocks, findings);
        }
    }

    /// The same for an access to a few bytes in a page that was accessed lately, by a task that has heard so much of each.
    /// False, and nothing has happened, if it is not such a one.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "they travel in registers")]
    pub(crate) fn notes_near(
        &mut self,
        address: usize,
        size: usize,
        how: How,
        now: u64,
        site: SiteId,
        heard: &[i32],
        findings: &mut Findings,
    ) -> bool {
        let offset = address % GRANULE;
        if size == 0 || offset + size > GRANULE {
            return false;
        }
        // A page that has cells of its own is not even.
        let Some(page) = self.pages.near_mut(address, 1) else { return false };
        let cell = &mut page.0[address % PAGE / GRANULE];
        let key = Key::new(now, offset, size, how);
        match self.afterwards {
            Afterwards::Nothing => cell.claim(),
            Afterwards::Cleared if cell.begin(key, offset, site) => {
                self.used.push(cell);
                return true;
            }
            _ => {}
        }
        let full = cell.note(key, offset, site, heard, self.thrown_out, findings);
        self.thrown_out += usize::from(full);
        true
    }

    #[inline(never)]
    fn access_far(&mut self, access: &Access, time: i32, clocks: &Clocks, findings: &mut Findings) {
        if access.size >= PAGE || !self.even.is_empty() {
            return self.access_pages(access, time, clocks, findings);
        }
        self.access_cells(access, time, clocks, findings);
    }

    /// The same page by page: whole pages whose cells are the same are done with by one of these.
    #[cold]
    fn access_pages(&mut self, access: &Access, time: i32, clocks: &Clocks, findings: &mut Findings) {
        let (mut at, end) = (access.address, access.address + access.size);
        while at < end {
            let upto = end.min((at / PAGE + 1) * PAGE);
            let part = Access { address: at, size: upto - at, ..*access };
            if part.size < PAGE || !self.access_page(&part, time, clocks, findings) {
                let used = (self.afterwards == Afterwards::Cleared).then_some(&mut self.used);
                self.even.part(at, &mut self.pages, used);
                self.access_cells(&part, time, clocks, findings);
            }
            at = upto;
        }
    }

    /// False, and nothing has happened, if the cells of a page are different, or would be.
    fn access_page(&mut self, access: &Access, time: i32, clocks: &Clocks, findings: &mut Findings) -> bool {
        let Access { address, how, task, .. } = *access;
        let Some(mut cell) = self.even.get(address, &mut self.pages) else { return false };
        let key = Key::new(Key::of(task, time), 0, GRANULE, how);
        let (races, shared) = (findings.races.len(), findings.shared.clone());
        if cell.note(key, 0, access.kept_site(), clocks.heard(task), self.thrown_out, findings) {
            // Another record is thrown out in each cell.
            findings.races.truncate(races);
            findings.shared = shared;
            return false;
        }
        findings.races[races..].iter_mut().for_each(|race| race.granule = Some(address));
        self.even.set(address, cell);
        true
    }

    #[inline(never)]
    fn access_cells(&mut self, access: &Access, time: i32, clocks: &Clocks, findings: &mut Findings) {
        let Access { address, size, how, task, .. } = *access;
        let site = access.kept_site();
        let now = Key::of(task, time);
        let heard = clocks.heard(task);
        let mut used = Used { afterwards: self.afterwards, cells: &mut self.used };
        let (mut at, end) = (address, address + size);
        while at < end {
            let granule = at & !(GRANULE - 1);
            let upto = end.min(granule + GRANULE);
            let offset = at - granule;
            let key = Key::new(now, offset, upto - at, how);
            let (cell, others) = self.pages.make(granule).0[granule % PAGE / GRANULE..]
                .split_first_mut()
                .expect("raddle bug: a page has no such cell");
            used.touch(cell);
            at = upto;
            let told = (findings.races.len(), findings.shared.len());
            let before = *cell;
            let full = cell.note(key, offset, site, heard, self.thrown_out, findings);
            self.thrown_out += usize::from(full);
            findings.races[told.0..].iter_mut().for_each(|race| race.granule = Some(granule));
            let silent = !full && told == (findings.races.len(), findings.shared.len());
            if silent && size >= RANGE && upto - granule == GRANULE && offset == 0 {
                // Neighbours mostly are the same, and then the same becomes of them.
                let count = others.len().min((end - at) / GRANULE);
                at += GRANULE * used.repeat(&before, cell, &mut others[..count]);
            }
        }
    }

    /// The memory is given out anew: what was done to it before concerns nobody.
    pub fn forget(&mut self, start: usize, size: usize) {
        if !self.even.is_empty() {
            self.even.forget(start, start + size);
            for edge in [start, start + size] {
                if !edge.is_multiple_of(PAGE) {
                    let used = (self.afterwards == Afterwards::Cleared).then_some(&mut self.used);
                    self.even.part(edge, &mut self.pages, used);
                }
            }
        }
        self.pages.each(start, start + size, |page, cells| {
            let from = start.max(page) - page;
            let upto = (start + size).min(page + PAGE) - page;
            cells.0[from / GRANULE..upto.div_ceil(GRANULE)].iter_mut().for_each(Cell::clear);
        });
    }
}
