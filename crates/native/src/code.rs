//! Code of modules, in one mapping each. A module has several parts that are not to be written: what describes it, its
//! code, its constants, and what the loader has filled in and protected. Each is a mapping of its own only because of
//! what may be done there; if all of it may be executed they are one, and a copy of the process costs less.

use crate::large;
use crate::site::{Segment, each_module};
use crate::sys::{self, nr};
use core::ops::Range;

pub(crate) const PAGE: usize = 4096;

/// Most stretches and pages of code that are looked at, the first in the order of the modules.
const RANGES_MAX: usize = 96;
pub(crate) const PAGES_MAX: usize = 8192;

const READ: usize = 1;
const WRITE: usize = 2;
const EXECUTE: usize = 4;

/// The code of all modules: where its pages are, one stretch after the other. Code here is all that is not to be written.
pub(crate) struct Code {
    all: [Stretch; RANGES_MAX],
    count: usize,
}

/// Pages of a module that follow one another.
#[derive(Clone, Copy)]
pub(crate) struct Stretch {
    start: usize,
    end: usize,
    /// As `mprotect` is told it.
    access: usize,
}

impl Code {
    pub(crate) const NONE: Code =
        Code { all: [Stretch { start: 0, end: 0, access: 0 }; RANGES_MAX], count: 0 };

    pub(crate) fn find() -> Code {
        let (mut code, mut pages) = (Code::NONE, 0);
        each_module(|base, segments| {
            let is_code = segments.iter().any(|part| part.is_loaded() && part.is_executable());
            let access = READ | if is_code { EXECUTE } else { 0 };
            let first = code.count;
            // Parts are in the order of their addresses, but the protected one is told of at the end.
            let loaded = segments.iter().filter(|part| part.is_loaded());
            let all = loaded.chain(segments.iter().filter(|part| part.is_protected()));
            for range in all.filter_map(|part| unwritten(base, part)) {
                match code.all[first..code.count].last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ if code.count < RANGES_MAX => {
                        code.all[code.count] = Stretch { start: range.start, end: range.end, access };
                        code.count += 1;
                    }
                    _ => {}
                }
            }
            let here: usize = code.all[first..code.count].iter().map(Stretch::pages).sum();
            if pages + here <= PAGES_MAX {
                pages += here;
            } else {
                code.count = first;
            }
        });
        code
    }

    pub(crate) fn is_none(&self) -> bool {
        self.count == 0
    }

    /// Each stretch that is in the pages of its file, and the number of its first page.
    pub(crate) fn each(&self, mut each: impl FnMut(usize, &Stretch)) {
        let mut first = 0;
        for stretch in &self.all[..self.count] {
            if !large::is_begin(stretch.start) {
                each(first, stretch);
            }
            first += stretch.pages();
        }
    }
}

impl Stretch {
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    fn pages(&self) -> usize {
        (self.end - self.start) / PAGE
    }

    /// Whether it may be executed.
    pub(crate) fn is_executable(&self) -> bool {
        self.access & EXECUTE != 0
    }

    /// Lets it be written while this is done, or does nothing if the kernel does not allow that. Whether it did.
    ///
    /// It stays readable and, if it is code, executable all the time: we may be running in it.
    pub(crate) fn while_writable(&self, deed: impl FnOnce()) -> bool {
        // SAFETY: nothing is written but by the deed.
        let protect = |access| unsafe { sys::call3(nr::MPROTECT, self.start, self.end - self.start, access) };
        if protect(self.access | WRITE) != 0 {
            return false;
        }
        deed();
        protect(self.access);
        true
    }
}

/// The whole pages of a part that are not to be written, if there are any.
fn unwritten(base: usize, part: &Segment) -> Option<Range<usize>> {
    let start = (base + part.start()) / PAGE * PAGE;
    // The loader protects whole pages; what follows in the last of them is written.
    let end = if part.is_protected() {
        (base + part.end()) / PAGE * PAGE
    } else {
        (base + part.end()).next_multiple_of(PAGE)
    };
    let is_unwritten = part.is_protected() || !part.is_writable();
    (is_unwritten && start < end).then_some(start..end)
}

/// In the server, before the program begins, on its only thread: the loader is done with all modules. What may be written
/// counts as memory of this process for ever, and only what counts alike can be one mapping.
pub(crate) fn join() {
    Code::find().each(|_, stretch| {
        stretch.while_writable(|| {});
    });
}
