//! `Mutex` as std has it.

use crate::rt::site::here;
use crate::rt::slot::{Mark, Slot};
use crate::rt::{self, Rt};
use crate::sync::claim;
use crate::sync::poison::{Flag, Guard as PoisonGuard};
use raddle_model::objects::State;
use raddle_model::objects::mutex::Mutex as Model;
use raddle_model::{Kind, Mode, ObjectId, Op, Outcome, SiteId};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

type RealGuard<'a> = std::sync::MutexGuard<'a, ()>;

/// A mutual exclusion primitive, as [`std::sync::Mutex`].
///
/// Outside a run it is std's. Inside one the engine says who holds it; the real lock is not taken.
/// A guard that a run has leaked holds the mutex until that run ends.
pub struct Mutex<T: ?Sized> {
    slot: Slot,
    /// Also whether it is held: whether a guard made inside the run exists. While the run goes on the engine sees to it
    /// that it is free for whoever gets the lock; when it is over, this alone protects the data.
    poison: Flag,
    /// Where the holder inside a run has taken it; there it gives it back. Belongs to the holder.
    site: AtomicU32,
    /// Whether a thread outside of runs holds the real lock, and has looked or will look whether a run has the mutex. A run asks this,
    /// and not the lock: that would take two indivisible steps, in every run.
    occupied: AtomicBool,
    outside: std::sync::Mutex<()>,
    /// The real guard, while a thread outside of runs holds the mutex. Belongs to that thread.
    real: UnsafeCell<MaybeUninit<RealGuard<'static>>>,
    data: UnsafeCell<T>,
}

// SAFETY: as for std's Mutex: the flag (inside a run) or the real lock (outside) lets one task at a
// time reach the data, and `Slot` keeps the two worlds apart.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

