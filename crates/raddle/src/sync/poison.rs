//! Poisoning, as std does it.

use crate::rt::Rt;
use crate::thread::panicking;
use raddle_model::{Kind, ObjectId, Op, SiteId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, PoisonError};

/// Whether a holder has panicked.
#[derive(Debug)]
pub(crate) struct Flag(AtomicBool);

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
        Flag(AtomicBool::new(false))
    }

    /// Whether it was set. What a task does while its run is cleared away sees nothing of it ([`Flag::get`]).
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
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
        self.0.store(false, Ordering::Relaxed);
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
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// `value`, or an error that carries it.
    #[inline]
    pub(crate) fn wrap<T>(&self, value: T) -> LockResult<T> {
        if self.is_set() && self.get() { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}
