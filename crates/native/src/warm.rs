//! Makes copies of the process cheap: what a run would have to do first in every copy is done once, before any is made.
//! That before the first copy is [`up`]; what follows is known only when there have been some.
//!
//! The dearest of it is invisible. The kernel leaves out of a copy what it could read from a file again, so a run pays
//! with a page fault for each stretch of code that it comes to. It does copy the entries for a mapping that has been
//! written to; but then for all of its pages, and these cost in every copy, when it is made and when it ends. So one copy
//! is watched: which pages of code does it come to? From then on the entries of these, and of no others, are
//! copied. Copies that are made late come to fewer of them, and one of these is watched, too.
//!
//! To be watched, a copy has each page in a mapping of its own: the kernel brings in more than the page that is asked
//! for, but never beyond a mapping. They differ in whether they were part of a core dump, which changes nothing.

use crate::code::{self, Code, PAGE, PAGES_MAX};
use crate::large;
use crate::pagemap::Pagemap;
use crate::server::Shared;
use crate::sys::{self, nr};
use core::cell::UnsafeCell;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The first copy that is watched. Less are not worth it.
const WATCHED_FROM: u64 = 16;

/// What `madvise` is told.
const DROP: usize = 4;
const NO_DUMP: usize = 16;
const FETCH: usize = 22;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut u8;
    fn __libc_free(block: *mut u8);
    fn mallopt(what: i32, value: i32) -> i32;
}

/// Before the program begins, on its only thread.
pub fn up() {
    crate::calls::prepare();
    crate::libc::end_rseq();
    crate::data::join();
    code::join();
    crate::fini::look();
}

/// Before libc has a heap. It is to ask the kernel rarely. Its threads run one at a time, so they need no heaps of their own, each
/// of which is mapped, cut to size and unmapped again in every run.
///
/// And its heap is to begin where other memory is, not behind the executable's: it takes what the kernel maps if it cannot have
/// that, and then no tables of pages are copied for it alone.
pub(crate) fn set_up_heap() {
    const ARENAS_MAX: i32 = -8;
    const MAP_FROM: i32 = -3;
    const TRIM_FROM: i32 = -1;
    const GROW_BY: i32 = -2;
    const BREAK: usize = 12;
    // SAFETY: values that libc allows, a question, and a block that is given back.
    unsafe {
        mallopt(ARENAS_MAX, 1);
        mallopt(MAP_FROM, 1 << 20);
        mallopt(TRIM_FROM, i32::MAX);
        let behind = (sys::call3(BREAK, 0, 0, 0) as usize).next_multiple_of(PAGE);
        let barred = sys::reserve(behind, PAGE);
        __libc_free(__libc_malloc(1));
        if barred {
            sys::unmap(behind as *mut u8, PAGE);
        }
        // Not before: the kernel sets apart what is larger.
        mallopt(GROW_BY, 1 << 20);
    }
}

/// Which pages a run has come to, a bit for each in the order of [`Code`]. In memory that processes share.
pub(crate) struct Visited {
    /// Whether it is known.
    told: AtomicBool,
    bits: [AtomicU64; PAGES_MAX / 64],
}

/// Which of both it is that a copy from before main has come to, or one that was made late.
pub(crate) const EARLY: usize = 0;
pub(crate) const LATE: usize = 1;

impl Visited {
    fn is_told(&self) -> bool {
        self.told.load(Ordering::Acquire)
    }

