//! Synchronization, as [`std::sync`].

pub mod atomic;
mod mutex;
mod poison;

pub use mutex::{Mutex, MutexGuard};
pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};
