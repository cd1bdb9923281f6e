//! What a run changes besides memory, and how it is put back: mappings, the end of the heap, descriptors, what is
//! done about signals.

use crate::sys::{self, nr};
use alloc::vec::Vec;

/// Most mappings of a run that are remembered.
const MAPS_MAX: usize = 1024;
/// Most guard pages.
const FORBIDDEN_MAX: usize = 256;
/// Descriptors that are told apart; higher ones count as inherited.
pub(super) const DESCRIPTORS: usize = 1024;
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
    /// Whether descriptors were made.
    pub(super) opened: bool,
    /// Whether memory was mapped that is not put back.
    pub(super) shared: bool,
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
            opened: false,
            shared: false,
        }
    }

    /// How things are at the beginning of every run.
    pub(super) fn look(&mut self) {
        *self = Undo::new();
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
        let end = address.saturating_add(size.next_multiple_of(4096));
        self.maps[..self.maps_count].iter().any(|&(from, to)| from <= address && end <= to)
    }

    /// Remembers pages that were made inaccessible; false if that is one too many.
    pub(super) fn forbidden(&mut self, address: usize, size: usize) -> bool {
        self.anything = true;
        // What the run has mapped goes as a whole.
        if self.is_of_run(address, size) {
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
        !self.shared && (!self.opened || self.difference().is_none())
    }

    /// A descriptor that a run has left behind or taken away.
    pub(super) fn difference(&self) -> Option<usize> {
        let open = Open::now();
        (0..DESCRIPTORS).find(|&fd| open.has(fd) != self.is_inherited(fd))
    }

    /// Puts everything back. False if there was nothing.
    pub(super) fn all(&mut self) -> bool {
        if !core::mem::take(&mut self.anything) {
            return false;
        }
        const SET: usize = 2;
        const READ_WRITE: usize = 3;
        // SAFETY: the run is over, so nobody uses what goes.
        unsafe {
            if core::mem::take(&mut self.opened) {
                for &(first, last) in &self.gaps[..self.gaps_count] {
                    sys::call3(nr::CLOSE_RANGE, first as usize, last as usize, 0);
                }
            }
            self.shared = false;
            for &(from, to) in &self.maps[..self.maps_count] {
                sys::call3(nr::MUNMAP, from, to - from, 0);
            }
            self.maps_count = 0;
            for &(address, size) in &self.forbidden[..self.forbidden_count] {
                sys::call3(nr::MPROTECT, address, size, READ_WRITE);
            }
            self.forbidden_count = 0;
            if core::mem::take(&mut self.heap_moved) {
                sys::call3(nr::BRK, self.heap_end, 0, 0);
            }
            let changed = core::mem::take(&mut self.signals);
            for signal in (1..SIGNALS).filter(|signal| changed >> (signal - 1) & 1 == 1) {
                let action = self.actions[signal].as_ptr() as usize;
                sys::call(nr::SIGACTION, [signal, action, 0, 8, 0, 0]);
            }
            if core::mem::take(&mut self.masked) {
                drop_waiting();
            }
            // A run may end inside a signal handler.
            sys::call(nr::SIGPROCMASK, [SET, (&raw const self.mask) as usize, 0, 8, 0, 0]);
        }
        true
    }
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
    crate::fiber::map_stacks();
}
