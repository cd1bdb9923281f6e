//! Operations: what a task is about to do. [`Op::conflicts`] is the one definition of dependence;
//! the fingerprint, the policies, the explorers and the oracles all use it.
//!
//! Dependence is static: it is read off the announced operation, never off the state it will meet.
//! An operation that may write counts as a write even if it turns out to fail, since two
//! linearizations of one partial order must agree on what each event is.

use crate::ids::{ObjectId, SiteId};

/// What is done. The comment names what the extents are and how they are accessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Makes a task. No extent: the child is known only afterwards, and program order holds.
    Spawn,
    /// The task's last operation. Writes its own task object.
    Exit,
    /// Waits for a task to exit. Reads its task object.
    Join,
    /// Asks whether a task has exited. Reads its task object.
    Finished,
    /// The end of the process. Conflicts with everything.
    End,
    /// Offers the processor. No extent.
    Yield,
    /// Sleeps for `arg` nanoseconds of virtual time. No extent.
    Sleep,
    /// Waits for the task's own token and takes it. Writes the token.
    Park,
    /// Gives a task its token. Writes the token.
    Unpark,
    /// A value chosen by the policy. No extent.
    Choose,
    /// Takes a mutex. Writes it.
    Lock,
    /// Gives a mutex back. Writes it.
    Unlock,
    /// Takes a read lock. Reads the lock: readers do not exclude each other.
    ReadLock,
    /// Takes a write lock. Writes the lock.
    WriteLock,
    /// Gives a read lock back. Reads the lock.
    ReadUnlock,
    /// Gives a write lock back. Writes the lock.
    WriteUnlock,
    /// Turns a write lock into a read lock. Writes the lock.
    Downgrade,
    /// Gives back the mutex `second` and queues on the condition variable. Writes both.
    Wait,
    /// Leaves the condition variable and takes the mutex `second` again. Writes both.
    Wake,
    /// Wakes one waiter, which the policy chooses. Writes the condition variable.
    NotifyOne,
    /// Wakes all waiters. Writes the condition variable.
    NotifyAll,
    /// Takes `arg` permits of a semaphore, one if it is timed. Writes it.
    Acquire,
    /// Gives `arg` permits. Writes the semaphore.
    Release,
    /// Arrives at a barrier. Writes it.
    Arrive,
    /// Leaves a barrier that has opened. Reads it.
    Leave,
    /// Looks whether a once is complete; waits until it is complete or poisoned if `arg` is 1, until
    /// it is complete if `arg` is 2. Reads it.
    OnceGet,
    /// Enters a once, or finds it complete, or (unless `arg` is 1) poisoned. Writes it.
    OnceEnter,
    /// Leaves a once: complete if `arg` is 1, poisoned if it is 2, incomplete again otherwise.
    /// Writes it.
    OnceDone,
    /// Puts a message into a channel. Writes it.
    Send,
    /// Waits until the message put into a rendezvous channel is taken. Reads the channel.
    Handover,
    /// Says that a receiver stands at a rendezvous channel. Writes it.
    RecvReady,
    /// Takes a message out of a channel. Writes it.
    Recv,
    /// One sender goes. Writes the channel.
    DropSender,
    /// The receiver goes. Writes the channel.
    DropReceiver,
    /// An atomic load. Reads.
    Load,
    /// An atomic store. Writes.
    Store,
    /// An atomic read-modify-write, a failed compare-exchange included. Writes. A call on a file of the kernel's is one, too:
    /// in runs that are recorded `arg` then says which (see [`crate::call`]).
    Rmw,
    /// A memory fence. No extent: it affects only sync order.
    Fence,
    /// A plain read of memory. Reads.
    CellRead,
    /// A plain write of memory. Writes.
    CellWrite,
    /// A plain read of more memory than an operation has extents for: what is read follows, bit by bit, as events that
    /// are no scheduling points. Until then it may be any memory.
    WideRead,
    /// The same for a write.
    WideWrite,
    /// Gives memory back. What lay there follows as that of a wide write does, and locks with it. Until then it may be any memory
    /// and any lock that may lie in memory.
    Free,
    /// An object is no more; somebody has come too late for it if `arg` is 1. Writes it.
    Destroy,
}

