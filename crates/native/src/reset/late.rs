//! Runs that begin later than before main: where the first of them came to its first choice. Up to there all runs of a
//! request are the same, since only their seeds differ and nobody has asked for those ([`raddle_model::Policy::reseed`]).
//! So the start is moved: a new snapshot is taken there, of all that the program has built up by then.
//!
//! What came before has then happened once for all. That must not show: nothing may have been done that is put back
//! after each run because others could see it, and descriptors must be what they were or of a kind that is put back
//! (`kept`), since the kernel keeps for each how far it was read. What was written to the outputs stays there.
//!
//! A call that is refused later on ends this: the run is done again by a process whose runs begin before main.

use super::outside::Outside;
use crate::server::nanoseconds;

/// Where runs begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Start {
    /// Before main, for good.
    Main,
    /// Before main, until it pays to move.
    Movable,
    /// At the first choice.
    Choice,
}

/// Where runs begin, and what is known about whether that could be better.
#[derive(Debug)]
pub(super) struct Late {
    start: Start,
    /// Whether this run may move the start.
    invited: bool,
    /// What the first snapshot took, in nanoseconds.
    snapshot_ns: u64,
    /// When this run began, if it is invited.
    begun: u64,
    /// Something was written to the outputs before the start.
    has_output: bool,
}

impl Late {
    pub(super) fn new(movable: bool) -> Late {
        let start = if movable { Start::Movable } else { Start::Main };
        Late { start, invited: false, snapshot_ns: 0, begun: 0, has_output: false }
    }

    /// The first snapshot took so long.
    pub(super) fn snapshot_took(&mut self, nanoseconds: u64) {
        self.snapshot_ns = nanoseconds;
    }

    /// The start stays where it is.
    pub(super) fn settle(&mut self) {
        self.start = Start::Main;
    }

    /// A run begins. If it is `undisturbed`, it may move the start.
    pub(super) fn begin(&mut self, undisturbed: bool) {
        self.invited = undisturbed && self.start == Start::Movable;
        if self.invited {
            self.begun = nanoseconds();
        }
    }

    /// Whether this run may move the start.
    pub(super) fn is_invited(&self) -> bool {
        self.invited
    }

    /// Whether the start was moved.
    pub(super) fn is_moved(&self) -> bool {
        self.start == Start::Choice
    }

    /// The start was moved.
    pub(super) fn moved(&mut self, has_output: bool) {
        (self.start, self.has_output) = (Start::Choice, has_output);
    }

    /// Whether a place in a file may be set that outputs might be: what was written before the start must stay.
    pub(super) fn may_seek(&self) -> bool {
        !self.has_output
    }
}

impl Outside {
    /// Whether the start is to be moved to where the run is now. When that is hangs on time, what comes of it does not.
    ///
    /// Not part of its caller, from where all runs would go on: this needs much of the stack, and they would use a page
    /// far below the others.
    #[inline(never)]
    pub(super) fn moves(&mut self) -> bool {
        if !core::mem::take(&mut self.late.invited) {
            return false;
        }
        let prefix_ns = nanoseconds().saturating_sub(self.late.begun);
        let left = self.errand.left(self.number);
        // The new snapshot is about as dear as the old one and the making of what is new in it. Twice that: not every
        // request is done to its end.
        let pays = prefix_ns.saturating_mul(left) > 2 * (self.late.snapshot_ns + prefix_ns);
        if !pays && !self.errand.checks() {
            return false;
        }
        self.tell_kernel();
        let Outside { undo, streams, listens, .. } = self;
        let can = undo.can_be_late_start(*listens, streams);
        if !can {
            // All runs come to here in the same way.
            self.late.settle();
        }
        can
    }
}
