//! Pages that every run writes to. A copy of the process has to copy each of them, and finds out page by page: a fault costs as
//! much again as the page. But the kernel copies at once, when it makes the copy, what a device may be writing to meanwhile
//! (since Linux 5.9), and memory that is registered with an `io_uring` counts as such. So some copies tell which pages they
//! have written, and those that most of them have are registered by the one who makes the others.
//!
//! The kernel knows only of a large page as a whole whether it is such, and would copy all of it. So pages are left out that may be
//! part of one.
//!
//! Nothing else is done with the ring, and copies have none of it. Where there is no `io_uring` copies find out as before. What is in
//! a page, and who sees it, is the same in either case.

use crate::arena;
use crate::code::PAGE;
use crate::large::LARGE;
use crate::maps::{self, Mapping};
use crate::pagemap::Pagemap;
use crate::sys::{self, nr};
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Most pages, and stretches of memory that are looked at. What is beyond is found out page by page.
const PAGES_MAX: usize = 1000;
const STRETCHES_MAX: usize = 64;

/// Larger ones are not looked at: that would take longer than it saves.
const STRETCH_MAX: usize = 1 << 30;

/// What copies have told. In memory that processes share; zeros are nothing.
#[repr(C)]
pub(crate) struct Written {
    /// Copies that have told.
    told: AtomicUsize,
    /// Memory that can be written: where each stretch begins and ends.
    stretches: [[AtomicUsize; 2]; STRETCHES_MAX],
    stretches_count: AtomicUsize,
    /// Pages that some have written, and by how many, in the bits that no address of a page has.
    pages: [AtomicUsize; PAGES_MAX],
    pages_count: AtomicUsize,
}

impl Written {
    /// In the one who makes copies: nobody has told anything. Whether they can.
    pub(crate) fn begin(&self, buffer: &mut [u8]) -> bool {
        self.told.store(0, Ordering::Relaxed);
        self.pages_count.store(0, Ordering::Relaxed);
        let Ok(length) = maps::read(buffer) else { return false };
        let lines = buffer[..length].split(|&byte| byte == b'\n').filter_map(Mapping::parse);
        let all = lines.filter(|part| part.writable && part.end - part.start <= STRETCH_MAX);
        let mut count = 0;
        for (place, part) in self.stretches.iter().zip(all) {
            place[0].store(part.start, Ordering::Relaxed);
            place[1].store(part.end, Ordering::Relaxed);
            count += 1;
        }
        self.stretches_count.store(count, Ordering::Relaxed);
        count > 0
    }

