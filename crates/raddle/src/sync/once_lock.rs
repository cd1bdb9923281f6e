//! `OnceLock` as std has it.

use crate::rt::site::here;
use crate::sync::raw_once::{Poisoned, RawOnce};
use raddle_model::SiteId;
use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// A cell that is written once, as [`std::sync::OnceLock`].
///
/// Inside a run a closure that initializes its own cell is a deadlock, and reported as one.
pub struct OnceLock<T> {
    pub(super) once: RawOnce,
    // invariant: written by whoever is inside `once`, and only read once that is complete.
    pub(super) value: UnsafeCell<Option<T>>,
}

// SAFETY: the cell may carry its value to another thread.
unsafe impl<T: Send> Send for OnceLock<T> {}
// SAFETY: as above, and several threads may share the value. `once` lets one task at a time write it
// and nobody read it before that is done.
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}

impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// See [`std::sync::OnceLock::new`].
    #[must_use]
    #[inline]
    pub const fn new() -> OnceLock<T> {
        OnceLock { once: RawOnce::new(), value: UnsafeCell::new(None) }
    }

    /// The value of a cell that is complete.
    pub(super) fn value(&self) -> &T {
        assert!(self.once.seems_complete(), "raddle bug: a cell without a value");
        // SAFETY: a complete cell is not written again while it is shared.
        unsafe { &*self.value.get() }.as_ref().expect("raddle bug: a complete cell without a value")
    }

    /// See [`std::sync::OnceLock::get`].
    #[inline]
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.once.is_complete(self, here!()).then(|| self.value())
    }

    /// See [`std::sync::OnceLock::get_mut`].
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// See [`std::sync::OnceLock::wait`].
    #[track_caller]
    pub fn wait(&self) -> &T {
        match self.once.wait(self, true, here!()) {
            Ok(()) => self.value(),
            Err(Poisoned) => unreachable!("raddle bug: a forced wait heeds poison"),
        }
    }

    /// See [`std::sync::OnceLock::set`].
    ///
    /// # Errors
    /// The value, if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.init(here!(), || value.take().expect("raddle bug: a closure was called twice"));
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// See [`std::sync::OnceLock::get_or_init`].
    #[inline]
    #[track_caller]
    pub fn get_or_init<F>(&self, f: F) -> &T
    where
        F: FnOnce() -> T,
    {
        self.init(here!(), f);
        self.value()
    }

    fn init(&self, site: SiteId, f: impl FnOnce() -> T) {
        let fill = |_| {
            let value = f();
            // SAFETY: who is inside `once` is alone, and nobody has a reference to what is not there.
            unsafe { *self.value.get() = Some(value) };
        };
        // A panicking closure leaves the cell empty, for the next to try again.
        self.once.call(self, true, site, fill).expect("raddle bug: a forced call heeds poison");
    }

    /// See [`std::sync::OnceLock::into_inner`].
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// See [`std::sync::OnceLock::take`].
    pub fn take(&mut self) -> Option<T> {
        let value = self.value.get_mut().take();
        if value.is_some() {
            self.once.reset(false);
        }
        value
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> OnceLock<T> {
        OnceLock { once: RawOnce::complete(), value: UnsafeCell::new(Some(value)) }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> OnceLock<T> {
        match self.get() {
            Some(value) => OnceLock::from(value.clone()),
            None => OnceLock::new(),
        }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    /// Looks without an operation: looking must not change the run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("OnceLock");
        if self.once.seems_complete() {
            shown.field(self.value())
        } else {
            shown.field(&format_args!("<uninit>"))
        };
        shown.finish()
    }
}
