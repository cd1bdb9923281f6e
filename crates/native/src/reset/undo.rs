//! What a run changes besides memory, and how it is put back: mappings, the end of the heap, descriptors, what is
//! done about signals.

use super::kept::Kept;
use super::streams::Streams;
use crate::server::Marks;
use crate::sys::{self, nr};
use alloc::vec::Vec;
use core::ops::Range;

/// Most mappings of a run that are remembered.
const MAPS_MAX: usize = 1024;
/// Most guard pages.
const FORBIDDEN_MAX: usize = 256;
/// Descriptors that are told apart; higher ones count as inherited.
pub(super) const DESCRIPTORS: usize = 1024;
/// Where descriptors are that the program has not made.
pub(super) const HIDDEN: Range<usize> = sys::OUT_OF_THE_WAY..DESCRIPTORS;
const GAPS_MAX: usize = 64;
const SIGNALS: usize = 65;

/// The kernel's structure.
type Action = [usize; 4];

/// What must be put back.
#[derive(Debug)]
pub(super) struct Undo {
    /// Whether there may be anything: a run that makes no system call and is not interrupted changes memory alone.
    pub(super) anything: bool,
    maps: [(usize, usize); MAPS_MAX],
    maps_count: usize,
    forbidden: [(usize, usize); FORBIDDEN_MAX],
    forbidden_count: usize,
    heap_end: usize,
    /// Whether the end of the heap may have moved.
    pub(super) heap_moved: bool,
    actions: [Action; SIGNALS],
    /// Signals whose actions were changed.
    pub(super) signals: u64,
    mask: u64,
    /// Whether signals may have been blocked, and may wait.
    pub(super) masked: bool,
    inherited: [u64; DESCRIPTORS / 64],
    gaps: [(u32, u32); GAPS_MAX],
    gaps_count: usize,
    /// How many descriptors were made at most, where the kernel takes the lowest number that is free.
    pub(super) opened: usize,
    /// Which of input and outputs may have been read or written, a bit for each.
    pub(super) files: u8,
    // How many of the mappings, and up to where the heap, belong to a checkpoint that is kept.
    firm_maps: usize,
    firm_heap: usize,
    /// Whether the run has taken away what belongs to a checkpoint.
    pub(super) spoiled: bool,
    /// Whether it has mapped what a checkpoint cannot keep.
    pub(super) peculiar: bool,
    /// Whether memory was mapped that is not put back.
    pub(super) shared: bool,
    /// Descriptors that the program had when the start was moved.
    pub(super) kept: Kept,
    /// Whether one of them could not be put back.
    pub(super) stuck: bool,
}

/// How things are at a checkpoint, besides memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    maps: usize,
    forbidden: usize,
    heap_end: usize,
    actions: [Action; SIGNALS],
    signals: u64,
    /// How far input was read, and what was written to the outputs.
    files: Marks,
}

impl Undo {
    pub(super) const fn new() -> Undo {
        Undo {
            anything: false,
            maps: [(0, 0); MAPS_MAX],
            maps_count: 0,
            forbidden: [(0, 0); FORBIDDEN_MAX],
            forbidden_count: 0,
            heap_end: 0,
            heap_moved: false,
            actions: [[0; 4]; SIGNALS],
            signals: 0,
            mask: 0,
            masked: false,
            inherited: [0; DESCRIPTORS / 64],
            gaps: [(0, 0); GAPS_MAX],
            gaps_count: 0,
            opened: 0,
            files: 0,
            firm_maps: 0,
            firm_heap: 0,
            spoiled: false,
            peculiar: false,
            shared: false,
            kept: Kept::NONE,
            stuck: false,
        }
    }

    /// How things are at the beginning of every run.
    pub(super) fn look(&mut self) {
        *self = Undo { kept: self.kept, ..Undo::new() };
        // SAFETY: questions only; what is written lives until the calls return.
        unsafe {
            self.heap_end = sys::call3(nr::BRK, 0, 0, 0) as usize;
            for (signal, action) in self.actions.iter_mut().enumerate().skip(1) {
                sys::call(nr::SIGACTION, [signal, 0, action.as_mut_ptr() as usize, 8, 0, 0]);
            }
            sys::call(nr::SIGPROCMASK, [0, 0, (&raw mut self.mask) as usize, 8, 0, 0]);
            let mut free_from = 0;
            let open = Open::now();
            for fd in (0..DESCRIPTORS).filter(|&fd| open.has(fd)) {
                self.inherited[fd / 64] |= 1 << (fd % 64);
                if fd > free_from {
                    self.add_gap(free_from as u32, fd as u32 - 1);
                }
                free_from = fd + 1;
            }
            self.add_gap(free_from as u32, u32::MAX);
        }
    }