    fn set(&self, page: usize) {
        self.bits[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
    }

    fn has(&self, page: usize) -> bool {
        self.bits[page / 64].load(Ordering::Relaxed) >> (page % 64) & 1 != 0
    }
}

/// In the server: another copy will be made. Whether it is to be watched.
pub(crate) fn another(shared: &Shared) -> bool {
    // Nobody else writes it.
    let made = shared.made.load(Ordering::Relaxed) + 1;
    shared.made.store(made, Ordering::Relaxed);
    !is_up(shared) && made >= WATCHED_FROM && made.is_power_of_two()
}

/// In the server: a copy has ended. If it was watched, and has come to its end, all others begin with what it needed.
pub(crate) fn ended(shared: &Shared) {
    let all = &shared.visited()[EARLY];
    if !is_up(shared) && all.is_told() {
        shared.warm.store(1, Ordering::Relaxed);
        fetch(all);
        large::lay();
    }
}

/// In a copy that makes others: these begin with what they need, and not with what it needed itself to come here.
pub(crate) fn again(shared: &Shared) {
    if is_up(shared) {
        let [all, late] = shared.visited();
        fetch(if late.is_told() { late } else { all });
    }
}

/// In such a copy: whether some that it makes are to be watched.
pub(crate) fn watches_late(shared: &Shared) -> bool {
    is_up(shared) && !shared.visited()[LATE].is_told()
}

/// Whether copies begin with what they need.
fn is_up(shared: &Shared) -> bool {
    shared.warm.load(Ordering::Relaxed) != 0
}

fn advise(address: usize, size: usize, what: usize) {
    // SAFETY: pages of code, which are in the file; whoever drops them knows that nothing else is in them.
    unsafe { sys::call3(nr::MADVISE, address, size, what) };
}

/// The code of a copy that is watched, and which kind it is of.
struct Watched(UnsafeCell<(Code, usize)>);

// SAFETY: written and read on the process's one thread, when its program has not begun or is over.
unsafe impl Sync for Watched {}

static WATCHED: Watched = Watched(UnsafeCell::new((Code::NONE, EARLY)));

/// In a copy, before the program begins or goes on: from now on it is seen which pages of code it comes to.
pub(crate) fn watch(kind: usize) {
    let Some(pagemap) = Pagemap::open() else { return };
    let code = Code::find();
    code.each(|_, stretch| {
        for page in stretch.range().step_by(2 * PAGE) {
            advise(page, PAGE, NO_DUMP);
        }
    });
    let mut buffer = [0; 128];
    // What has been needed to come here, but not what has been written: that is nowhere else.
    code.each(|_, stretch| {
        let range = stretch.range();
        pagemap.each(&range, &mut buffer, |page, entry| {
            if entry.is_there() && entry.is_of_file() {
                advise(range.start + page * PAGE, PAGE, DROP);
            }
        });
    });
    // SAFETY: see `Watched`.
    unsafe { *WATCHED.0.get() = (code, kind) };
}

/// In a copy, when its run is over. Tells which pages it has come to if it was watched.
pub(crate) fn tell(shared: &Shared) {
    // SAFETY: see `Watched`.
    let (code, kind) = unsafe { &*WATCHED.0.get() };
    if code.is_none() {
        return;
    }
    let Some(pagemap) = Pagemap::open() else { return };
    let (visited, mut buffer) = (&shared.visited()[*kind], [0; 128]);
    code.each(|first, stretch| {
        pagemap.each(&stretch.range(), &mut buffer, |page, entry| {
            if entry.is_there() {
                visited.set(first + page);
            }
        });
    });
    visited.told.store(true, Ordering::Release);
}

/// In the server: these pages of code are in the copies that it makes from now on, and no others.
fn fetch(visited: &Visited) {
    let Some(pagemap) = Pagemap::open() else { return };
    Code::find().each(|first, stretch| {
        let range = stretch.range();
        let is_visited = |page: usize| visited.has(first + page);
        if !(0..range.len() / PAGE).any(is_visited) {
            return;
        }
        let byte = range.start as *mut u8;
        // SAFETY: it can be read and written, and is as it was. A kernel that does not allow this has changed nothing.
        if !stretch.while_writable(|| unsafe { byte.write_volatile(byte.read_volatile()) }) {
            return;
        }
        advise(range.start, range.len(), FETCH);
        let (mut next, mut seen) = (0, 0);
        let drop = |pages: Range<usize>| {
            if !pages.is_empty() {
                advise(range.start + pages.start * PAGE, pages.len() * PAGE, DROP);
            }
        };
        pagemap.each(&range, &mut [0; 128], |page, entry| {
            // What has been written, by us or by whoever has loaded it, is nowhere else.
            seen = page + 1;
            if is_visited(page) || entry.is_there() && !entry.is_of_file() {
                drop(next..page);
                next = page + 1;
            }
        });
        drop(next..seen);
    });
}
