//! `Once` as std has it.

use crate::rt::site::here;
use crate::sync::raw_once::{Poisoned, RawOnce};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Runs something once, as [`std::sync::Once`].
///
/// Inside a run a closure that calls its own `Once` again is a deadlock, and reported as one.
pub struct Once {
    raw: RawOnce,
}

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

/// What [`Once::call_once_force`] tells its closure, as [`std::sync::OnceState`].
pub struct OnceState {
    poisoned: bool,
    not_sync: PhantomData<Cell<()>>,
}

/// As [`std::sync::ONCE_INIT`].
#[deprecated(note = "the `Once::new()` function is now preferred, as in std")]
#[expect(clippy::declare_interior_mutable_const, reason = "as in std: it is there to initialize with")]
pub const ONCE_INIT: Once = Once::new();

impl OnceState {
    /// See [`std::sync::OnceState::is_poisoned`].
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl Once {
    /// See [`std::sync::Once::new`].
    #[must_use]
    #[inline]
    #[expect(clippy::new_without_default, reason = "std's has none")]
    pub const fn new() -> Once {
        Once { raw: RawOnce::new() }
    }

    /// See [`std::sync::Once::call_once`].
    ///
    /// # Panics
    /// If an earlier closure has panicked.
    #[inline]
    #[track_caller]
    pub fn call_once<F>(&self, f: F)
    where
        F: FnOnce(),
    {
        unpoisoned(self.raw.call(self, false, here!(), |_| f()));
    }

    /// See [`std::sync::Once::call_once_force`].
    #[inline]
    #[track_caller]
    pub fn call_once_force<F>(&self, f: F)
    where
        F: FnOnce(&OnceState),
    {
        let call = |poisoned| f(&OnceState { poisoned, not_sync: PhantomData });
        unpoisoned(self.raw.call(self, true, here!(), call));
    }

    /// See [`std::sync::Once::is_completed`].
    #[inline]
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.raw.is_complete(self, here!())
    }

    /// See [`std::sync::Once::wait`].
    ///
    /// # Panics
    /// If a closure has panicked.
    #[track_caller]
    pub fn wait(&self) {
        unpoisoned(self.raw.wait(self, false, here!()));
    }

    /// See [`std::sync::Once::wait_force`].
    #[track_caller]
    pub fn wait_force(&self) {
        unpoisoned(self.raw.wait(self, true, here!()));
    }
}

#[track_caller]
fn unpoisoned(result: Result<(), Poisoned>) {
    if let Err(Poisoned) = result {
        panic!("Once instance has previously been poisoned");
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState").field("poisoned", &self.is_poisoned()).finish()
    }
}