    fn add_gap(&mut self, first: u32, last: u32) {
        assert!(self.gaps_count < GAPS_MAX, "raddle: the program inherits descriptors with too many gaps");
        self.gaps[self.gaps_count] = (first, last);
        self.gaps_count += 1;
    }

    /// The program had so many descriptors before the run began.
    #[cfg(test)]
    pub(super) fn had(&mut self, descriptors: usize) {
        self.inherited[0] = (1 << descriptors) - 1;
    }

    /// Whether the program had this descriptor before the run began.
    pub(super) fn is_inherited(&self, fd: usize) -> bool {
        // Only the low half of the register is the descriptor.
        let fd = fd as u32 as usize;
        fd >= DESCRIPTORS || self.inherited[fd / 64] >> (fd % 64) & 1 == 1
    }

    /// Remembers a mapping; false if that is one too many.
    pub(super) fn mapped(&mut self, address: usize, size: usize) -> bool {
        self.anything = true;
        let size = size.next_multiple_of(4096);
        let room = self.maps_count < MAPS_MAX;
        if room {
            self.maps[self.maps_count] = (address, address + size);
            self.maps_count += 1;
        }
        room
    }

    /// Whether all of this was mapped by the run.
    pub(super) fn is_of_run(&self, address: usize, size: usize) -> bool {
        is_in(&self.maps[..self.maps_count], address, size)
    }

    /// The same, and no checkpoint has it.
    pub(super) fn is_new(&self, address: usize, size: usize) -> bool {
        is_in(&self.maps[self.firm_maps..self.maps_count], address, size)
    }

    /// Remembers pages that were made inaccessible; false if that is one too many.
    pub(super) fn forbidden(&mut self, address: usize, size: usize) -> bool {
        self.anything = true;
        // What the run has mapped goes as a whole.
        if self.is_new(address, size) {
            return true;
        }
        let room = self.forbidden_count < FORBIDDEN_MAX;
        if room {
            self.forbidden[self.forbidden_count] = (address, size);
            self.forbidden_count += 1;
        }
        room
    }

    /// Whether runs could begin where this one is: all that it has changed is part of a snapshot.
    pub(super) fn can_be_start(&self) -> bool {
        !self.shared && (self.opened == 0 || self.difference().is_none())
    }

    /// The same, but that descriptors may be open which are put back from then on.
    /// If the run has `listened`, others may have spoken to it.
    pub(super) fn can_be_late_start(&mut self, listened: bool, streams: &Streams) -> bool {
        if self.shared || self.opened == 0 {
            return !self.shared;
        }
        let (open, mut kept) = (Open::now(), Kept::NONE);
        let can = (0..DESCRIPTORS).all(|fd| match (self.is_inherited(fd), open.has(fd)) {
            (false, true) => kept.add(fd, listened, streams.has(fd)),
            (inherited, open) => inherited == open,
        });
        if can {
            kept.make_spares();
            self.kept = kept;
        }
        can
    }

    /// The run is about to close a descriptor; false if that could not be put back.
    pub(super) fn may_close(&mut self, fd: usize) -> bool {
        if !self.is_inherited(fd) {
            return true;
        }
        let may = self.kept.close(fd);
        if may {
            let fd = fd as u32 as usize;
            self.inherited[fd / 64] &= !(1 << (fd % 64));
        }
        may
    }

    /// The run closes a descriptor that is put back, and the kernel is not told yet: it need not know as long as it has
    /// made no other for the run. False, and nothing has happened, if it must know or it cannot be closed.
    pub(super) fn puts_off(&mut self, fd: usize) -> bool {
        let can = self.opened == 0 && self.kept.has(fd) && self.may_close(fd);
        if can {
            self.kept.put_off(fd);
        }
        can
    }

    /// Tells the kernel of all that.
    pub(super) fn close_put_off(&mut self) {
        self.anything |= self.kept.close_put_off();
    }

    /// A descriptor that a run has left behind, taken away or changed.
    pub(super) fn difference(&self) -> Option<usize> {
        let open = Open::now();
        let other = (0..DESCRIPTORS).find(|&fd| open.has(fd) != self.is_inherited(fd));
        other.or_else(|| self.kept.difference())
    }