impl<T> Mutex<T> {
    /// See [`std::sync::Mutex::new`].
    #[inline]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            slot: Slot::new(),
            poison: Flag::new(),
            site: AtomicU32::new(0),
            occupied: AtomicBool::new(false),
            outside: std::sync::Mutex::new(()),
            real: UnsafeCell::new(MaybeUninit::uninit()),
            data: UnsafeCell::new(value),
        }
    }

    /// See [`std::sync::Mutex::into_inner`].
    ///
    /// # Errors
    /// The value, if the mutex is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        self.poison.wrap(self.data.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    #[inline]
    fn object(&self, rt: Rt, site: SiteId) -> ObjectId {
        self.object_from(self.slot.id_or_more(rt.stamp()), rt, site)
    }

    #[inline]
    fn object_from(&self, id: u64, rt: Rt, site: SiteId) -> ObjectId {
        claim::object_from(id, self, &self.slot, rt, site, || {
            // As in `Slot`: whoever has the real lock says so before it looks for a run, and a run claims the mutex before it looks here.
            if self.occupied.load(Ordering::SeqCst) {
                claim::held_outside("mutex");
            }
            // What an earlier run has leaked ended with that run.
            self.poison.set_held(false);
            State::Mutex(Model::default())
        })
    }

    /// See [`std::sync::Mutex::lock`].
    ///
    /// # Errors
    /// The guard, if a holder has panicked.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let site = here!();
        let Some(rt) = rt::current() else { return self.poison.wrap(self.lock_outside()) };
        let id = self.slot.id_or_more(rt.stamp());
        if rt.repeats(id) {
            // Whether somebody panics is asked where it is given back, too.
            if self.is_plain(rt) && rt.opens_by_rote(id, site) {
                self.poison.set_only_held(true);
                self.site.store(site.0, Ordering::Relaxed);
                return Ok(MutexGuard { lock: self, made: rt.led_mark(), not_send: PhantomData });
            }
            if self.goes_on_by_rote(rt, id, site) {
                let made = rt.mark().0 << BITS | BY_ROTE;
                return Ok(MutexGuard { lock: self, made, not_send: PhantomData });
            }
        }
        let object = self.object_from(id, rt, site);
        rt.arrive(Op::new(Kind::Lock, object, site));
        if !self.enter(rt, site) {
            // The run is over, and this lock, asked for by a destructor, will never be free.
            rt.give_up();
        }
        self.poison.wrap(self.guard(rt.mark()))
    }

    /// Whether nothing is to be found out where the run is led: nobody panics, or has.
    #[inline(always)]
    fn is_plain(&self, rt: Rt) -> bool {
        self.poison.is_clear() && !rt.unwinds()
    }

    /// Whether it is taken by rote where the run is led to a point of a task that goes on with it.
    // Not a cold one, though less is moved about where it is taken for that.
    #[cold]
    #[inline(never)]
    fn goes_on_by_rote(&self, rt: Rt, id: u64, site: SiteId) -> bool {
        if !rt.with(|run| run.engine.is_led()) {
            // What was foreseen does not come, since it is held, or poisoned.
            return false;
        }
        if self.poison.is_held() || (std::thread::panicking() && rt.opens_by_rote(id, site)) {
            // It was free before, and nobody panicked.
            rt.stray();
        }
        let goes_on = self.is_plain(rt) && rt.goes_on_by_rote(Kind::Lock, id, site);
        if goes_on {
            self.held_from(site);
        }
        goes_on
    }

    /// The engine has let the task have it. False if a guard exists all the same: the run is over.
    #[inline]
    fn enter(&self, rt: Rt, site: SiteId) -> bool {
        if self.poison.is_held() {
            assert!(rt.ending(), "raddle bug: two tasks hold one mutex");
            return false;
        }
        self.held_from(site);
        true
    }

    #[inline]
    fn held_from(&self, site: SiteId) {
        self.poison.set_held(true);
        self.site.store(site.0, Ordering::Relaxed);
    }

    /// Where the holder inside a run has taken it.
    #[inline]
    fn taken_at(&self) -> SiteId {
        SiteId(self.site.load(Ordering::Relaxed))
    }

    #[cold]
    fn lock_outside(&self) -> MutexGuard<'_, T> {
        // Our own flag says whether it is poisoned.
        self.keep(self.outside.lock().unwrap_or_else(PoisonError::into_inner));
        self.guard(OUTSIDE)
    }

    /// Keeps the real guard until ours is dropped.
    fn keep(&self, real: RealGuard<'_>) {
        let occupies = Occupies::new(&self.occupied);
        self.slot.assert_free();
        // Until the real guard is taken out.
        mem::forget(occupies);
        // SAFETY: it is taken out while our guard borrows this mutex, or never.
        let real = unsafe { mem::transmute::<RealGuard<'_>, RealGuard<'static>>(real) };
        // SAFETY: whoever holds the real lock owns this place.
        unsafe { (*self.real.get()).write(real) };
    }

    /// The real guard, out of the mutex.
    ///
    /// # Safety
    /// `keep` must have put it there, and it must not have been taken since.
    unsafe fn take_real(&self) -> RealGuard<'_> {
        drop(Occupies(&self.occupied));
        // SAFETY: the caller promises that it is there.
        unsafe { (*self.real.get()).assume_init_read() }
    }

    /// See [`std::sync::Mutex::try_lock`].
    ///
    /// # Errors
    /// If the mutex is held, and the guard if a holder has panicked.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let site = here!();
        let mark = match rt::current() {
            Some(rt) => {
                let object = self.object(rt, site);
                let outcome = rt.arrive(Op::new(Kind::Lock, object, site).mode(Mode::Try));
                if outcome != Outcome::Done || !self.enter(rt, site) {
                    return Err(TryLockError::WouldBlock);
                }
                rt.mark()
            }
            None => {
                let outside = match self.outside.try_lock() {
                    Ok(outside) => outside,
                    Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                    Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
                };
                self.keep(outside);
                OUTSIDE
            }
        };
        Ok(self.poison.wrap(self.guard(mark))?)
    }

    #[inline]
    fn guard(&self, mark: Mark) -> MutexGuard<'_, T> {
        let made = mark.0 << BITS | u64::from(self.poison.guard().panicking());
        MutexGuard { lock: self, made, not_send: PhantomData }
    }

    /// See [`std::sync::Mutex::is_poisoned`].
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.poison.read(|rt, site| self.object(rt, site), here!())
    }

    /// See [`std::sync::Mutex::clear_poison`].
    #[track_caller]
    pub fn clear_poison(&self) {
        self.poison.clear(|rt, site| self.object(rt, site), here!());
    }

    /// See [`std::sync::Mutex::get_mut`].
    ///
    /// # Errors
    /// The value, if the mutex is poisoned.
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

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    /// As std's outside a run. Inside one the data are not shown: looking at a mutex must not change
    /// the run, and without an operation it could not be locked.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        let lock = if rt::current().is_none() { Some(self.outside.try_lock()) } else { None };
        // Whoever has the lock now is this.
        let _occupies = match &lock {
            Some(Err(TryLockError::WouldBlock)) | None => None,
            Some(_) => Some(Occupies::new(&self.occupied)),
        };
        match lock {
            Some(Err(TryLockError::WouldBlock)) => shown.field("data", &format_args!("<locked>")),
            // SAFETY: the real lock is held meanwhile, and no run has the mutex.
            Some(_) if self.slot.is_free() => shown.field("data", &unsafe { &*self.data.get() }),
            _ => shown.field("data", &format_args!("<in a run>")),
        };
        shown.field("poisoned", &self.poison.get()).finish_non_exhaustive()
    }
}