/// Whether an operation may wait for its object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Mode {
    /// Waits until it can be done: disabled until then.
    Block,
    /// Never waits: fails if it cannot be done.
    Try,
    /// Always enabled: times out if it cannot be done when it is run.
    Timed,
}

/// C11 memory orders. Values are sequentially consistent; orders affect only sync order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Order {
    /// No ordering.
    Relaxed,
    /// Acquire.
    Acquire,
    /// Release.
    Release,
    /// Both.
    AcqRel,
    /// Sequentially consistent.
    SeqCst,
}

impl Order {
    /// Whether a load with this order acquires.
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Whether a store with this order releases.
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }
}

/// The kinds that only read, one bit each: dependence is asked for at every step.
const READS: u64 = {
    let kinds = [
        Kind::Join,
        Kind::Finished,
        Kind::ReadLock,
        Kind::ReadUnlock,
        Kind::Leave,
        Kind::OnceGet,
        Kind::Handover,
        Kind::Load,
        Kind::CellRead,
        Kind::WideRead,
    ];
    let (mut mask, mut i) = (0, 0);
    while i < kinds.len() {
        mask |= 1 << kinds[i] as u32;
        i += 1;
    }
    mask
};

/// The kinds that access memory, likewise.
const MEMORY: u64 = 1 << Kind::Load as u32
    | 1 << Kind::Store as u32
    | 1 << Kind::Rmw as u32
    | 1 << Kind::CellRead as u32
    | 1 << Kind::CellWrite as u32
    | WIDE;
const WIDE: u64 = 1 << Kind::WideRead as u32 | 1 << Kind::WideWrite as u32 | 1 << Kind::Free as u32;

/// The kinds whose objects may lie in memory that is given back: memory itself, locks and their like.
const LYING: u64 = {
    let (mut mask, mut kind) = (MEMORY | 1 << Kind::Destroy as u32, Kind::Lock as u32);
    while kind <= Kind::DropReceiver as u32 {
        mask |= 1 << kind;
        kind += 1;
    }
    mask
};

/// How an extent is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Reads commute with each other.
    Read,
    /// A write commutes with no access to the same extent.
    Write,
}

/// Part of an object, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Number of bytes.
    pub len: u32,
}

impl Span {
    /// The whole object.
    pub const WHOLE: Span = Span { start: 0, len: u32::MAX };

    /// Whether two spans share a byte.
    #[inline]
    pub fn overlaps(self, other: Span) -> bool {
        let end = |span: Span| u64::from(span.start) + u64::from(span.len);
        u64::from(self.start) < end(other) && u64::from(other.start) < end(self)
    }
}

/// An operation: announced before it happens, and seen by the policy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Op {
    /// What is done.
    pub kind: Kind,
    /// Whether it waits.
    pub mode: Mode,
    /// Memory order, for atomics and fences.
    pub order: Order,
    /// First extent's object.
    pub object: ObjectId,
    /// Second extent's object (the mutex of a condition variable), always whole.
    pub second: ObjectId,
    /// First extent's bytes.
    pub span: Span,
    /// Duration in nanoseconds, permits, or another number the kind defines.
    pub arg: u64,
    /// Where in the source.
    pub site: SiteId,
}

/// What a plain operation does to its object: few cases, since every step asks, and in an order in
/// which one comparison tells what it needs to know.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Touch {
    /// Looks at it.
    Read,
    /// Waits until it is over.
    Join,
    /// Changes it.
    Write,
    /// Takes it.
    Take,
    /// Gives it back.
    Give,
    /// Ends it.
    Exit,
}

impl Touch {
    /// Whether it commutes with others of which this is true.
    #[inline(always)]
    pub fn reads(self) -> bool {
        self < Touch::Write
    }
}

/// What programs do all the time: an access to a whole atomic or cell, taking or giving back a mutex
/// without a time limit, and the end of a task and waiting for it. It has one extent and no number, so that it fits into registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plain {
    /// What is done.
    pub kind: Kind,
    /// The same, as far as the object is concerned.
    pub touch: Touch,
    /// Memory order, for atomics.
    pub order: Order,
    /// The extent.
    pub object: ObjectId,
    /// Where in the source.
    pub site: SiteId,
}

