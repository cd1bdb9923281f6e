//! The growable array under `ArrayList` and `Vector`: a reference to the slots, and how many of them are used.

use super::Value;
use crate::heap::{Heap, Ref};
use crate::shim::Shared;

const FIRST_CAPACITY: usize = 10;

/// Slots of which the first `len` are used. Growing copies them into a larger array and replaces the reference.
#[derive(Debug)]
pub(super) struct GrowArray {
    arrays: Heap<Box<[Shared<Option<Value>>]>>,
    array: Shared<Ref>,
    len: Shared<usize>,
}

impl GrowArray {
    pub(super) fn new() -> Self {
        let arrays = Heap::default();
        let array = Shared::new(arrays.alloc(empty_slots(FIRST_CAPACITY)));
        GrowArray { arrays, array, len: Shared::new(0) }
    }

    pub(super) fn len(&self) -> usize {
        self.len.get()
    }

    /// The element at `index`, or None from the end on.
    pub(super) fn get(&self, index: usize) -> Option<Value> {
        if index >= self.len.get() {
            return None;
        }
        self.arrays.get(self.array.get())[index].get()
    }

    /// Makes room for `more` elements; a full array of n slots gets at least `grown(n)`.
    pub(super) fn reserve(&self, more: usize, grown: fn(usize) -> usize) {
        let old = self.arrays.get(self.array.get());
        let needed = self.len.get() + more;
        if needed <= old.len() {
            return;
        }
        let new = empty_slots(needed.max(grown(old.len())));
        for (from, to) in old.iter().zip(&new) {
            to.set(from.get());
        }
        self.array.set(self.arrays.alloc(new));
    }

    /// Appends values for which there is room.
    pub(super) fn append(&self, values: &[Value]) {
        let slots = self.arrays.get(self.array.get());
        let len = self.len.get();
        for (slot, &value) in slots[len..].iter().zip(values) {
            slot.set(Some(value));
        }
        self.len.set(len + values.len());
    }

    pub(super) fn index_of(&self, value: Value) -> Option<usize> {
        let slots = self.arrays.get(self.array.get());
        (0..self.len.get()).find(|&i| slots[i].get() == Some(value))
    }

    /// Closes the gap that the element at `index` leaves.
    pub(super) fn remove_at(&self, index: usize) {
        let slots = self.arrays.get(self.array.get());
        let last = self.len.get() - 1;
        for i in index..last {
            slots[i].set(slots[i + 1].get());
        }
        self.len.set(last);
        slots[last].set(None);
    }

    pub(super) fn clear(&self) {
        let slots = self.arrays.get(self.array.get());
        for slot in &slots[..self.len.get()] {
            slot.set(None);
        }
        self.len.set(0);
    }
}

fn empty_slots(count: usize) -> Box<[Shared<Option<Value>>]> {
    (0..count).map(|_| Shared::new(None)).collect()
}
