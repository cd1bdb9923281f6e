//! A heap with references that can be copied and never dangle, as Java's are.
//!
//! An iterator that is not synchronized can stand on a node that another task has unlinked meanwhile. Java's collector
//! keeps such a node alive; here it lives until the whole collection is dropped. Allocation and look-up are no
//! operations of the subject: the lock inside is never held across one.

use std::sync::{Arc, Mutex, PoisonError};

/// A reference to an object in the [`Heap`] that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ref(usize);

/// Objects of one type, kept until the heap itself is dropped.
#[derive(Debug)]
pub struct Heap<T>(Mutex<Vec<Arc<T>>>);

impl<T> Default for Heap<T> {
    fn default() -> Self {
        Heap(Mutex::default())
    }
}

impl<T> Heap<T> {
    /// The reference that the first allocation returns.
    pub const FIRST: Ref = Ref(0);

    /// Stores an object.
    pub fn alloc(&self, object: T) -> Ref {
        let mut objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        objects.push(Arc::new(object));
        Ref(objects.len() - 1)
    }

    /// The object behind a reference of this heap.
    pub fn get(&self, reference: Ref) -> Arc<T> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner)[reference.0])
    }
}
