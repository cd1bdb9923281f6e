//! Subject `HashSet`: `Collections.synchronizedSet(new HashSet())`.
//!
//! | | paper (§5.1, table 1) | here |
//! |---|---|---|
//! | threads | 7, started by main | the same; main joins them |
//! | locks | 2: the monitor of each wrapper | the same |
//! | operations | one method per thread | the same, see `driver` |
//! | exception | not among those reported | possible, but only with switches at racy accesses |
//!
//! Lock operations: each method enters the monitor of its object. `addAll` and `containsAll` iterate through their
//! argument with no further lock. `removeAll` first compares sizes (one locked call on the argument), then goes through
//! the smaller set: through its own elements with a locked `contains` on the argument for each, or through the
//! argument's with no lock. No thread takes the monitors in the other order, so there is no deadlock.
//!
//! Assumed, the paper being silent: 16 buckets; iteration from the last bucket to the first; adding an element that is
//! there already is no modification.

use super::hash_table::HashTable;
use super::{Collection, Cursor, Synchronized, Value, check_for_modification, drive, no_such_element};
use crate::heap::Ref;

/// The body of the subject.
pub fn subject() {
    drive(|| Synchronized::new(HashSet::new()));
}

/// A set in a hash table, not synchronized.
#[derive(Debug)]
pub struct HashSet {
    table: HashTable,
}

impl HashSet {
    /// An empty set.
    #[expect(clippy::new_without_default, reason = "subjects say what they make")]
    pub fn new() -> Self {
        HashSet { table: HashTable::new() }
    }
}

impl Collection for HashSet {
    type Cursor<'a> = HashCursor<'a>;

    fn size(&self) -> usize {
        self.table.size()
    }

    fn contains(&self, value: Value) -> bool {
        self.table.contains(value)
    }

    fn add(&self, value: Value) -> bool {
        self.table.insert(value).is_some()
    }

    fn remove(&self, value: Value) -> bool {
        self.table.remove(value).is_some()
    }

    fn clear(&self) {
        self.table.clear();
    }

    fn iter(&self) -> Self::Cursor<'_> {
        // The count first: what is read after it is checked against it.
        let expected = self.table.mod_count();
        let bucket = self.table.buckets().len();
        let mut cursor = HashCursor { table: &self.table, bucket, next: None, last: None, expected };
        if self.table.size() != 0 {
            cursor.seek(None);
        }
        cursor
    }

    fn remove_all(&self, other: &impl Collection) -> bool {
        super::remove_all_from_set(self, other)
    }
}

/// A position in a [`HashSet`]: the entry to return next is looked up one step ahead.
#[derive(Debug)]
pub struct HashCursor<'a> {
    table: &'a HashTable,
    // Buckets from this one on are done.
    bucket: usize,
    next: Option<Ref>,
    last: Option<Value>,
    expected: usize,
}

impl HashCursor<'_> {
    /// Sets `next` to the given rest of a chain, or to the head of the next chain that has one.
    fn seek(&mut self, mut rest: Option<Ref>) {
        let buckets = self.table.buckets();
        while rest.is_none() && self.bucket > 0 {
            self.bucket -= 1;
            rest = buckets[self.bucket].get();
        }
        self.next = rest;
    }
}

impl Cursor for HashCursor<'_> {
    fn has_next(&mut self) -> bool {
        self.next.is_some()
    }

    fn next(&mut self) -> Value {
        check_for_modification(self.expected, self.table.mod_count());
        let Some(entry) = self.next else { no_such_element() };
        let entry = self.table.entries.get(entry);
        self.seek(entry.next.get());
        self.last = Some(entry.value);
        entry.value
    }

    fn remove(&mut self) {
        let last = self.last.take().expect("IllegalStateException: nothing to remove");
        check_for_modification(self.expected, self.table.mod_count());
        self.table.remove(last);
        self.expected = self.table.mod_count();
    }
}