impl Plain {
    /// The whole operation.
    #[inline]
    pub fn op(self) -> Op {
        Op::new(self.kind, self.object, self.site).order(self.order)
    }
}

impl Op {
    /// An operation on a whole object that waits if it must.
    #[inline]
    pub const fn new(kind: Kind, object: ObjectId, site: SiteId) -> Op {
        Op {
            kind,
            mode: Mode::Block,
            order: Order::SeqCst,
            object,
            second: ObjectId::NONE,
            span: Span::WHOLE,
            arg: 0,
            site,
        }
    }

    /// The same with another mode.
    #[inline]
    #[must_use]
    pub fn mode(self, mode: Mode) -> Op {
        Op { mode, ..self }
    }

    /// The same with a number.
    #[inline]
    #[must_use]
    pub fn arg(self, arg: u64) -> Op {
        Op { arg, ..self }
    }

    /// The same with a memory order.
    #[inline]
    #[must_use]
    pub fn order(self, order: Order) -> Op {
        Op { order, ..self }
    }

    /// The same with a second object.
    #[inline]
    #[must_use]
    pub fn second(self, second: ObjectId) -> Op {
        Op { second, ..self }
    }

    /// How this operation accesses its extents; the same for both of them.
    #[inline]
    pub fn access(&self) -> Access {
        if READS >> self.kind as u32 & 1 == 1 { Access::Read } else { Access::Write }
    }

    /// Whether it accesses memory, as atomics and plain accesses do.
    #[inline]
    pub fn is_memory(&self) -> bool {
        MEMORY >> self.kind as u32 & 1 == 1
    }

    /// Whether it may access any memory.
    #[inline]
    pub fn is_wide(&self) -> bool {
        WIDE >> self.kind as u32 & 1 == 1
    }

    /// Whether it gives memory back.
    #[inline]
    pub fn frees(&self) -> bool {
        self.kind == Kind::Free
    }

    /// Whether its objects may lie in memory that is given back.
    #[inline]
    pub fn lies(&self) -> bool {
        LYING >> self.kind as u32 & 1 == 1
    }

    /// The same as a plain operation, if it is one.
    #[inline(always)]
    pub fn plain(&self) -> Option<Plain> {
        let Op { kind, order, object, site, .. } = *self;
        let touch = match kind {
            Kind::Load | Kind::CellRead => Touch::Read,
            Kind::Store | Kind::Rmw | Kind::CellWrite => Touch::Write,
            Kind::Lock => Touch::Take,
            Kind::Unlock => Touch::Give,
            Kind::Join => Touch::Join,
            Kind::Exit => Touch::Exit,
            _ => return None,
        };
        let one = self.span == Span::WHOLE && !self.second.is_some();
        // A call on a file that says which it is must go on saying so.
        let named = kind == Kind::Rmw && self.arg != 0;
        let plain = matches!(self.mode, Mode::Block) && one && !named;
        plain.then_some(Plain { kind, touch, order, object, site })
    }

    /// How many permits an acquire takes: `arg` is a duration if it is timed.
    #[inline]
    pub fn permits(&self) -> u64 {
        if self.mode == Mode::Timed { 1 } else { self.arg }
    }

    /// Whether exchanging two neighbouring operations of different tasks can matter.
    /// This is the one definition of dependence.
    #[inline]
    pub fn conflicts(&self, other: &Op) -> bool {
        if self.kind == Kind::End || other.kind == Kind::End {
            return true;
        }
        if self.access() == Access::Read && other.access() == Access::Read {
            return false;
        }
        if self.is_wide() || other.is_wide() {
            let frees = self.frees() || other.frees();
            return if frees { self.lies() && other.lies() } else { self.is_memory() && other.is_memory() };
        }
        let first = self.object.is_some() && self.object == other.object && self.span.overlaps(other.span);
        let crossed = (self.object.is_some() && self.object == other.second)
            || (self.second.is_some() && (self.second == other.object || self.second == other.second));
        first || crossed
    }

