//! The snapshot: which pages there were, what was in them, and which have been written since.
//!
//! The kernel notes writes itself: pages are write-protected through userfaultfd in the way that gives way without
//! telling anybody (`UFFD_FEATURE_WP_ASYNC`), and `PAGEMAP_SCAN` lists those whose protection is gone. A page that
//! was written once stays writable and is put back after every run, so that in the steady state there are no
//! faults. Such a set of pages hardly changes from run to run, and to put it back costs less than to ask the kernel for
//! it; so the kernel is asked only now and then (see `control`). To protect with `mprotect` would be wrong: the kernel itself could not write there, and calls fail.
//!
//! Pages that did not exist when the snapshot was taken are filled with zeros: that is what they were.

use crate::maps::{self, Mapping, Missing};
use crate::sys::{self, nr};
use core::ops::Range;

pub(super) const PAGE: usize = 4096;

/// What the kernel says of pages.
const WP_ALLOWED: u64 = 1;
const WRITTEN: u64 = 1 << 1;
const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
const ZERO: u64 = 1 << 5;

/// To protect what was found.
const PROTECT: u64 = 1;

/// A stretch of pages, as the kernel lists them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    start: u64,
    end: u64,
    categories: u64,
}

/// `struct pm_scan_arg`.
#[repr(C)]
#[derive(Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    stretches: u64,
    stretches_len: u64,
    pages_max: u64,
    inverted: u64,
    all_of: u64,
    any_of: u64,
    wanted: u64,
}

/// `_IOWR`: an ioctl that reads and writes its argument.
const fn iowr<T>(kind: usize, number: usize) -> usize {
    3 << 30 | size_of::<T>() << 16 | kind << 8 | number
}

/// Where the snapshot has its memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) ranges: *mut Stretch,
    pub(super) ranges_max: usize,
    /// As many again.
    pub(super) known: *mut Stretch,
    pub(super) text: *mut u8,
    pub(super) text_max: usize,
    pub(super) addresses: *mut usize,
    pub(super) store: *mut u8,
    pub(super) pages_max: usize,
}

/// What is looked for among pages.
#[derive(Clone, Copy)]
struct Wanted {
    flags: u64,
    inverted: u64,
    all_of: u64,
    any_of: u64,
}

/// Those that may differ from the snapshot.
const CHANGED: Wanted =
    Wanted { flags: 0, inverted: 0, all_of: WP_ALLOWED | WRITTEN, any_of: PRESENT | SWAPPED };

/// All that are watched.
const THERE: Wanted = Wanted { flags: 0, inverted: 0, all_of: WP_ALLOWED, any_of: PRESENT | SWAPPED };

/// The snapshot.
#[derive(Debug)]
pub(super) struct Pages {
    pub(super) room: Room,
    pagemap: usize,
    userfault: usize,
    /// From the lowest to the highest of what is watched.
    low: usize,
    high: usize,
    /// Pages that are kept: the addresses are in ascending order.
    pub(super) count: usize,
    /// Stretches that were written in some run so far, as of the last scan. In the place of what the kernel says of them
    /// stands how many kept pages are below.
    known_count: usize,
}

impl Pages {
    pub(super) fn new(room: Room) -> Pages {
        Pages { room, pagemap: 0, userfault: 0, low: usize::MAX, high: 0, count: 0, known_count: 0 }
    }

    /// The descriptors that this needs.
    pub(super) fn descriptors(&self) -> [usize; 2] {
        [self.pagemap, self.userfault]
    }

