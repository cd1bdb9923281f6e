//! `LazyLock` as std has it.

use crate::rt::site::here;
use crate::sync::OnceLock;
use crate::sync::raw_once::Poisoned;
use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

/// A value that is made on first use, as [`std::sync::LazyLock`].
///
/// Inside a run a closure that needs its own value is a deadlock, and reported as one.
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    // invariant: taken only by whoever is inside the once of `cell`.
    init: UnsafeCell<Option<F>>,
}

// SAFETY: the value is shared by `cell`, whose rules these are; `init` is taken by one task only, on
// whichever thread that is.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}

impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// See [`std::sync::LazyLock::new`].
    #[inline]
    pub const fn new(f: F) -> LazyLock<T, F> {
        LazyLock { cell: OnceLock::new(), init: UnsafeCell::new(Some(f)) }
    }

    /// See [`std::sync::LazyLock::force`].
    ///
    /// # Panics
    /// If the closure has panicked.
    #[inline]
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        let fill = |_| {
            // SAFETY: who is inside the once is alone.
            let init = unsafe { &mut *this.init.get() }.take();
            let value = init.map_or_else(|| poisoned(), |init| init());
            // SAFETY: as above, and nobody has a reference to what is not there.
            unsafe { *this.cell.value.get() = Some(value) };
        };
        match this.cell.once.call(this, false, here!(), fill) {
            Ok(()) => this.cell.value(),
            Err(Poisoned) => poisoned(),
        }
    }

    /// See [`std::sync::LazyLock::force_mut`].
    ///
    /// # Panics
    /// If the closure has panicked.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        if this.cell.once.was_poisoned() {
            poisoned();
        }
        if !this.cell.once.seems_complete() {
            let init = this.init.get_mut().take().unwrap_or_else(|| poisoned());
            // Poisoned unless the closure comes back.
            this.cell.once.poison();
            *this.cell.value.get_mut() = Some(init());
            this.cell.once.reset(true);
        }
        this.cell.get_mut().expect("raddle bug: a complete cell without a value")
    }
}

impl<T, F> LazyLock<T, F> {
    /// See [`std::sync::LazyLock::get_mut`].
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        this.cell.get_mut()
    }

    /// See [`std::sync::LazyLock::get`].
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        this.cell.once.is_complete(this, here!()).then(|| this.cell.value())
    }
}

#[cold]
#[track_caller]
fn poisoned() -> ! {
    panic!("LazyLock instance has previously been poisoned")
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;
    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[inline]
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        LazyLock::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    /// Looks without an operation: looking must not change the run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("LazyLock");
        if self.cell.once.seems_complete() {
            shown.field(self.cell.value())
        } else {
            shown.field(&format_args!("<uninit>"))
        };
        shown.finish()
    }
}