/// The real lock is held, as long as this is there.
struct Occupies<'a>(&'a AtomicBool);

impl Occupies<'_> {
    fn new(occupied: &AtomicBool) -> Occupies<'_> {
        occupied.store(true, Ordering::SeqCst);
        Occupies(occupied)
    }
}

impl Drop for Occupies<'_> {
    fn drop(&mut self) {
        // A run that sees it sees what the holder has done.
        self.0.store(false, Ordering::Release);
    }
}

/// Gives the mutex back when dropped, as [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
#[clippy::has_significant_drop]
///
/// Two words, so that it travels in registers: a larger one would be copied through memory, piece by
/// piece, and a processor waits for such copies.
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    lock: &'a Mutex<T>,
    /// The mark of the run that it was made in, 0 outside; in the lowest bits whether its holder was
    /// panicking then, and whether that was done by rote.
    made: u64,
    not_send: PhantomData<*const ()>,
}

/// What a guard knows besides its mark.
const PANICKING: u64 = 1;
const BY_ROTE: u64 = 2;
/// By rote, and it is given back before anything else is done.
const CLOSED: u64 = 4;
const BITS: u32 = 3;

/// What guards are made with of sections that are led, in the run with this mark.
pub(crate) fn led_mark(mark: Mark) -> u64 {
    mark.0 << BITS | CLOSED
}

/// No run's mark: for guards made outside.
const OUTSIDE: Mark = Mark(0);

// SAFETY: as for std's guard: a shared guard gives out shared references only.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// For a wait inside the run: the mutex is free while `wait` lasts, and the guard out of reach; if
    /// `wait` never comes back, nothing is given back.
    pub(super) fn apart<R>(self, wait: impl FnOnce() -> R) -> (Self, R) {
        let guard = ManuallyDrop::new(self);
        let site = guard.lock.site.load(Ordering::Relaxed);
        guard.lock.poison.set_held(false);
        let result = wait();
        assert!(!guard.lock.poison.is_held(), "raddle bug: a wait ended while another task holds the mutex");
        guard.lock.poison.set_held(true);
        guard.lock.site.store(site, Ordering::Relaxed);
        (ManuallyDrop::into_inner(guard), result)
    }

    /// The run and the object to give back to. None outside, and for a guard that has outlived its
    /// run: what it held was given back with the run.
    #[inline]
    pub(super) fn inside(&self) -> Option<(Rt, ObjectId)> {
        let rt = rt::current()?;
        (rt.mark().0 == self.made >> BITS).then(|| (rt, self.lock.slot.claimed(rt)))
    }

    fn is_outside(&self) -> bool {
        self.made >> BITS == OUTSIDE.0
    }

    /// The real guard, out of the mutex.
    ///
    /// # Safety
    /// This guard must have been made outside, and it must not be used again before another real
    /// guard is kept.
    unsafe fn take_real(&self) -> RealGuard<'a> {
        // SAFETY: passed on to the caller.
        unsafe { self.lock.take_real() }
    }

    /// For a wait outside of runs: `wait` gives the real lock back and takes it again.
    pub(super) fn apart_outside<R>(
        self,
        wait: impl FnOnce(RealGuard<'a>) -> (RealGuard<'a>, R),
    ) -> (Self, R) {
        assert!(
            self.is_outside(),
            "raddle: a guard can be used only inside the run that made it, and this one has outlived its run",
        );
        let guard = ManuallyDrop::new(self);
        // SAFETY: it was made outside, and is out of reach until the next real guard is kept.
        let (real, result) = wait(unsafe { guard.take_real() });
        guard.lock.keep(real);
        (ManuallyDrop::into_inner(guard), result)
    }

    /// The guard, or the error that carries it.
    pub(super) fn checked(self) -> LockResult<Self> {
        self.lock.poison.wrap(self)
    }
}

