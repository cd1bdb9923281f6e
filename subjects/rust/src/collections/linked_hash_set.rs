//! Subject `LinkedHashSet`: `Collections.synchronizedSet(new LinkedHashSet())`.
//!
//! | | paper (§5.1, table 1) | here |
//! |---|---|---|
//! | threads | 7, started by main | the same; main joins them |
//! | locks | 2: the monitor of each wrapper | the same |
//! | operations | one method per thread | the same, see `driver` |
//! | exception | not among those reported | possible, but only with switches at racy accesses |
//!
//! Lock operations are those of subject `HashSet`; there is no deadlock.
//!
//! Assumed, the paper being silent: the hash table of `HashSet`, and through its entries a doubly linked list in order
//! of insertion, which the iterator follows.

use super::hash_table::HashTable;
use super::{Collection, Cursor, Synchronized, Value, check_for_modification, drive, no_such_element};
use crate::heap::{Heap, Ref};
use crate::shim::Shared;

/// The body of the subject.
pub fn subject() {
    drive(|| Synchronized::new(LinkedHashSet::new()));
}

/// The neighbours of an entry in order of insertion; None is the end of the list.
#[derive(Debug)]
struct Link {
    before: Shared<Option<Ref>>,
    after: Shared<Option<Ref>>,
}

/// A set in a hash table that remembers the order of insertion, not synchronized.
#[derive(Debug)]
pub struct LinkedHashSet {
    table: HashTable,
    // invariant: entry and link of an element have the same reference, since both are made together.
    links: Heap<Link>,
    first: Shared<Option<Ref>>,
    last: Shared<Option<Ref>>,
}

impl LinkedHashSet {
    /// An empty set.
    #[expect(clippy::new_without_default, reason = "subjects say what they make")]
    pub fn new() -> Self {
        LinkedHashSet {
            table: HashTable::new(),
            links: Heap::default(),
            first: Shared::new(None),
            last: Shared::new(None),
        }
    }

    fn link_last(&self, entry: Ref) {
        let last = self.last.get();
        let link = self.links.alloc(Link { before: Shared::new(last), after: Shared::new(None) });
        assert_eq!(link, entry, "an entry and its link are made together");
        match last {
            None => self.first.set(Some(link)),
            Some(last) => self.links.get(last).after.set(Some(link)),
        }
        self.last.set(Some(link));
    }

    fn unlink(&self, entry: Ref) {
        let link = self.links.get(entry);
        let (before, after) = (link.before.get(), link.after.get());
        match before {
            None => self.first.set(after),
            Some(before) => self.links.get(before).after.set(after),
        }
        match after {
            None => self.last.set(before),
            Some(after) => self.links.get(after).before.set(before),
        }
    }
}

impl Collection for LinkedHashSet {
    type Cursor<'a> = LinkedHashCursor<'a>;

    fn size(&self) -> usize {
        self.table.size()
    }

    fn contains(&self, value: Value) -> bool {
        self.table.contains(value)
    }

    fn add(&self, value: Value) -> bool {
        let added = self.table.insert(value);
        if let Some(entry) = added {
            self.link_last(entry);
        }
        added.is_some()
    }

    fn remove(&self, value: Value) -> bool {
        let removed = self.table.remove(value);
        if let Some(entry) = removed {
            self.unlink(entry);
        }
        removed.is_some()
    }

    fn clear(&self) {
        self.table.clear();
        self.first.set(None);
        self.last.set(None);
    }

    fn iter(&self) -> Self::Cursor<'_> {
        LinkedHashCursor { set: self, next: self.first.get(), last: None, expected: self.table.mod_count() }
    }

    fn remove_all(&self, other: &impl Collection) -> bool {
        super::remove_all_from_set(self, other)
    }
}

/// A position in a [`LinkedHashSet`].
#[derive(Debug)]
pub struct LinkedHashCursor<'a> {
    set: &'a LinkedHashSet,
    next: Option<Ref>,
    last: Option<Value>,
    expected: usize,
}

impl Cursor for LinkedHashCursor<'_> {
    fn has_next(&mut self) -> bool {
        self.next.is_some()
    }

    fn next(&mut self) -> Value {
        check_for_modification(self.expected, self.set.table.mod_count());
        let Some(entry) = self.next else { no_such_element() };
        let value = self.set.table.entries.get(entry).value;
        self.next = self.set.links.get(entry).after.get();
        self.last = Some(value);
        value
    }

    fn remove(&mut self) {
        let last = self.last.take().expect("IllegalStateException: nothing to remove");
        check_for_modification(self.expected, self.set.table.mod_count());
        self.set.remove(last);
        self.expected = self.set.table.mod_count();
    }
}