    /// Takes the snapshot of all private memory that can be written, but for what lies outside. An earlier one is no more.
    pub(super) fn take(&mut self, outside: (usize, usize)) -> Result<(), &'static [u8]> {
        if self.count == 0 {
            self.open()?;
        }
        *self = Pages { pagemap: self.pagemap, userfault: self.userfault, ..Pages::new(self.room) };
        let length = self.read_maps()?;
        // SAFETY: read just now.
        let text = unsafe { core::slice::from_raw_parts(self.room.text, length) };
        for line in text.split(|&byte| byte == b'\n') {
            let Some(mapping) = Mapping::parse(line) else { continue };
            // The kernel makes one mapping of neighbours.
            let before = Mapping { end: mapping.end.min(outside.0), ..mapping };
            let behind = Mapping { start: mapping.start.max(outside.1), ..mapping };
            for part in [before, behind] {
                if part.writable && part.start < part.end {
                    self.keep(&part)?;
                }
            }
        }
        // From here on writes are noted.
        self.scan((self.low, self.high), Wanted { flags: PROTECT, ..CHANGED }, |_, _| Ok(()))
    }

    fn open(&mut self) -> Result<(), &'static [u8]> {
        const READ_CLOEXEC: usize = 0o2000000;
        const USER_MODE_ONLY_CLOEXEC: usize = 1 | 0o2000000 | 0o4000;
        const API: u64 = 0xaa;
        const ASYNC_ALSO_UNPOPULATED: u64 = 1 << 15 | 1 << 13;
        // SAFETY: a path that ends with a zero, and a structure that lives until the call returns.
        unsafe {
            let path = c"/proc/self/pagemap".as_ptr() as usize;
            self.pagemap = sys::out_of_the_way(sys::call3(nr::OPEN, path, READ_CLOEXEC, 0))
                .ok_or(&b"/proc/self/pagemap cannot be read"[..])?;
            self.userfault = sys::out_of_the_way(sys::call3(nr::USERFAULTFD, USER_MODE_ONLY_CLOEXEC, 0, 0))
                .ok_or(&b"userfaultfd is not allowed"[..])?;
            let mut api = [API, ASYNC_ALSO_UNPOPULATED, 0];
            let command = iowr::<[u64; 3]>(API as usize, 0x3f);
            if sys::call3(nr::IOCTL, self.userfault, command, api.as_mut_ptr() as usize) != 0 {
                return Err(b"userfaultfd cannot note writes by itself (Linux 6.7 can)");
            }
        }
        Ok(())
    }

    fn read_maps(&self) -> Result<usize, &'static [u8]> {
        // SAFETY: the buffer is ours.
        let text = unsafe { core::slice::from_raw_parts_mut(self.room.text, self.room.text_max) };
        maps::read(text).map_err(|missing| match missing {
            Missing::Unreadable => &b"/proc/self/maps cannot be read"[..],
            Missing::TooLong => b"the program has too many mappings",
        })
    }

    /// Has writes noted there. False if that cannot be.
    pub(super) fn watch(&mut self, start: usize, end: usize) -> bool {
        const WRITE_PROTECT: u64 = 2;
        let mut register = [start as u64, (end - start) as u64, WRITE_PROTECT, 0];
        let command = iowr::<[u64; 4]>(0xaa, 0);
        // SAFETY: a structure that lives until the call returns.
        let done = unsafe { sys::call3(nr::IOCTL, self.userfault, command, register.as_mut_ptr() as usize) };
        self.low = self.low.min(start);
        self.high = self.high.max(end);
        done == 0
    }

    /// Keeps what is in a mapping, and watches it.
    fn keep(&mut self, mapping: &Mapping) -> Result<(), &'static [u8]> {
        let (start, end) = (mapping.start, mapping.end);
        if mapping.of_file {
            // Pages of the file become our own, all of them: what is not there yet would be taken for zeros.
            for page in (start..end).step_by(PAGE) {
                let byte = page as *mut u8;
                // SAFETY: memory that can be written, by the one thread that there is.
                unsafe { byte.write_volatile(byte.read_volatile()) };
            }
        }
        if !self.watch(start, end) {
            return Err(b"some of the program's memory cannot be watched");
        }
        let there = Wanted { flags: 0, inverted: ZERO, all_of: ZERO, any_of: PRESENT | SWAPPED };
        self.scan((start, end), there, |pages, stretch| {
            for page in (stretch.start as usize..stretch.end as usize).step_by(PAGE) {
                if pages.count == pages.room.pages_max {
                    return Err(b"the program has too much memory");
                }
                // SAFETY: a page of the program, and room of our own for as many.
                unsafe {
                    pages.room.addresses.add(pages.count).write(page);
                    let to = pages.room.store.add(pages.count * PAGE);
                    core::ptr::copy_nonoverlapping(page as *const u8, to, PAGE);
                }
                pages.count += 1;
            }
            Ok(())
        })
    }

    /// Lists stretches of pages, in ascending order.
    #[inline]
    fn scan(
        &mut self,
        within: (usize, usize),
        wanted: Wanted,
        mut each: impl FnMut(&mut Pages, Stretch) -> Result<(), &'static [u8]>,
    ) -> Result<(), &'static [u8]> {
        let mut at = within.0;
        while at < within.1 {
            let mut scan = Scan {
                size: size_of::<Scan>() as u64,
                flags: wanted.flags,
                start: at as u64,
                end: within.1 as u64,
                stretches: self.room.ranges as u64,
                stretches_len: self.room.ranges_max as u64,
                inverted: wanted.inverted,
                all_of: wanted.all_of,
                any_of: wanted.any_of,
                wanted: wanted.all_of | wanted.any_of,
                ..Scan::default()
            };
            let command = iowr::<Scan>(usize::from(b'f'), 16);
            // SAFETY: the structure is as the kernel lays it out, and there is room for so many stretches.
            let count = unsafe { sys::call3(nr::IOCTL, self.pagemap, command, (&raw mut scan) as usize) };
            if count < 0 {
                return Err(b"PAGEMAP_SCAN is not there (Linux 6.7 has it)");
            }
            for index in 0..count as usize {
                // SAFETY: the kernel has written so many.
                let stretch = unsafe { self.room.ranges.add(index).read() };
                each(self, stretch)?;
            }
            at = scan.walk_end as usize;
        }
        Ok(())
    }

    fn addresses(&self) -> &[usize] {
        // SAFETY: written by `keep`.
        unsafe { core::slice::from_raw_parts(self.room.addresses, self.count) }
    }

    /// Puts everything back that has been written. True if that was more than was known of.
    pub(super) fn restore(&mut self) -> bool {
        let (mut count, mut news) = (0, false);
        let within = (self.low, self.high);
        let done = self.scan(within, CHANGED, |pages, stretch| {
            let below = pages.kept_below(stretch.start as usize);
            pages.put_back(stretch, below);
            if count < pages.room.ranges_max {
                // SAFETY: there is room for so many.
                let known = unsafe { &mut *pages.room.known.add(count) };
                news |=
                    count >= pages.known_count || (known.start, known.end) != (stretch.start, stretch.end);
                *known = Stretch { categories: below as u64, ..stretch };
            } else {
                news = true;
            }
            count += 1;
            Ok(())
        });
        assert!(done.is_ok(), "raddle bug: pages can no longer be listed");
        self.known_count = count.min(self.room.ranges_max);
        news
    }

    /// Puts back what is known to be written, without a look whether that is all.
    pub(super) fn restore_known(&mut self) {
        for index in 0..self.known_count {
            // SAFETY: so many were written down.
            let stretch = unsafe { self.room.known.add(index).read() };
            self.put_back(stretch, stretch.categories as usize);
        }
    }

    /// Every page that may differ from the last layer, and what it has held so far is what it is protected for again.
    pub(super) fn written(
        &mut self,
        protect: bool,
        mut each: impl FnMut(&mut Pages, usize),
    ) -> Result<(), &'static [u8]> {
        let wanted = Wanted { flags: if protect { PROTECT } else { 0 }, ..CHANGED };
        self.scan((self.low, self.high), wanted, |pages, stretch| {
            (stretch.start as usize..stretch.end as usize).step_by(PAGE).for_each(|page| each(pages, page));
            Ok(())
        })
    }

    /// Every page that there is.
    pub(super) fn each_there(&mut self, mut each: impl FnMut(&mut Pages, usize)) {
        let within = (self.low, self.high);
        let done = self.scan(within, THERE, |pages, stretch| {
            (stretch.start as usize..stretch.end as usize).step_by(PAGE).for_each(|page| each(pages, page));
            Ok(())
        });
        assert!(done.is_ok(), "raddle bug: pages can no longer be listed");
    }

    /// Whether a page is there.
    pub(super) fn exists(&mut self, page: usize) -> bool {
        let mut there = false;
        let done = self.scan((page, page + PAGE), THERE, |_, _| {
            there = true;
            Ok(())
        });
        assert!(done.is_ok(), "raddle bug: pages can no longer be listed");
        there
    }

    /// How many pages are kept that lie below an address.
    fn kept_below(&self, address: usize) -> usize {
        self.addresses().partition_point(|&page| page < address)
    }

    /// Puts back what is in a stretch, below which so many pages are kept.
    fn put_back(&mut self, stretch: Stretch, mut kept: usize) {
        let (start, size) = (stretch.start as usize, (stretch.end - stretch.start) as usize);
        let all_kept =
            || self.addresses().get(kept + size / PAGE - 1) == Some(&(stretch.end as usize - PAGE));
        if self.addresses().get(kept) == Some(&start) && all_kept() {
            // SAFETY: memory of the program, which stands still; kept pages lie in the store in order.
            unsafe {
                core::ptr::copy_nonoverlapping(self.room.store.add(kept * PAGE), start as *mut u8, size)
            };
            return;
        }
        for page in (stretch.start as usize..stretch.end as usize).step_by(PAGE) {
            // SAFETY: memory of the program, which stands still; kept pages lie in the store in order.
            unsafe {
                if self.addresses().get(kept) == Some(&page) {
                    let from = self.room.store.add(kept * PAGE);
                    core::ptr::copy_nonoverlapping(from, page as *mut u8, PAGE);
                    kept += 1;
                } else {
                    core::ptr::write_bytes(page as *mut u8, 0, PAGE);
                }
            }
        }
    }

    /// An address whose content is not what the snapshot has, looked for in all pages that there are.
    /// The kernel writes into some of it whenever it likes (`kernels`).
    pub(super) fn difference(&mut self, kernels: Range<usize>) -> Option<usize> {
        let mut found = None;
        let within = (self.low, self.high);
        let done = self.scan(within, THERE, |pages, stretch| {
            let mut kept = pages.kept_below(stretch.start as usize);
            for page in (stretch.start as usize..stretch.end as usize).step_by(PAGE) {
                // SAFETY: as above.
                let (now, then) = unsafe {
                    let now = core::slice::from_raw_parts(page as *const u64, PAGE / 8);
                    let then = pages.room.store.add(kept * PAGE).cast::<u64>();
                    (now, core::slice::from_raw_parts(then, PAGE / 8))
                };
                let is_kept = pages.addresses().get(kept) == Some(&page);
                let differs = |at: &usize| {
                    let own = page + at * 8;
                    now[*at] != if is_kept { then[*at] } else { 0 } && !kernels.contains(&own)
                };
                if let Some(at) = (0..PAGE / 8).find(differs) {
                    found.get_or_insert(page + at * 8);
                }
                kept += usize::from(is_kept);
            }
            Ok(())
        });
        assert!(done.is_ok(), "raddle bug: pages can no longer be listed");
        found
    }
}
