//! What a task leaves behind: a place that the task writes and whoever joins it reads.
//!
//! It has two owners from the beginning and never more, so it needs less than an `Arc`: one flag, and one
//! indivisible step in its whole life.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Result;

struct Place<T> {
    /// Whether both owners are there.
    shared: AtomicBool,
    result: UnsafeCell<Option<Result<T>>>,
}

/// One of the two owners.
pub(super) struct Packet<T>(NonNull<Place<T>>);

// SAFETY: the task writes before it exits, and the joiner reads after that, both on the carrier's
// thread; any other thread can only drop the packet, and whoever makes one has `T: Send`.
unsafe impl<T: Send> Send for Packet<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Packet<T> {}

impl<T> Packet<T> {
    /// An empty place, for the task and for whoever may join it.
    #[inline]
    pub(super) fn pair() -> (Packet<T>, Packet<T>) {
        let place = Place { shared: AtomicBool::new(true), result: UnsafeCell::new(None) };
        let place = NonNull::from(Box::leak(Box::new(place)));
        (Packet(place), Packet(place))
    }

    /// Writes the result.
    ///
    /// # Safety
    /// Nobody else may read or write meanwhile.
    #[inline]
    pub(super) unsafe fn put(&self, result: Result<T>) {
        // SAFETY: the place is there while an owner is; the rest is the caller's promise.
        unsafe { *self.0.as_ref().result.get() = Some(result) };
    }

    /// Takes the result, if it has been written.
    ///
    /// # Safety
    /// As for [`Packet::put`].
    #[inline]
    pub(super) unsafe fn take(&self) -> Option<Result<T>> {
        // SAFETY: as above.
        unsafe { (*self.0.as_ref().result.get()).take() }
    }
}

impl<T> Drop for Packet<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the place is there while an owner is.
        let shared = unsafe { &self.0.as_ref().shared };
        // The last one finds that it is alone by a look.
        if shared.load(Ordering::Acquire) && shared.swap(false, Ordering::AcqRel) {
            return;
        }
        // SAFETY: the other owner has let go, and this was the last word of both.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[cfg(test)]
mod tests {
    use super::Packet;
    use std::sync::Arc;

    #[test]
    fn what_is_left_is_dropped_once_whoever_goes_last() {
        for joiner_first in [false, true] {
            let value = Arc::new(());
            let (task, joiner) = Packet::pair();
            // SAFETY: one thread.
            unsafe { task.put(Ok(value.clone())) };
            let (first, last) = if joiner_first { (joiner, task) } else { (task, joiner) };
            drop(first);
            assert_eq!(Arc::strong_count(&value), 2);
            drop(last);
            assert_eq!(Arc::strong_count(&value), 1);
        }
    }

    #[test]
    fn two_threads_may_let_go_at_once() {
        for _ in 0..1_000 {
            let value = Arc::new(());
            let (task, joiner) = Packet::pair();
            // SAFETY: the other thread only drops.
            unsafe { task.put(Ok(value.clone())) };
            let other = std::thread::spawn(move || drop(joiner));
            drop(task);
            other.join().unwrap();
            assert_eq!(Arc::strong_count(&value), 1);
        }
    }

    #[test]
    fn what_was_taken_is_not_dropped_again() {
        let value = Arc::new(());
        let (task, joiner) = Packet::pair();
        // SAFETY: one thread.
        let taken = unsafe {
            task.put(Ok(value.clone()));
            drop(task);
            joiner.take()
        };
        drop(joiner);
        assert_eq!(Arc::strong_count(&value), 2);
        drop(taken);
    }
}