    fn stretches(&self) -> impl Iterator<Item = Range<usize>> {
        let count = self.stretches_count.load(Ordering::Relaxed);
        let places = self.stretches.iter().take(count);
        places.map(|[start, end]| start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed))
    }

    /// In a copy whose run is over: tells which pages it has written. Writes to none of its own, which would be told.
    pub(crate) fn tell(&self, buffer: &mut [u64]) {
        let Some(pagemap) = Pagemap::open() else { return };
        for stretch in self.stretches() {
            pagemap.each(&stretch, buffer, |page, entry| {
                // What was not written the one who has made the copy has, too.
                let address = stretch.start + page * PAGE;
                let is_own = entry.is_there() && entry.is_exclusive() && !entry.is_of_file();
                if is_own && !may_be_large(&stretch, address) {
                    self.add(address);
                }
            });
        }
        self.told.store(self.told.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    fn add(&self, page: usize) {
        let count = self.pages_count.load(Ordering::Relaxed);
        let known =
            self.pages[..count].iter().find(|known| known.load(Ordering::Relaxed) / PAGE == page / PAGE);
        if let Some(known) = known {
            known.fetch_add(1, Ordering::Relaxed);
        } else if count < PAGES_MAX {
            self.pages[count].store(page + 1, Ordering::Relaxed);
            self.pages_count.store(count + 1, Ordering::Relaxed);
        }
    }

    /// The pages that more than half have written, in stretches.
    fn mostly(&self, mut each: impl FnMut(Range<usize>)) {
        let told = self.told.load(Ordering::Acquire);
        let count = self.pages_count.load(Ordering::Relaxed);
        let all = self.pages[..count].iter().map(|page| page.load(Ordering::Relaxed));
        let mut last = 0..0;
        for page in all.filter(|page| 2 * (page % PAGE) > told).map(|page| page / PAGE * PAGE) {
            if page == last.end {
                last.end += PAGE;
                continue;
            }
            if !last.is_empty() {
                each(last);
            }
            last = page..page + PAGE;
        }
        if !last.is_empty() {
            each(last);
        }
    }

    /// In the one who makes copies: these have of their own what most have written. Whether they do.
    pub(crate) fn register(&self, buffer: &mut [[usize; 2]]) -> bool {
        let mut count = 0;
        self.mostly(|range| {
            if let Some(place) = buffer.get_mut(count) {
                *place = [range.start, range.len()];
                count += 1;
            }
        });
        count > 0 && register(&buffer[..count])
    }
}

/// Whether a page may be part of a large one.
fn may_be_large(stretch: &Range<usize>, page: usize) -> bool {
    let start = page / LARGE * LARGE;
    let fits = stretch.start <= start && start + LARGE <= stretch.end;
    // Of the arena the kernel was told to make none.
    fits && stretch.start != arena::BASE
}

/// Registers memory with a ring, for as long as the process lives.
fn register(all: &[[usize; 2]]) -> bool {
    const SETUP: usize = 425;
    const REGISTER: usize = 427;
    const BUFFERS: usize = 0;
    const READ_WRITE_SHARED: [usize; 2] = [3, 1];
    const NOT_IN_COPIES: usize = 10;
    let mut parameters = [0u32; 30];
    // SAFETY: a structure of zeros, which the kernel fills in; a list that lives until the call returns, of memory that stays what
    // it is; a new mapping, which alone keeps the ring from then on.
    unsafe {
        let ring = sys::call3(SETUP, 1, parameters.as_mut_ptr() as usize, 0);
        if ring < 0 {
            return false;
        }
        let [access, sharing] = READ_WRITE_SHARED;
        let ring = ring as usize;
        let registered = sys::call(REGISTER, [ring, BUFFERS, all.as_ptr() as usize, all.len(), 0, 0]) == 0;
        let kept = if registered { sys::call(nr::MMAP, [0, PAGE, access, sharing, ring, 0]) } else { -1 };
        sys::call3(nr::CLOSE, ring, 0, 0);
        if kept < 0 {
            return false;
        }
        if sys::call3(nr::MADVISE, kept as usize, PAGE, NOT_IN_COPIES) != 0 {
            sys::call3(nr::MUNMAP, kept as usize, PAGE, 0);
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: usize = 6;
    const ROOM: usize = 1 << 16;

    /// The room, as that for numbers of some kind. One of these is used at a time.
    fn as_slice<T>(room: *mut u8) -> &'static mut [T] {
        // SAFETY: it is as long, is aligned as an array of words, and any bytes are numbers.
        unsafe { core::slice::from_raw_parts_mut(room.cast(), ROOM / size_of::<T>()) }
    }

    /// Makes a copy that does something to the pages, and ends with what that gives back.
    fn copy(deed: impl FnOnce() -> i32) -> i32 {
        let mut status = -1i32;
        // SAFETY: a copy of this one thread, which calls nothing that others of the process may be in.
        unsafe {
            let child = sys::call3(nr::CLONE, 17, 0, 0);
            if child == 0 {
                sys::exit(deed());
            }
            sys::call(nr::WAIT4, [child as usize, (&raw mut status) as usize, 0, 0, 0, 0]);
        }
        status >> 8
    }

    #[test]
    fn what_most_copies_write_later_ones_have_from_the_beginning() {
        // In a mapping of their own, whatever the kernel puts beside it.
        let pages = sys::map((PAGES + 2) * PAGE, false).wrapping_add(PAGE);
        // SAFETY: memory of our own.
        unsafe {
            [pages.sub(PAGE), pages.add(PAGES * PAGE)].into_iter().for_each(|edge| sys::forbid(edge, PAGE))
        };
        let room = sys::map(size_of::<Written>() + ROOM, true);
        // SAFETY: memory of our own, large enough; zeros are a value of it.
        let written = unsafe { &*room.cast::<Written>() };
        let behind = room.wrapping_add(size_of::<Written>());
        let byte = |page: usize| pages.wrapping_add(page * PAGE);
        // SAFETY: within the pages.
        let put = |page: usize, value: u8| unsafe { byte(page).write_volatile(value) };
        // SAFETY: likewise.
        let get = |page: usize| unsafe { byte(page).read_volatile() };
        (0..PAGES - 1).for_each(|page| put(page, 1));
        let is_ours = |page: usize| (0..PAGES).any(|it| byte(it) as usize == page);
        assert!(written.begin(as_slice::<u8>(behind)));
        // One writes another page than the rest; the last page is there in none but copies.
        for pages in [[1, 2, 5], [1, 2, 5], [1, 3, 5]] {
            let told = copy(|| {
                pages.iter().for_each(|&page| put(page, 7));
                written.tell(as_slice(behind));
                0
            });
            assert_eq!(told, 0);
        }
        let (mut found, mut count) = ([0; PAGES], 0);
        written.mostly(|range| {
            for page in range.step_by(PAGE).filter(|&page| is_ours(page)) {
                found[count] = page;
                count += 1;
            }
        });
        assert_eq!(found[..count], [1, 2, 5].map(|page| byte(page) as usize));
        let registered = written.register(as_slice(behind));
        let eager = copy(|| {
            let Some(pagemap) = Pagemap::open() else { return 99 };
            let (start, mut own) = (pages as usize, 0);
            pagemap.each(&(start..start + PAGES * PAGE), as_slice(behind), |page, entry| {
                own |= i32::from(entry.is_there() && entry.is_exclusive()) << page;
            });
            let same = (0..PAGES - 1).all(|page| get(page) == 1) && get(PAGES - 1) == 0;
            (0..PAGES).for_each(|page| put(page, 9));
            if same { own } else { 98 }
        });
        // A kernel without such a ring, or a limit that forbids it, changes nothing else.
        assert_eq!(eager, if registered { 0b10_0110 } else { 0 });
        assert!((0..PAGES - 1).all(|page| get(page) == 1), "a copy has its own");
    }

    #[test]
    fn what_may_be_part_of_a_large_page_is_left_out() {
        let stretch = LARGE - PAGE..3 * LARGE;
        assert!(!may_be_large(&stretch, LARGE - PAGE));
        assert!(may_be_large(&stretch, LARGE) && may_be_large(&stretch, 3 * LARGE - PAGE));
        assert!(!may_be_large(&(LARGE + PAGE..2 * LARGE), LARGE + PAGE));
        assert!(!may_be_large(&(arena::BASE..arena::BASE + 8 * LARGE), arena::BASE + 4 * LARGE));
    }
}