    /// Puts everything back, but for how far input is read and outputs are written: where that may have changed.
    pub(super) fn all(&mut self) -> u8 {
        if self.anything {
            self.back_to(None);
        } else {
            self.open_again();
        }
        core::mem::take(&mut self.files)
    }

    /// The run makes so many descriptors at most.
    pub(super) fn opens(&mut self, count: usize) {
        self.opened = self.opened.saturating_add(count);
    }

    /// Closes what the run has opened: others may want the names that it has taken.
    pub(super) fn close(&mut self) {
        let mut left = core::mem::take(&mut self.opened);
        for &(first, last) in &self.gaps[..self.gaps_count] {
            if left == 0 {
                return;
            }
            let (first, last) = (first as usize, last as usize);
            let size = left.min(last - first + 1);
            left -= size;
            // SAFETY: the run is over, so nobody uses what goes.
            unsafe { sys::call3(nr::CLOSE_RANGE, first, first + size - 1, 0) };
        }
    }

    /// Opens again what the run has closed.
    fn open_again(&mut self) {
        let Undo { kept, inherited, .. } = self;
        kept.open_again(|fd| inherited[fd / 64] |= 1 << (fd % 64));
    }

    /// Puts everything back to what it was at a checkpoint, or at the beginning.
    pub(super) fn back_to(&mut self, mark: Option<&Mark>) {
        self.anything = mark.is_some();
        const SET: usize = 2;
        const READ_WRITE: usize = 3;
        self.close();
        self.open_again();
        self.stuck |= !self.kept.put_back();
        let (maps, forbidden) = mark.map_or((0, 0), |mark| (mark.maps, mark.forbidden));
        // SAFETY: the run is over, so nobody uses what goes.
        unsafe {
            self.shared = false;
            for &(from, to) in &self.maps[maps..self.maps_count] {
                sys::call3(nr::MUNMAP, from, to - from, 0);
            }
            self.maps_count = maps;
            for &(address, size) in &self.forbidden[forbidden..self.forbidden_count] {
                sys::call3(nr::MPROTECT, address, size, READ_WRITE);
            }
            self.forbidden_count = forbidden;
            if self.heap_moved {
                sys::call3(nr::BRK, mark.map_or(self.heap_end, |mark| mark.heap_end), 0, 0);
                self.heap_moved = mark.is_some();
            }
            let kept = mark.map_or(0, |mark| mark.signals);
            let changed = core::mem::replace(&mut self.signals, kept);
            for signal in (1..SIGNALS).filter(|signal| changed >> (signal - 1) & 1 == 1) {
                let actions = mark.map_or(&self.actions, |mark| &mark.actions);
                let action = actions[signal].as_ptr() as usize;
                sys::call(nr::SIGACTION, [signal, action, 0, 8, 0, 0]);
            }
            if let Some(mark) = mark {
                mark.files.rewind(true);
            }
            if core::mem::take(&mut self.masked) {
                drop_waiting();
            }
            // A run may end inside a signal handler.
            sys::call(nr::SIGPROCMASK, [SET, (&raw const self.mask) as usize, 0, 8, 0, 0]);
        }
    }
}

/// Checkpoints of a run.
impl Undo {
    /// How things are now. None if they could not be put back to this, because of what the run has opened, blocked or
    /// mapped.
    pub(super) fn mark(&self) -> Option<Mark> {
        if self.spoiled || self.peculiar || self.masked || !self.can_be_start() {
            return None;
        }
        let mut mark = Mark {
            maps: self.maps_count,
            forbidden: self.forbidden_count,
            heap_end: self.heap_end,
            actions: self.actions,
            signals: self.signals,
            files: Marks::now(),
        };
        // SAFETY: questions only; what is written lives until the calls return.
        unsafe {
            if self.heap_moved {
                mark.heap_end = sys::call3(nr::BRK, 0, 0, 0) as usize;
            }
            for signal in (1..SIGNALS).filter(|signal| self.signals >> (signal - 1) & 1 == 1) {
                let action = mark.actions[signal].as_mut_ptr() as usize;
                sys::call(nr::SIGACTION, [signal, 0, action, 8, 0, 0]);
            }
            let mut mask = 0u64;
            sys::call(nr::SIGPROCMASK, [0, 0, (&raw mut mask) as usize, 8, 0, 0]);
            (mask == self.mask).then_some(mark)
        }
    }

