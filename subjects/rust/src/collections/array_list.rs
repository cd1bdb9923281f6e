//! Subject `ArrayList`: `Collections.synchronizedList(new ArrayList())`.
//!
//! | | paper (§5.1, table 1) | here |
//! |---|---|---|
//! | threads | 7, started by main | the same; main joins them |
//! | locks | 2: the monitor of each wrapper | the same |
//! | operations | one method per thread | the same, see `driver` |
//! | exception | `ConcurrentModificationException` in `containsAll` | the same |
//!
//! Lock operations: each method enters the monitor of its object. `addAll` then copies its argument by `toArray`, one
//! locked call, before it changes anything; `removeAll` asks `contains` of its argument, one locked call per element;
//! `containsAll` takes no further lock. So the exception needs a switch at an access to `mod_count` or `size`, which
//! race. Two threads (`al2.addAll(al1)`, `al1.removeAll(al2)`) take both monitors in opposite order: the run can
//! deadlock, which the paper does not mention.
//!
//! Assumed, the paper being silent: capacity 10, grown by half; `add` and `addAll` count a modification even when
//! there is room, `remove` only when it removes.

use super::grow_array::GrowArray;
use super::index_cursor::{IndexCursor, Indexed};
use super::{Collection, Synchronized, Value, drive, drive_backwards};
use crate::shim::Shared;

/// The body of the subject.
pub fn subject() {
    drive(|| Synchronized::new(ArrayList::new()));
}

/// The same with the threads started in the opposite order.
pub fn backwards() {
    drive_backwards(|| Synchronized::new(ArrayList::new()));
}

/// A list in a growable array, not synchronized.
#[derive(Debug)]
pub struct ArrayList {
    elements: GrowArray,
    mod_count: Shared<usize>,
}

impl ArrayList {
    /// An empty list.
    #[expect(clippy::new_without_default, reason = "subjects say what they make")]
    pub fn new() -> Self {
        ArrayList { elements: GrowArray::new(), mod_count: Shared::new(0) }
    }

    fn extend(&self, values: &[Value]) {
        self.mod_count.update(|count| count + 1);
        self.elements.reserve(values.len(), |capacity| capacity * 3 / 2 + 1);
        self.elements.append(values);
    }
}

impl Indexed for ArrayList {
    fn size(&self) -> usize {
        self.elements.len()
    }

    fn get(&self, index: usize) -> Option<Value> {
        self.elements.get(index)
    }

    fn remove_at(&self, index: usize) {
        self.mod_count.update(|count| count + 1);
        self.elements.remove_at(index);
    }

    fn mod_count(&self) -> usize {
        self.mod_count.get()
    }
}

impl Collection for ArrayList {
    type Cursor<'a> = IndexCursor<'a, ArrayList>;

    fn size(&self) -> usize {
        self.elements.len()
    }

    fn contains(&self, value: Value) -> bool {
        self.elements.index_of(value).is_some()
    }

    fn add(&self, value: Value) -> bool {
        self.extend(&[value]);
        true
    }

    fn remove(&self, value: Value) -> bool {
        let found = self.elements.index_of(value);
        if let Some(index) = found {
            self.remove_at(index);
        }
        found.is_some()
    }

    fn clear(&self) {
        self.mod_count.update(|count| count + 1);
        self.elements.clear();
    }

    fn iter(&self) -> Self::Cursor<'_> {
        IndexCursor::new(self)
    }

    fn add_all(&self, other: &impl Collection) -> bool {
        let values = other.to_array();
        self.extend(&values);
        !values.is_empty()
    }
}
