//! `Mutex` as std has it.

use crate::rt::site::here;
use crate::rt::slot::Slot;
use crate::rt::{self, Rt, statics};
use crate::sync::poison::{Flag, Guard as PoisonGuard};
use raddle_model::objects::State;
use raddle_model::objects::mutex::Mutex as Model;
use raddle_model::{Kind, Mode, ObjectId, Op, Outcome, SiteId};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// A mutual exclusion primitive, as [`std::sync::Mutex`].
///
/// Outside a run it is std's. Inside one the engine says who holds it; the real lock is not taken.
pub struct Mutex<T: ?Sized> {
    slot: Slot,
    poison: Flag,
    outside: std::sync::Mutex<()>,
    data: UnsafeCell<T>,
}

// SAFETY: as for std's Mutex: the engine (inside a run) or the real lock (outside) lets one task at
// a time reach the data, and `Slot` keeps the two worlds apart.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// See [`std::sync::Mutex::new`].
    #[inline]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            slot: Slot::new(),
            poison: Flag::new(),
            outside: std::sync::Mutex::new(()),
            data: UnsafeCell::new(value),
        }
    }

    /// See [`std::sync::Mutex::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        self.poison.wrap(self.data.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    #[inline]
    pub(crate) fn object(&self, rt: Rt, site: SiteId) -> ObjectId {
        self.slot.id(rt, site, || {
            match self.outside.try_lock() {
                Ok(_) | Err(TryLockError::Poisoned(_)) => {}
                Err(TryLockError::WouldBlock) => {
                    panic!("raddle: this mutex is held by a thread outside the run")
                }
            }
            statics::first_use(self);
            State::Mutex(Model::default())
        })
    }

    /// See [`std::sync::Mutex::lock`].
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let site = here!();
        match rt::current() {
            Some(rt) => {
                rt.arrive(Op::new(Kind::Lock, self.object(rt, site), site));
                self.guard(None, site)
            }
            None => self.lock_outside(site),
        }
    }

    #[cold]
    fn lock_outside(&self, site: SiteId) -> LockResult<MutexGuard<'_, T>> {
        // Our own flag says whether it is poisoned.
        let outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        self.slot.assert_free();
        self.guard(Some(outside), site)
    }

    /// See [`std::sync::Mutex::try_lock`].
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let site = here!();
        let outside = match rt::current() {
            Some(rt) => {
                let op = Op::new(Kind::Lock, self.object(rt, site), site).mode(Mode::Try);
                if rt.arrive(op) != Outcome::Done {
                    return Err(TryLockError::WouldBlock);
                }
                None
            }
            None => match self.outside.try_lock() {
                Ok(outside) => Some(outside),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
            },
        };
        if outside.is_some() {
            self.slot.assert_free();
        }
        Ok(self.guard(outside, site)?)
    }

    #[inline]
    pub(crate) fn guard<'a>(
        &'a self,
        outside: Option<std::sync::MutexGuard<'a, ()>>,
        site: SiteId,
    ) -> LockResult<MutexGuard<'a, T>> {
        let poison = self.poison.guard();
        self.poison.wrap(MutexGuard { lock: self, poison, outside, site, not_send: PhantomData })
    }

    /// See [`std::sync::Mutex::is_poisoned`].
    pub fn is_poisoned(&self) -> bool {
        self.poison.get()
    }

    /// See [`std::sync::Mutex::clear_poison`].
    pub fn clear_poison(&self) {
        self.poison.clear();
    }

    /// See [`std::sync::Mutex::get_mut`].
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.poison.wrap(self.data.get_mut())
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    /// Never locks: looking at a mutex must not change the run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").field("poisoned", &self.poison.get()).finish_non_exhaustive()
    }
}

/// Gives the mutex back when dropped, as [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    pub(crate) lock: &'a Mutex<T>,
    poison: PoisonGuard,
    /// The real lock, outside a run.
    pub(crate) outside: Option<std::sync::MutexGuard<'a, ()>>,
    pub(crate) site: SiteId,
    not_send: PhantomData<*const ()>,
}

// SAFETY: as for std's guard: a shared guard gives out shared references only.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so this task holds the mutex.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed mutably.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.poison.done(&self.poison);
        if self.outside.is_none()
            && let Some(rt) = rt::current()
        {
            rt.arrive(Op::new(Kind::Unlock, self.lock.object(rt, self.site), self.site));
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
