//! Memory that the program maps itself. What is shared (a file, a segment, memory without a name) may lie at several
//! addresses at once, and is one memory all the same: what is known of it is kept under an address that is nobody's, its
//! *home*, so that accesses meet wherever they come from. All other memory is its own home.
//!
//! Not seen are a file that is mapped to be shared and privately, too, and one that is also read and written by calls: that
//! is noted like all that no operation tells of (`hidden.rs`).

use crate::run::{Run, active, with};
use crate::sys::{self, nr};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::trace::Hidden;

/// What is mapped, where it matters whether that is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A file: its device and its number there.
    File(u64, u64),
    /// A segment of System V's, by its number.
    Segment(u64),
    /// Memory without a name, by its first address. Only `mremap` gives it another.
    Nameless(u64),
}

impl Source {
    /// The file behind a descriptor, if there is one.
    pub fn of_file(fd: i32) -> Option<Source> {
        // The kernel's `struct stat` begins with the two numbers.
        let mut about = [0u64; 18];
        // SAFETY: so many bytes are written to it, and no more.
        let result = unsafe { sys::call3(nr::FSTAT, fd as usize, about.as_mut_ptr() as usize, 0) };
        (result == 0).then_some(Source::File(about[0], about[1]))
    }

    /// Which of its kind it is, in [`Hidden::FILES`]: no descriptor and no stream has such a number.
    fn key(self) -> usize {
        let (Source::File(_, number) | Source::Segment(number) | Source::Nameless(number)) = self;
        number as usize | 1 << 63
    }
}

/// Homes begin here, beyond all that a program can address.
const HOMES: usize = 1 << 60;

/// How much room each of them has.
const ROOM: usize = 1 << 46;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mapping {
    start: usize,
    end: usize,
    // That of its first byte.
    home: usize,
}

impl Mapping {
    /// What is left of it without some memory: what lies before that, and what lies behind.
    fn without(self, start: usize, end: usize) -> [Mapping; 2] {
        let before = Mapping { end: self.end.min(start), ..self };
        let from = end.clamp(self.start, self.end);
        [before, Mapping { start: from, home: self.home + (from - self.start), ..self }]
    }

    fn is_some(&self) -> bool {
        self.start < self.end
    }
}

/// What the program has mapped.
#[derive(Clone, Default, Debug)]
pub struct Mappings {
    // Those that are shared, none over another.
    all: Vec<Mapping>,
    // From where on how much memory all of them lie.
    low: usize,
    extent: usize,
    // Whose home is the first, the second, …; none if nobody's.
    sources: Vec<Option<Source>>,
    // Files that are mapped and not shared: first address, end, which.
    private: Vec<(usize, usize, Source)>,
}

impl Mappings {
    /// Under which address something is known.
    #[inline(always)]
    pub fn home(&self, address: usize) -> usize {
        if self.is_shared(address) { self.look_up(address) } else { address }
    }

    /// Whether an address may have another home.
    #[inline(always)]
    pub fn is_shared(&self, address: usize) -> bool {
        address.wrapping_sub(self.low) < self.extent
    }

    /// Whether any of these bytes has another home.
    pub fn meets(&self, start: usize, end: usize) -> bool {
        self.all.iter().any(|mapping| mapping.start < end && start < mapping.end)
    }

    /// Whether nothing has another home.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    #[inline(never)]
    fn look_up(&self, address: usize) -> usize {
        let mapping = self.all.iter().find(|mapping| (mapping.start..mapping.end).contains(&address));
        mapping.map_or(address, |mapping| mapping.home + (address - mapping.start))
    }

    /// What lies at an address, if it is a home.
    pub fn describe(address: usize) -> Option<String> {
        (address >= HOMES)
            .then(|| format!("byte {} of shared memory that is mapped", (address - HOMES) % ROOM))
    }

    fn has(&self, source: Source) -> bool {
        self.sources.contains(&Some(source))
    }

    fn is_private(&self, source: Source) -> bool {
        self.private.iter().any(|&(_, _, of)| of == source)
    }

    /// Where a source begins.
    fn home_of(&mut self, source: Source) -> usize {
        let known = self.sources.iter().position(|&of| of == Some(source));
        let free = || self.sources.iter().position(Option::is_none);
        let at = known.or_else(free).unwrap_or_else(|| {
            self.sources.push(None);
            self.sources.len() - 1
        });
        self.sources[at] = Some(source);
        HOMES + at * ROOM
    }

    fn add(&mut self, start: usize, size: usize, home: usize) {
        self.all.push(Mapping { start, end: start + size, home });
        self.measure();
    }

    /// Some memory is no longer what it was.
    fn remove(&mut self, start: usize, end: usize) {
        let left = |mapping: Mapping| mapping.without(start, end).into_iter().filter(Mapping::is_some);
        self.all = self.all.iter().copied().flat_map(left).collect();
        self.private.retain(|&(from, upto, _)| upto <= start || from >= end);
        self.measure();
    }

    fn measure(&mut self) {
        let low = self.all.iter().map(|mapping| mapping.start).min().unwrap_or(0);
        let high = self.all.iter().map(|mapping| mapping.end).max().unwrap_or(0);
        (self.low, self.extent) = (low, high - low);
    }

