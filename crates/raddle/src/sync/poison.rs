//! Poisoning, as std does it.

use crate::rt::Rt;
use crate::thread::panicking;
use raddle_model::{Kind, ObjectId, Op, SiteId};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{LockResult, PoisonError};

/// Whether a holder has panicked. For locks that want it, whether there is one, too: both are asked whenever such a lock is
/// taken, and so at once.
#[derive(Debug)]
pub(crate) struct Flag(AtomicU8);

const POISONED: u8 = 1;
/// Written by one thread at a time, as nobody else holds the lock: so what it stores may not be what others read for a
/// moment, and that it is held is never lost.
const HELD: u8 = 2;

/// Remembers whether its holder was panicking from the start: only a panic in between poisons.
#[derive(Debug)]
pub(crate) struct Guard {
    panicking: bool,
}

impl Guard {
    #[inline]
    pub(crate) fn new(panicking: bool) -> Guard {
        Guard { panicking }
    }

    #[inline]
    pub(crate) fn panicking(&self) -> bool {
        self.panicking
    }
}

impl Flag {
    pub(crate) const fn new() -> Flag {
        Flag(AtomicU8::new(0))
    }

    /// Whether it was set. What a task does while its run is cleared away sees nothing of it ([`Flag::get`]).
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) & POISONED != 0
    }

    /// Whether there is nothing to tell: no holder has panicked, and there is none.
    #[inline(always)]
    pub(crate) fn is_clear(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Whether the lock is held.
    #[inline(always)]
    pub(crate) fn is_held(&self) -> bool {
        self.0.load(Ordering::Relaxed) & HELD != 0
    }

    /// The lock is held from now on, or no more.
    #[inline(always)]
    pub(crate) fn set_held(&self, held: bool) {
        let rest = self.0.load(Ordering::Relaxed) & !HELD;
        self.0.store(if held { rest | HELD } else { rest }, Ordering::Relaxed);
    }

    /// The same where it [is clear](Flag::is_clear) but for that.
    #[inline(always)]
    pub(crate) fn set_only_held(&self, held: bool) {
        self.0.store(if held { HELD } else { 0 }, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn get(&self) -> bool {
        self.is_set() && !crate::rt::current().is_some_and(|rt| rt.ending())
    }

    /// Reads the flag as an operation on the lock that it belongs to: what others do with the lock
    /// decides what is seen.
    pub(crate) fn read(&self, object: impl FnOnce(Rt, SiteId) -> ObjectId, site: SiteId) -> bool {
        if let Some(rt) = crate::rt::current() {
            rt.arrive(Op::new(Kind::Load, object(rt, site), site));
        }
        self.get()
    }

    /// Takes the flag back, as an operation on the lock.
    pub(crate) fn clear(&self, object: impl FnOnce(Rt, SiteId) -> ObjectId, site: SiteId) {
        if let Some(rt) = crate::rt::current() {
            // Not a store, which would end what earlier holders have released.
            rt.arrive(Op::new(Kind::Rmw, object(rt, site), site));
        }
        self.0.fetch_and(!POISONED, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn guard(&self) -> Guard {
        Guard { panicking: panicking() }
    }

    /// The guard goes.
    #[inline]
    pub(crate) fn done(&self, guard: &Guard) {
        // A run that is over unwinds its tasks, which is no panic of theirs.
        if !guard.panicking && panicking() && !crate::rt::current().is_some_and(|rt| rt.ending()) {
            self.0.fetch_or(POISONED, Ordering::Relaxed);
        }
    }

    /// `value`, or an error that carries it.
    #[inline]
    pub(crate) fn wrap<T>(&self, value: T) -> LockResult<T> {
        if self.is_set() && self.get() { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}