    /// Memory that a checkpoint has and the one before it, or the beginning, has not: mappings, and what the heap has
    /// grown by.
    pub(super) fn grown(&self, mark: &Mark, before: Option<&Mark>) -> impl Iterator<Item = (usize, usize)> {
        let (maps, heap_end) = before.map_or((0, self.heap_end), |before| (before.maps, before.heap_end));
        let heap = (heap_end.next_multiple_of(4096), mark.heap_end.next_multiple_of(4096));
        let maps = self.maps[maps..mark.maps].iter().copied();
        maps.chain([heap]).filter(|(from, to)| from < to)
    }

    /// What belongs to this checkpoint, the last one that is kept, is not to be taken away unnoticed.
    pub(super) fn firm_up(&mut self, mark: Option<&Mark>) {
        (self.firm_maps, self.firm_heap) = mark.map_or((0, 0), |mark| (mark.maps, mark.heap_end));
    }

    /// Memory of a mapping of the run is changed as a whole.
    pub(super) fn touches(&mut self, address: usize, size: usize) {
        self.spoiled |= self.firm_maps > 0 && !self.is_new(address, size);
    }

    /// What the run had mapped is gone, as far as no checkpoint has it.
    pub(super) fn unmapped(&mut self, address: usize, size: usize) {
        let gone = (address, address + size.next_multiple_of(4096));
        let mut at = self.firm_maps;
        while at < self.maps_count {
            let (from, to) = self.maps[at];
            let (below, above) = ((from, to.min(gone.0)), (from.max(gone.1), to));
            match (below.0 < below.1, above.0 < above.1) {
                // A hole in the middle: whoever wants to know all mappings one by one is not told.
                (true, true) => self.peculiar = true,
                (true, false) => self.maps[at] = below,
                (false, true) => self.maps[at] = above,
                (false, false) => {
                    self.maps.copy_within(at + 1..self.maps_count, at);
                    self.maps_count -= 1;
                    continue;
                }
            }
            at += 1;
        }
    }

    /// The heap ends there from now on.
    pub(super) fn heap_ends(&mut self, end: usize) {
        self.heap_moved = true;
        self.spoiled |= end != 0 && end < self.firm_heap;
    }

    /// A checkpoint is gone back to, or the beginning; its memory has been put back.
    pub(super) fn begin_again(&mut self) {
        self.spoiled = false;
        self.peculiar = false;
    }
}

fn is_in(maps: &[(usize, usize)], address: usize, size: usize) -> bool {
    let end = address.saturating_add(size.next_multiple_of(4096));
    maps.iter().any(|&(from, to)| from <= address && end <= to)
}

/// Which descriptors are open. One call tells of all, where the limit allows it: the kernel says of those which are not
/// that they cannot be waited for.
struct Open {
    polls: [u64; DESCRIPTORS],
    all: bool,
}

impl Open {
    fn now() -> Open {
        let mut polls: [u64; DESCRIPTORS] = core::array::from_fn(|fd| fd as u64);
        // SAFETY: the list lives until the call returns.
        let all = unsafe { sys::call3(nr::POLL, polls.as_mut_ptr() as usize, DESCRIPTORS, 0) >= 0 };
        Open { polls, all }
    }

    fn has(&self, fd: usize) -> bool {
        const NONE: u64 = 0x20;
        const GET_FLAGS: usize = 1;
        if self.all {
            return self.polls[fd] >> 48 & NONE == 0;
        }
        // SAFETY: a question.
        unsafe { sys::call3(nr::FCNTL, fd, GET_FLAGS, 0) >= 0 }
    }
}

/// Signals that wait for their being let through would come in the next run.
fn drop_waiting() {
    const PENDING: usize = 127;
    const TIMED_WAIT: usize = 128;
    let (mut waiting, at_once) = (0u64, [0u64; 2]);
    // SAFETY: what is read and written lives until the calls return.
    unsafe {
        sys::call3(PENDING, (&raw mut waiting) as usize, 8, 0);
        if waiting != 0 {
            let set = (&raw const waiting) as usize;
            while sys::call(TIMED_WAIT, [set, 0, at_once.as_ptr() as usize, 8, 0, 0]) > 0 {}
        }
    }
}

/// Bytes of our own heap.
const OWN_HEAP: usize = 600_000;

/// Takes from the kernel what nearly every run needs, so that it need not be taken and given back each time. Libc's heap
/// the server has set up already (`warm`).
pub(super) fn make_room() {
    drop(core::hint::black_box(Vec::<u8>::with_capacity(OWN_HEAP)));
    crate::fiber::make_stacks_ready();
}
