//! `RaceCell`: plain memory that tasks share, for code that is to be tested for races.

use super::access;
use crate::rt;
use crate::rt::site::here;
use crate::rt::slot::Slot;
use raddle_model::Kind;
use std::cell::UnsafeCell;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A shared variable without synchronization, in safe code: what a plain field is in Java, or a plain
/// global in C. No counterpart in std.
///
/// Each [`get`](RaceCell::get) and [`set`](RaceCell::set) is a plain access, and two of them that
/// nothing orders are a data race, which a run reports. The race is the program's only: inside a run
/// one task runs at a time, and outside of runs a real lock guards each access. `Relaxed` atomics are
/// the type for variables that are meant to be shared in this way.
///
/// ```
/// let counter = raddle::cell::RaceCell::new(1);
/// counter.update(|n| n + 1);
/// assert_eq!(counter.get(), 2);
/// ```
pub struct RaceCell<T> {
    slot: Slot,
    outside: Mutex<()>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is copied in and out while the real lock is held (outside of runs) or by the only
// task that runs, with no switch meanwhile (inside); `Slot` keeps the two worlds apart.
unsafe impl<T: Send> Sync for RaceCell<T> {}

impl<T> RaceCell<T> {
    /// A cell that holds `value`.
    #[inline]
    pub const fn new(value: T) -> RaceCell<T> {
        RaceCell { slot: Slot::new(), outside: Mutex::new(()), value: UnsafeCell::new(value) }
    }

    /// The value, with exclusive access, which is no event.
    #[inline]
    pub const fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The value.
    #[inline]
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// A run has claimed the cell. Is a thread outside at it?
    fn assert_alone(&self) {
        if let Err(TryLockError::WouldBlock) = self.outside.try_lock() {
            panic!("raddle: this cell is in use by a thread outside the run")
        }
    }

    #[cold]
    fn lock(&self) -> MutexGuard<'_, ()> {
        let lock = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        self.slot.assert_free();
        lock
    }
}

impl<T: Copy> RaceCell<T> {
    /// A plain read.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> T {
        let lock = match rt::current() {
            Some(rt) => {
                access(self, &self.slot, rt, Kind::CellRead, here!(), || self.assert_alone());
                None
            }
            None => Some(self.lock()),
        };
        // SAFETY: see `Sync`.
        let value = unsafe { *self.value.get() };
        drop(lock);
        value
    }

    /// A plain write.
    #[inline]
    #[track_caller]
    pub fn set(&self, value: T) {
        let lock = match rt::current() {
            Some(rt) => {
                access(self, &self.slot, rt, Kind::CellWrite, here!(), || self.assert_alone());
                None
            }
            None => Some(self.lock()),
        };
        // SAFETY: see `Sync`.
        unsafe { *self.value.get() = value };
        drop(lock);
    }

    /// A plain read and then a plain write of what `f` makes of it: another task can come between, as
    /// in `x = x + 1`.
    #[inline]
    #[track_caller]
    pub fn update(&self, f: impl FnOnce(T) -> T) {
        self.set(f(self.get()));
    }

    /// A plain read and then a plain write: another task can come between.
    #[inline]
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        let old = self.get();
        self.set(value);
        old
    }
}

impl<T: Default> Default for RaceCell<T> {
    fn default() -> RaceCell<T> {
        RaceCell::new(T::default())
    }
}

impl<T> From<T> for RaceCell<T> {
    fn from(value: T) -> RaceCell<T> {
        RaceCell::new(value)
    }
}

impl<T> fmt::Debug for RaceCell<T> {
    /// Does not show the value: looking must not be an access.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RaceCell").finish_non_exhaustive()
    }
}