/// Gives a mutex back outside of runs.
///
/// # Safety
/// The guard must have been made outside, and be gone after this.
#[cold]
unsafe fn give_back_outside<T: ?Sized>(lock: &Mutex<T>, panicking: bool) {
    lock.poison.done(&PoisonGuard::new(panicking));
    // SAFETY: the guard that goes has kept it there.
    drop(unsafe { lock.take_real() });
}

/// Gives a mutex back while some task of the run panics.
// Not of the guard, which has no place in memory as long as nobody asks where it is.
#[cold]
fn give_back_in_panic(rt: Rt, object: ObjectId, site: SiteId, poison: &Flag, panicking: bool) {
    rt.arrive(Op::new(Kind::Unlock, object, site));
    rt.with(|run| run.engine.part_section(run.running, object, site));
    poison.done(&PoisonGuard::new(panicking));
}

/// Gives a mutex back, wherever that is.
#[inline(never)]
fn give_back<T: ?Sized>(lock: &Mutex<T>, made: u64) {
    // Asked first, while there is little to be kept meanwhile.
    let panics = std::thread::panicking();
    let guard = ManuallyDrop::new(MutexGuard { lock, made, not_send: PhantomData });
    if guard.is_outside() {
        // SAFETY: it was made outside, and is gone after this.
        return unsafe { give_back_outside(lock, made & PANICKING != 0) };
    }
    let Some((rt, object)) = guard.inside() else { return };
    let site = lock.taken_at();
    // First, since the operation does not come back if the run ends meanwhile.
    lock.poison.set_held(false);
    if panics {
        return give_back_in_panic(rt, object, site, &lock.poison, made & PANICKING != 0);
    }
    // The last thing that is done: so nothing must be kept for what comes after it. A task that does not panic
    // poisons nothing.
    rt.arrive(Op::new(Kind::Unlock, object, site));
}

/// Gives a mutex back that was taken by rote: mostly it is given back so.
#[inline(never)]
fn give_back_led<T: ?Sized>(lock: &Mutex<T>, made: u64) {
    if let Some(rt) = rt::current()
        && rt.mark().0 == made >> BITS
        && !std::thread::panicking()
        && rt.goes_on_by_rote(Kind::Unlock, lock.slot.id_or_more(rt.stamp()), lock.taken_at())
    {
        return lock.poison.set_held(false);
    }
    give_back(lock, made);
}

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
        if let Some(rt) = rt::current()
            && self.made == rt.led_mark()
            && !rt.unwinds()
            && rt.gives_back_by_rote()
        {
            return self.lock.poison.set_only_held(false);
        }
        if self.made & BY_ROTE != 0 {
            return give_back_led(self.lock, self.made);
        }
        // A section that is led, too, if somebody panics. In the run before nobody did, or that would be a line by itself: so
        // the run strays.
        give_back(self.lock, self.made);
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