    /// What is mapped nowhere any more has no home. Says where that was.
    fn clear_out(&mut self) -> Vec<(usize, Source)> {
        let Mappings { all, sources, .. } = self;
        let lived_in = |home: usize| all.iter().any(|mapping| (home..home + ROOM).contains(&mapping.home));
        let homes = sources.iter_mut().enumerate().map(|(at, source)| (HOMES + at * ROOM, source));
        let empty = homes.filter(|(home, _)| !lived_in(*home));
        empty.filter_map(|(home, source)| Some((home, source.take()?))).collect()
    }
}

impl Run {
    /// Some memory is no longer what it was: whoever gets it gets it anew.
    fn unmap(&mut self, start: usize, size: usize) {
        self.forget(start, size);
        self.objects.mappings.remove(start, start + size);
        self.look_around();
    }

    /// Homes that nobody has any more are given to others.
    fn clear_out(&mut self) {
        for (home, source) in self.objects.mappings.clear_out() {
            self.forget(home, ROOM);
            // What is in a file is still there when somebody maps it again.
            self.uses(Hidden::FILES, source.key(), true);
        }
    }

    fn map(&mut self, start: usize, size: usize, offset: usize, source: Option<Source>, shared: bool) {
        self.unmap(start, size);
        let mappings = &mut self.objects.mappings;
        match source {
            Some(source) if shared => {
                let (mixed, known) = (mappings.is_private(source), mappings.has(source));
                let home = mappings.home_of(source) + offset % ROOM;
                mappings.add(start, size, home);
                if mixed {
                    self.mixes();
                }
                if !known {
                    self.uses(Hidden::FILES, source.key(), true);
                }
            }
            Some(source) => {
                mappings.private.push((start, start + size, source));
                if mappings.has(source) {
                    self.mixes();
                }
            }
            None => {}
        }
        self.clear_out();
        self.look_around();
    }

    /// One memory is known as two.
    fn mixes(&mut self) {
        if self.searched {
            self.engine.hide(Hidden::FILES);
        }
    }
}

/// The program has mapped something, from an offset on.
pub fn mapped(start: usize, size: usize, offset: usize, source: Option<Source>, shared: bool) {
    with(|run| run.map(start, size, offset, source, shared));
}

/// It has given back what was mapped there.
pub fn unmapped(start: usize, size: usize) {
    with(|run| {
        run.unmap(start, size);
        run.clear_out();
    });
}

/// A segment is no longer mapped at this address.
pub fn detached(start: usize) {
    let mapping = with(|run| run.objects.mappings.all.iter().find(|of| of.start == start).copied());
    if let Some(Mapping { start, end, .. }) = mapping {
        unmapped(start, end - start);
    }
}

/// What lay in some memory lies elsewhere now, or there is more or less of it; if it was no memory at all it lies there
/// as well.
pub fn moved(old: usize, old_size: usize, new: usize, new_size: usize) {
    with(|run| {
        let home = run.objects.mappings.home(old);
        // What stays where it is stays what it is.
        let kept = if new == old { old_size.min(new_size) } else { 0 };
        run.unmap(old + kept, old_size - kept);
        run.unmap(new + kept, new_size - kept);
        if home != old && new_size > kept {
            run.objects.mappings.add(new + kept, new_size - kept, home + kept);
        }
        run.clear_out();
        run.look_around();
    });
}

/// The running thread calls something that reads or writes a file: if that is mapped nobody knows that they meet.
pub fn calls_on(fd: i32) {
    let mapped = active() && with(|run| run.several && !run.objects.mappings.is_empty());
    if mapped && let Some(source) = Source::of_file(fd) {
        with(|run| {
            if run.objects.mappings.has(source) {
                run.hides(Hidden::FILES);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Source = Source::File(1, 2);
    const OTHER: Source = Source::File(1, 3);

    fn map(mappings: &mut Mappings, start: usize, size: usize, offset: usize, source: Source) {
        let home = mappings.home_of(source) + offset;
        mappings.add(start, size, home);
    }

    #[test]
    fn two_addresses_of_one_byte_have_one_home() {
        let mut mappings = Mappings::default();
        assert_eq!(mappings.home(0x1000), 0x1000);
        map(&mut mappings, 0x1_0000, 0x2000, 0, FILE);
        map(&mut mappings, 0x8_0000, 0x1000, 0x1000, FILE);
        map(&mut mappings, 0x4_0000, 0x1000, 0, OTHER);
        assert_eq!(mappings.home(0x1_1008), mappings.home(0x8_0008));
        assert_ne!(mappings.home(0x1_0008), mappings.home(0x4_0008));
        assert_eq!(mappings.home(0x2_0000), 0x2_0000, "between two of them");
        assert_eq!(
            Mappings::describe(mappings.home(0x8_0008)).unwrap(),
            "byte 4104 of shared memory that is mapped"
        );
    }

    #[test]
    fn what_is_left_of_a_mapping_stays_where_it_is() {
        let mut mappings = Mappings::default();
        map(&mut mappings, 0x1_0000, 0x3000, 0, FILE);
        let last = mappings.home(0x1_2000);
        mappings.remove(0x1_1000, 0x1_2000);
        assert_eq!(mappings.home(0x1_1800), 0x1_1800);
        assert_eq!(mappings.home(0x1_2000), last);
        assert!(mappings.clear_out().is_empty());
        mappings.remove(0, usize::MAX);
        assert!(mappings.is_empty());
        assert_eq!(mappings.clear_out(), [(HOMES, FILE)]);
        map(&mut mappings, 0x1000, 0x1000, 0, OTHER);
        assert_eq!(mappings.home(0x1000), HOMES, "it is given to another");
    }
}
