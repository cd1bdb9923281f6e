//! The iterator of the collections that are accessed by index: it goes through their own `size` and `get`.

use super::{Cursor, Value, check_for_modification, no_such_element};

/// What the iterator asks of its list; each call locks or does not, as the list does.
pub trait Indexed {
    /// The number of elements.
    fn size(&self) -> usize;
    /// The element at `index`, or None if the list ends before it.
    fn get(&self, index: usize) -> Option<Value>;
    /// Removes the element at `index`.
    fn remove_at(&self, index: usize);
    /// The count of modifications, read without any lock.
    fn mod_count(&self) -> usize;
}

/// A position in a list, with the count of modifications that the list should still have.
#[derive(Debug)]
pub struct IndexCursor<'a, L: Indexed> {
    list: &'a L,
    position: usize,
    last: Option<usize>,
    expected: usize,
}

impl<'a, L: Indexed> IndexCursor<'a, L> {
    pub(super) fn new(list: &'a L) -> Self {
        IndexCursor { list, position: 0, last: None, expected: list.mod_count() }
    }
}

impl<L: Indexed> Cursor for IndexCursor<'_, L> {
    fn has_next(&mut self) -> bool {
        self.position != self.list.size()
    }

    fn next(&mut self) -> Value {
        check_for_modification(self.expected, self.list.mod_count());
        let Some(value) = self.list.get(self.position) else {
            check_for_modification(self.expected, self.list.mod_count());
            no_such_element();
        };
        self.last = Some(self.position);
        self.position += 1;
        value
    }

    fn remove(&mut self) {
        let last = self.last.take().expect("IllegalStateException: nothing to remove");
        check_for_modification(self.expected, self.list.mod_count());
        self.list.remove_at(last);
        self.position -= 1;
        self.expected = self.list.mod_count();
    }
}
