//! `UnsafeCell`, which shows its accesses to the run.

use super::access;
use crate::rt;
use crate::rt::site::here;
use crate::rt::slot::Slot;
use raddle_model::Kind;
use std::fmt;

/// The core of interior mutability, as [`std::cell::UnsafeCell`].
///
/// Use [`with`](UnsafeCell::with) and [`with_mut`](UnsafeCell::with_mut) where you would use `get`:
/// the run sees them, and finds data races between them. `get` is there for code that must compile
/// unchanged; what is done through its pointer is not seen.
///
/// Differs from std's: it is larger than `T`, so it can neither be made of a `&mut T` (`from_mut`) nor
/// be cast from a pointer to `T`.
pub struct UnsafeCell<T: ?Sized> {
    slot: Slot,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// See [`std::cell::UnsafeCell::new`].
    #[inline]
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell { slot: Slot::new(), value: std::cell::UnsafeCell::new(value) }
    }

    /// See [`std::cell::UnsafeCell::into_inner`].
    #[inline]
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// See [`std::cell::UnsafeCell::raw_get`]. What is done through the pointer is not seen.
    ///
    /// Differs from std's: `T` must be sized.
    #[inline]
    pub const fn raw_get(this: *const Self) -> *mut T {
        // Without a reference: what is there need not have been written.
        this.wrapping_byte_add(std::mem::offset_of!(Self, value)).cast::<T>().cast_mut()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads: `f` gets a pointer that is good until `f` returns.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        if let Some(rt) = rt::current() {
            access(self, &self.slot, rt, Kind::CellRead, here!(), || {});
        }
        f(self.value.get())
    }

    /// Writes: `f` gets a pointer that is good until `f` returns.
    #[inline]
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        if let Some(rt) = rt::current() {
            access(self, &self.slot, rt, Kind::CellWrite, here!(), || {});
        }
        f(self.value.get())
    }

    /// See [`std::cell::UnsafeCell::get`]. What is done through the pointer is not seen.
    #[inline]
    pub const fn get(&self) -> *mut T {
        self.value.get()
    }

    /// See [`std::cell::UnsafeCell::get_mut`].
    #[inline]
    pub const fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}
