//! Something about each page of the program's memory, found by address in a few instructions.
//!
//! All pages are in a map; those looked at lately are in a small table before it, each in the one place that its
//! number says. A table that covers all memory would save two instructions, and cost every run, which is a copy of
//! the process, page tables for all corners of the memory that a program uses.

use crate::arena;
use crate::objects::ByAddress;
use alloc::vec::Vec;
use core::fmt;

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// Places in the table.
const NEAR: usize = 64;

/// In a page's start, which is a multiple of its size: there is nothing for it.
const ABSENT: usize = PAGE / 2;
/// The start of no page: nothing was looked at lately.
const EMPTY: usize = PAGE - 1;

/// The place of a page in the table.
#[inline(always)]
fn place(address: usize) -> usize {
    address / PAGE % NEAR
}

struct Near<T> {
    // invariant: the page is what the map has for the one that starts there; null if that is marked as absent.
    start: usize,
    page: *mut T,
}

/// Values of type `T` by page.
pub struct Pages<T> {
    all: ByAddress<*mut T>,
    near: [Near<T>; NEAR],
    // Mappings with room for so many each. The kernel gives zeros, and only what is touched.
    mapped: Vec<*mut T>,
    left: usize,
}

/// How many there is room for in a mapping.
const ROOM: usize = 64;

/// Memory that is nothing but numbers: zeros are a value of it.
///
/// # Safety
/// All zeros must be valid.
pub unsafe trait Zeros: Sized {}

// SAFETY: bytes.
unsafe impl<const N: usize> Zeros for [u8; N] {}

impl<T: Zeros> Pages<T> {
    /// Nothing about any page.
    pub const fn new() -> Pages<T> {
        let near = [const { Near { start: EMPTY, page: core::ptr::null_mut() } }; NEAR];
        let all = ByAddress::with_hasher(core::hash::BuildHasherDefault::new());
        Pages { all, near, mapped: Vec::new(), left: 0 }
    }

    /// What there is for the page of an address, if that was looked at lately and the address is a multiple of `ALIGN`.
    #[inline(always)]
    pub fn near<const ALIGN: usize>(&self, address: usize) -> Option<&T> {
        let near = self.near_place(address);
        // SAFETY: pages stay where they are, and live as long as this.
        (near.start == address & !(PAGE - ALIGN)).then(|| unsafe { &*near.page })
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn near_mut(&mut self, address: usize, align: usize) -> Option<&mut T> {
        let near = self.near_place(address);
        // SAFETY: as above.
        (near.start == address & !(PAGE - align)).then(|| unsafe { &mut *near.page })
    }

    /// Whether it is known, since that was looked at lately, that there is nothing for the page of an address.
    #[inline(always)]
    pub fn knows_none(&self, address: usize) -> bool {
        self.near_place(address).start == address & !(PAGE - 1) | ABSENT
    }

    #[inline(always)]
    fn near_place(&self, address: usize) -> &Near<T> {
        // The place is that of `place`, in fewer instructions.
        let at = (address / (PAGE / size_of::<Near<T>>())) & ((NEAR - 1) * size_of::<Near<T>>());
        // SAFETY: the place is within the table, and a multiple of its entries' size.
        unsafe { &*self.near.as_ptr().byte_add(at) }
    }

    /// What there is for the page of an address.
    #[inline]
    pub fn get(&mut self, address: usize) -> Option<&mut T> {
        let start = address & !(PAGE - 1);
        let near = &mut self.near[place(address)];
        if near.start & !ABSENT != start {
            *near = match self.all.get(&(address / PAGE)) {
                Some(&page) => Near { start, page },
                None => Near { start: start | ABSENT, page: core::ptr::null_mut() },
            };
        }
        // SAFETY: as above.
        unsafe { near.page.as_mut() }
    }

    /// The same, made if there is nothing yet.
    #[inline]
    pub fn make(&mut self, address: usize) -> &mut T {
        let place = place(address);
        if self.near[place].start != address & !(PAGE - 1) {
            self.make_far(address / PAGE);
        }
        // SAFETY: as above; it was just made if there was none.
        unsafe { &mut *self.near[place].page }
    }

    #[cold]
    #[inline(never)]
    fn make_far(&mut self, number: usize) {
        let page = match self.all.get(&number) {
            Some(&page) => page,
            None => {
                if self.left == 0 {
                    self.reserve();
                }
                // SAFETY: within the last mapping, which has room for it.
                let page = unsafe { self.mapped[self.mapped.len() - 1].add(ROOM - self.left) };
                self.left -= 1;
                self.all.insert(number, page);
                page
            }
        };
        self.near[number % NEAR] = Near { start: number * PAGE, page };
    }

    /// Makes room for some more, before copies of the process are made which would each have to do it.
    pub fn reserve(&mut self) {
        let memory = arena::take(ROOM * size_of::<T>());
        assert!(!memory.is_null(), "raddle: there is no memory left for what is known of the program's");
        self.mapped.push(memory.cast());
        self.left = ROOM;
    }

    /// Does something with every page between two addresses that there is something for.
    pub fn each(&mut self, start: usize, end: usize, mut each: impl FnMut(usize, &mut T)) {
        let numbers = start / PAGE..end.div_ceil(PAGE);
        if self.all.len() < numbers.len() {
            let pages = self.all.iter().filter(|(number, _)| numbers.contains(number));
            // SAFETY: a page of ours, which nobody else uses now.
            pages.for_each(|(&number, &page)| each(number * PAGE, unsafe { &mut *page }));
        } else {
            for number in numbers {
                if let Some(page) = self.get(number * PAGE) {
                    each(number * PAGE, page);
                }
            }
        }
    }
}

impl<T> Drop for Pages<T> {
    fn drop(&mut self) {
        for memory in self.mapped.drain(..) {
            // SAFETY: our own mapping, and nobody uses it any more.
            unsafe { arena::give(memory.cast(), ROOM * size_of::<T>()) };
        }
    }
}

impl<T: Zeros> Default for Pages<T> {
    fn default() -> Pages<T> {
        Pages::new()
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} pages", self.all.len())
    }
}