    /// Whether both operations can be enabled in one state; false only where that is certain.
    /// A task that holds a lock gives it back while another waits for it, never both at once.
    pub fn may_be_coenabled(&self, other: &Op) -> bool {
        let gives = |op: &Op| matches!(op.kind, Kind::Unlock | Kind::WriteUnlock);
        let waits = |op: &Op| {
            matches!(op.kind, Kind::Lock | Kind::WriteLock | Kind::ReadLock | Kind::Wake)
                && op.mode == Mode::Block
        };
        let same = |a: &Op, b: &Op| a.object == b.object || (a.kind == Kind::Wake && a.second == b.object);
        let excluded = |a: &Op, b: &Op| {
            (gives(a) && waits(b) && same(b, a))
                || (gives(a) && gives(b) && a.object == b.object)
                || (a.kind == Kind::Exit && b.kind == Kind::Join && a.object == b.object)
                || (a.kind == Kind::ReadUnlock
                    && b.kind == Kind::WriteLock
                    && waits(b)
                    && a.object == b.object)
        };
        !excluded(self, other) && !excluded(other, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(kind: Kind, object: u32) -> Op {
        Op::new(kind, ObjectId(object), SiteId::UNKNOWN)
    }

    #[test]
    fn reads_commute_and_writes_do_not() {
        assert!(!on(Kind::Load, 1).conflicts(&on(Kind::Load, 1)));
        assert!(on(Kind::Load, 1).conflicts(&on(Kind::Store, 1)));
        assert!(!on(Kind::Store, 1).conflicts(&on(Kind::Store, 2)));
        assert!(on(Kind::End, u32::MAX).conflicts(&on(Kind::Yield, u32::MAX)));
        assert!(!on(Kind::Yield, u32::MAX).conflicts(&on(Kind::Yield, u32::MAX)));
    }

    #[test]
    fn a_wait_conflicts_through_its_mutex_too() {
        let wait = on(Kind::Wait, 1).second(ObjectId(2));
        assert!(wait.conflicts(&on(Kind::Lock, 2)) && on(Kind::Lock, 2).conflicts(&wait));
        assert!(wait.conflicts(&on(Kind::NotifyOne, 1)));
        assert!(!wait.conflicts(&on(Kind::Lock, 3)));
    }

    #[test]
    fn what_is_wide_may_be_any_memory() {
        let [read, write] =
            [Kind::WideRead, Kind::WideWrite].map(|kind| Op::new(kind, ObjectId::NONE, SiteId::UNKNOWN));
        for (kind, reads) in
            [(Kind::CellRead, true), (Kind::Load, true), (Kind::CellWrite, false), (Kind::Rmw, false)]
        {
            let other = on(kind, 3);
            assert!(write.conflicts(&other) && other.conflicts(&write), "{kind:?}");
            assert_eq!((read.conflicts(&other), other.conflicts(&read)), (!reads, !reads), "{kind:?}");
        }
        assert!(write.conflicts(&read) && write.conflicts(&write) && !read.conflicts(&read));
        assert!(!write.conflicts(&on(Kind::Lock, 3)) && !on(Kind::Yield, u32::MAX).conflicts(&write));
    }

    #[test]
    fn what_is_given_back_may_hold_any_lock() {
        let free = Op::new(Kind::Free, ObjectId::NONE, SiteId::UNKNOWN);
        for kind in
            [Kind::Lock, Kind::ReadLock, Kind::NotifyOne, Kind::OnceGet, Kind::Recv, Kind::Load, Kind::Free]
        {
            let other = on(kind, 3);
            assert!(free.conflicts(&other) && other.conflicts(&free), "{kind:?}");
        }
        for kind in [Kind::Spawn, Kind::Exit, Kind::Join, Kind::Unpark, Kind::Yield, Kind::Fence] {
            assert!(!free.conflicts(&on(kind, 3)), "{kind:?}");
        }
        let wide =
            [Kind::WideRead, Kind::WideWrite].map(|kind| Op::new(kind, ObjectId::NONE, SiteId::UNKNOWN));
        assert!(wide.iter().all(|wide| free.conflicts(wide) && wide.conflicts(&free)));
    }

    #[test]
    fn spans_that_do_not_touch_commute() {
        let part = |start, len| Op { span: Span { start, len }, ..on(Kind::CellWrite, 1) };
        assert!(!part(0, 4).conflicts(&part(4, 4)));
        assert!(part(0, 5).conflicts(&part(4, 4)));
        assert!(part(8, 1).conflicts(&on(Kind::CellRead, 1)));
    }
}
