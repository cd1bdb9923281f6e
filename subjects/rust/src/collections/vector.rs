//! Subject `Vector`: `java.util.Vector`, which is synchronized itself.
//!
//! | | paper (§5.1, table 1) | here |
//! |---|---|---|
//! | threads | 7, started by main | the same; main joins them |
//! | locks | 2: the monitor of each vector | the same |
//! | operations | one method per thread | the same, see `driver` |
//! | exception | `ConcurrentModificationException` in `containsAll` | the same |
//!
//! Lock operations: each method enters the monitor of its vector. `containsAll` and `removeAll` of one vector iterate
//! through the other, or ask it, while holding only the first; but every `size` and `get` of that iteration enters the
//! other's monitor for itself, so the exception is found with switches at lock operations alone. The count of
//! modifications is read without any lock. `addAll` counts its modification first and then copies its argument, one
//! locked call. Two threads (`al2.addAll(al1)`, `al1.containsAll(al2)` or `al1.removeAll(al2)`) take both monitors in
//! opposite order: the run can deadlock, which the paper does not mention.
//!
//! Assumed, the paper being silent: capacity 10, doubled; `remove` counts a modification when it looks for the element
//! and another when it finds it.

use super::grow_array::GrowArray;
use super::index_cursor::{IndexCursor, Indexed};
use super::{Collection, Value, contains_each, drive, drive_backwards, remove_contained};
use crate::monitor::Monitor;
use crate::shim::Shared;

/// The body of the subject.
pub fn subject() {
    drive(Vector::new);
}

/// The same with the threads started in the opposite order.
pub fn backwards() {
    drive_backwards(Vector::new);
}

/// A synchronized list in a growable array.
#[derive(Debug)]
pub struct Vector {
    monitor: Monitor,
    elements: GrowArray,
    mod_count: Shared<usize>,
}

impl Vector {
    /// An empty vector.
    #[expect(clippy::new_without_default, reason = "subjects say what they make")]
    pub fn new() -> Self {
        Vector { monitor: Monitor::new(), elements: GrowArray::new(), mod_count: Shared::new(0) }
    }

    fn modified(&self) {
        self.mod_count.update(|count| count + 1);
    }

    fn extend(&self, values: &[Value]) {
        self.elements.reserve(values.len(), |capacity| capacity * 2);
        self.elements.append(values);
    }
}

impl Indexed for Vector {
    fn size(&self) -> usize {
        let _inside = self.monitor.enter();
        self.elements.len()
    }

    fn get(&self, index: usize) -> Option<Value> {
        let _inside = self.monitor.enter();
        self.elements.get(index)
    }

    fn remove_at(&self, index: usize) {
        let _inside = self.monitor.enter();
        self.modified();
        self.elements.remove_at(index);
    }

    fn mod_count(&self) -> usize {
        self.mod_count.get()
    }
}

impl Collection for Vector {
    type Cursor<'a> = IndexCursor<'a, Vector>;

    fn size(&self) -> usize {
        Indexed::size(self)
    }

    fn contains(&self, value: Value) -> bool {
        let _inside = self.monitor.enter();
        self.elements.index_of(value).is_some()
    }

    fn add(&self, value: Value) -> bool {
        let _inside = self.monitor.enter();
        self.modified();
        self.extend(&[value]);
        true
    }

    fn remove(&self, value: Value) -> bool {
        let _inside = self.monitor.enter();
        self.modified();
        let found = self.elements.index_of(value);
        if let Some(index) = found {
            self.remove_at(index);
        }
        found.is_some()
    }

    fn clear(&self) {
        let _inside = self.monitor.enter();
        self.modified();
        self.elements.clear();
    }

    fn iter(&self) -> Self::Cursor<'_> {
        IndexCursor::new(self)
    }

    fn to_array(&self) -> Vec<Value> {
        let _inside = self.monitor.enter();
        (0..self.elements.len()).filter_map(|i| self.elements.get(i)).collect()
    }

    fn add_all(&self, other: &impl Collection) -> bool {
        let _inside = self.monitor.enter();
        self.modified();
        let values = other.to_array();
        self.extend(&values);
        !values.is_empty()
    }

    fn contains_all(&self, other: &impl Collection) -> bool {
        let _inside = self.monitor.enter();
        contains_each(self, other)
    }

    fn remove_all(&self, other: &impl Collection) -> bool {
        let _inside = self.monitor.enter();
        remove_contained(self, other)
    }
}
