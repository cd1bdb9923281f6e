//! `RwLock` as std has it. The part that does not depend on the data is [`Raw`], so that a read
//! guard needs to know only that part and where the data are, as in std.

use crate::rt::site::here;
use crate::rt::slot::Slot;
use crate::rt::{self, Rt};
use crate::sync::claim::{self, Held};
use crate::sync::poison::{Flag, Guard as PoisonGuard};
use raddle_model::objects::State;
use raddle_model::objects::rwlock::RwLock as Model;
use raddle_model::{Kind, Mode, ObjectId, Op, Outcome, SiteId};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

type RealRead<'a> = std::sync::RwLockReadGuard<'a, ()>;
type RealWrite<'a> = std::sync::RwLockWriteGuard<'a, ()>;

/// A readers-writer lock, as [`std::sync::RwLock`].
///
/// Outside a run it is std's. Inside one the engine says who holds it, and prefers nobody: a reader
/// may overtake a waiting writer, and the other way round. A task that reads may read again, which
/// std leaves open.
pub struct RwLock<T: ?Sized> {
    raw: Raw,
    data: UnsafeCell<T>,
}

/// A lock without its data.
struct Raw {
    slot: Slot,
    poison: Flag,
    /// Guards made inside the run: how many readers, or [`WRITER`]. While the run goes on the engine
    /// sees to it that this fits; when it is over, this alone protects the data.
    held: AtomicU32,
    outside: std::sync::RwLock<()>,
}

const WRITER: u32 = u32::MAX;

// SAFETY: as for std's RwLock: `held` (inside a run) or the real lock (outside) excludes readers
// from writers and writers from each other, and `Slot` keeps the two worlds apart.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above; readers on several threads share the data.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

impl Raw {
    #[inline]
    fn object<T: ?Sized>(&self, whole: &T, rt: Rt, site: SiteId) -> ObjectId {
        claim::object(whole, &self.slot, rt, site, || {
            if let Err(TryLockError::WouldBlock) = self.outside.try_write() {
                claim::held_outside("rwlock");
            }
            // What an earlier run has leaked ended with that run.
            self.held.store(0, Ordering::Relaxed);
            State::RwLock(Model::default())
        })
    }

    /// The engine has let the task read or write. None if guards forbid it all the same: the run is
    /// over.
    #[inline]
    fn enter<G>(&self, rt: Rt, object: ObjectId, write: bool) -> Option<Held<G>> {
        let held = self.held.load(Ordering::Relaxed);
        if held == WRITER || (write && held != 0) {
            assert!(rt.ending(), "raddle bug: tasks that exclude each other hold one rwlock");
            return None;
        }
        self.held.store(if write { WRITER } else { held + 1 }, Ordering::Relaxed);
        Some(Held::Inside(rt.mark(), object))
    }

    /// A task inside the run takes the lock; None if that fails, and never back if it never can.
    #[inline]
    fn take<G>(&self, rt: Rt, op: Op) -> Option<Held<G>> {
        let done = rt.arrive(op) == Outcome::Done;
        let held = if done { self.enter(rt, op.object, op.kind == Kind::WriteLock) } else { None };
        match (held, op.mode) {
            // The run is over, and this lock, asked for by a destructor, will never be free.
            (None, Mode::Block) => rt.give_up(),
            (held, _) => held,
        }
    }
}

impl<T> RwLock<T> {
    /// See [`std::sync::RwLock::new`].
    #[inline]
    pub const fn new(value: T) -> RwLock<T> {
        let raw = Raw {
            slot: Slot::new(),
            poison: Flag::new(),
            held: AtomicU32::new(0),
            outside: std::sync::RwLock::new(()),
        };
        RwLock { raw, data: UnsafeCell::new(value) }
    }

