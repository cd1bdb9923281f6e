//! What a task leaves behind: a place that the task writes and whoever joins it reads.
//!
//! It has two owners from the beginning and never more, so it needs less than an `Arc`: one flag, and one
//! indivisible step in its whole life.

use super::handle::{Owned, Thread};
use crate::rt::{self, Rt};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Result;

struct Place<T> {
    /// Whether both owners are there.
    shared: AtomicBool,
    /// Whose place it is: so a handle is one word, and travels in a register.
    thread: Thread,
    result: UnsafeCell<Option<Result<T>>>,
}

/// Memory for a place, if that is not too big: a carrier keeps what its tasks have left for those that come.
#[derive(Debug)]
pub(crate) struct Room(NonNull<u8>);

// SAFETY: it is memory that nobody else knows of.
unsafe impl Send for Room {}

impl Room {
    const LAYOUT: Layout = Layout::new::<[u128; 6]>();

    fn is_for<T>() -> bool {
        size_of::<Place<T>>() <= Room::LAYOUT.size() && align_of::<Place<T>>() <= Room::LAYOUT.align()
    }

    #[cold]
    fn new() -> Room {
        // SAFETY: it has a size.
        let memory = unsafe { alloc(Room::LAYOUT) };
        Room(NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(Room::LAYOUT)))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: it was made with this layout, and nothing is in it.
        unsafe { dealloc(self.0.as_ptr(), Room::LAYOUT) };
    }
}

/// One of the two owners.
pub(super) struct Packet<T>(NonNull<Place<T>>);

// SAFETY: the task writes before it exits, and the joiner reads after that, both on the carrier's
// thread; any other thread can only drop the packet, and whoever makes one has `T: Send`.
unsafe impl<T: Send> Send for Packet<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Packet<T> {}

impl<T> Packet<T> {
    /// An empty place, for this task and for whoever may join it.
    #[inline]
    pub(super) fn pair(rt: Option<Rt>, owned: Owned, name: Option<Arc<str>>) -> (Packet<T>, Packet<T>) {
        let thread = || Thread::inside(owned, name);
        let place = if Room::is_for::<T>() {
            let room = rt.and_then(|rt| rt.with(|run| run.rooms.pop())).unwrap_or_else(Room::new);
            let at = ManuallyDrop::new(room).0.cast::<Place<T>>();
            // SAFETY: it is big enough, and nobody else has it. What is made is made where it stays.
            unsafe {
                (&raw mut (*at.as_ptr()).shared).write(AtomicBool::new(true));
                (&raw mut (*at.as_ptr()).thread).write(thread());
                (&raw mut (*at.as_ptr()).result).write(UnsafeCell::new(None));
            }
            at
        } else {
            let place =
                Place { shared: AtomicBool::new(true), thread: thread(), result: UnsafeCell::new(None) };
            NonNull::from(Box::leak(Box::new(place)))
        };
        (Packet(place), Packet(place))
    }

    /// Whose place it is.
    #[inline]
    pub(super) fn thread(&self) -> &Thread {
        // SAFETY: the place is there while an owner is, and nobody writes this after it was made.
        unsafe { &(*self.0.as_ptr()).thread }
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
        if !Room::is_for::<T>() {
            // SAFETY: the other owner has let go, and this was the last word of both.
            return drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
        let room = Room(self.0.cast());
        // SAFETY: as above. Should that panic, the room is given back all the same.
        unsafe { self.0.drop_in_place() };
        if let Some(rt) = rt::current() {
            rt.with(|run| run.rooms.push(room));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Owned, Packet};
    use crate::rt::slot::Mark;
    use raddle_model::TaskId;
    use std::sync::Arc;

    fn pair<T>() -> (Packet<T>, Packet<T>) {
        Packet::pair(None, Owned { mark: Mark(0), task: TaskId::MAIN }, Some(Arc::from("somebody")))
    }

    #[test]
    fn what_is_left_is_dropped_once_whoever_goes_last() {
        for joiner_first in [false, true] {
            let value = Arc::new(());
            let (task, joiner) = pair();
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
    fn what_is_too_big_for_a_room_is_dropped_once() {
        let value = Arc::new(());
        let (task, joiner) = pair();
        // SAFETY: one thread.
        unsafe { task.put(Ok(([0_u64; 32], value.clone()))) };
        drop(task);
        assert_eq!(Arc::strong_count(&value), 2);
        drop(joiner);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn two_threads_may_let_go_at_once() {
        for _ in 0..1_000 {
            let value = Arc::new(());
            let (task, joiner) = pair();
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
        let (task, joiner) = pair();
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