    /// See [`std::sync::RwLock::into_inner`].
    ///
    /// # Errors
    /// The value, if the lock is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        self.raw.poison.wrap(self.data.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    /// See [`std::sync::RwLock::read`].
    ///
    /// # Errors
    /// The guard, if a writer has panicked.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let site = here!();
        let held = match rt::current() {
            Some(rt) => self.raw.take(rt, Op::new(Kind::ReadLock, self.object(rt, site), site)),
            None => Some(Held::Outside(self.raw.outside.read().unwrap_or_else(PoisonError::into_inner))),
        };
        self.read_guard(held.expect("raddle bug: a blocking operation failed"), site)
    }

    /// See [`std::sync::RwLock::try_read`].
    ///
    /// # Errors
    /// If somebody writes, and the guard if a writer has panicked.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let site = here!();
        let held = match rt::current() {
            Some(rt) => {
                let op = Op::new(Kind::ReadLock, self.object(rt, site), site).mode(Mode::Try);
                self.raw.take(rt, op)
            }
            None => real(self.raw.outside.try_read()),
        };
        Ok(self.read_guard(held.ok_or(TryLockError::WouldBlock)?, site)?)
    }

    /// See [`std::sync::RwLock::write`].
    ///
    /// # Errors
    /// The guard, if a writer has panicked.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let site = here!();
        let held = match rt::current() {
            Some(rt) => self.raw.take(rt, Op::new(Kind::WriteLock, self.object(rt, site), site)),
            None => Some(Held::Outside(self.raw.outside.write().unwrap_or_else(PoisonError::into_inner))),
        };
        self.write_guard(held.expect("raddle bug: a blocking operation failed"), site)
    }

    /// See [`std::sync::RwLock::try_write`].
    ///
    /// # Errors
    /// If somebody reads or writes, and the guard if a writer has panicked.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let site = here!();
        let held = match rt::current() {
            Some(rt) => {
                let op = Op::new(Kind::WriteLock, self.object(rt, site), site).mode(Mode::Try);
                self.raw.take(rt, op)
            }
            None => real(self.raw.outside.try_write()),
        };
        Ok(self.write_guard(held.ok_or(TryLockError::WouldBlock)?, site)?)
    }

    #[inline]
    fn object(&self, rt: Rt, site: SiteId) -> ObjectId {
        self.raw.object(self, rt, site)
    }

    #[inline]
    fn read_guard<'a>(
        &'a self,
        held: Held<RealRead<'a>>,
        site: SiteId,
    ) -> LockResult<RwLockReadGuard<'a, T>> {
        if let Held::Outside(_) = held {
            self.raw.slot.assert_free();
        }
        // SAFETY: a pointer to a field is never null.
        let data = unsafe { NonNull::new_unchecked(self.data.get()) };
        self.raw.poison.wrap(RwLockReadGuard { data, raw: &self.raw, held, site, shared: PhantomData })
    }

    #[inline]
    fn write_guard<'a>(
        &'a self,
        held: Held<RealWrite<'a>>,
        site: SiteId,
    ) -> LockResult<RwLockWriteGuard<'a, T>> {
        if let Held::Outside(_) = held {
            self.raw.slot.assert_free();
        }
        let poison = self.raw.poison.guard();
        self.raw.poison.wrap(RwLockWriteGuard { lock: self, poison, held, site, not_send: PhantomData })
    }

    /// See [`std::sync::RwLock::is_poisoned`].
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.raw.poison.read(|rt, site| self.object(rt, site), here!())
    }

    /// See [`std::sync::RwLock::clear_poison`].
    #[track_caller]
    pub fn clear_poison(&self) {
        self.raw.poison.clear(|rt, site| self.object(rt, site), here!());
    }

    /// See [`std::sync::RwLock::get_mut`].
    ///
    /// # Errors
    /// The value, if the lock is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.raw.poison.wrap(self.data.get_mut())
    }
}

/// The real guard, if there is one; our own flag says whether the lock is poisoned.
fn real<G>(result: TryLockResult<G>) -> Option<Held<G>> {
    match result {
        Ok(guard) => Some(Held::Outside(guard)),
        Err(TryLockError::Poisoned(poisoned)) => Some(Held::Outside(poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    /// As std's outside a run. Inside one the data are not shown: looking at a lock must not change
    /// the run, and without an operation it could not be locked.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        let lock = if rt::current().is_none() { Some(self.raw.outside.try_read()) } else { None };
        match lock {
            Some(Err(TryLockError::WouldBlock)) => shown.field("data", &format_args!("<locked>")),
            // SAFETY: the real lock is held meanwhile, and no run has this one.
            Some(_) if self.raw.slot.is_free() => shown.field("data", &unsafe { &*self.data.get() }),
            _ => shown.field("data", &format_args!("<in a run>")),
        };
        shown.field("poisoned", &self.raw.poison.get()).finish_non_exhaustive()
    }
}

/// Gives a read lock back when dropped, as [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized + 'a> {
    data: NonNull<T>,
    raw: &'a Raw,
    held: Held<RealRead<'a>>,
    site: SiteId,
    shared: PhantomData<&'a T>,
}

/// Gives a write lock back when dropped, as [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized + 'a> {
    lock: &'a RwLock<T>,
    poison: PoisonGuard,
    held: Held<RealWrite<'a>>,
    site: SiteId,
    not_send: PhantomData<*const ()>,
}

// SAFETY: as for std's guards: a shared guard gives out shared references only.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// See [`std::sync::RwLockWriteGuard::downgrade`].
    #[track_caller]
    pub fn downgrade(s: Self) -> RwLockReadGuard<'a, T> {
        let site = here!();
        let raw = &s.lock.raw;
        if let Some((rt, object)) = s.held.inside() {
            // If this does not come back, the write guard is dropped.
            rt.arrive(Op::new(Kind::Downgrade, object, site));
            raw.held.store(1, Ordering::Relaxed);
        }
        let guard = ManuallyDrop::new(s);
        // SAFETY: the guard is not used again, nor dropped.
        let held = match unsafe { std::ptr::read(&raw const guard.held) } {
            Held::Inside(mark, object) => Held::Inside(mark, object),
            Held::Outside(real) => Held::Outside(RealWrite::downgrade(real)),
        };
        // SAFETY: a pointer to a field is never null.
        let data = unsafe { NonNull::new_unchecked(guard.lock.data.get()) };
        RwLockReadGuard { data, raw, held, site, shared: PhantomData }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so this task reads.
        unsafe { self.data.as_ref() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard exists, so this task alone holds the lock.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed mutably.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let Some((rt, object)) = self.held.inside() {
            // First, since the operation does not come back if the run ends meanwhile.
            self.raw.held.fetch_sub(1, Ordering::Relaxed);
            rt.arrive(Op::new(Kind::ReadUnlock, object, self.site));
        }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let raw = &self.lock.raw;
        if let Held::Inside(..) = self.held {
            let Some((rt, object)) = self.held.inside() else { return };
            raw.held.store(0, Ordering::Relaxed);
            rt.arrive(Op::new(Kind::WriteUnlock, object, self.site));
        }
        raw.poison.done(&self.poison);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
