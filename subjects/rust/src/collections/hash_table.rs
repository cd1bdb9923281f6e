//! The hash table with chains under `HashSet` and `LinkedHashSet`.

use super::Value;
use crate::heap::{Heap, Ref};
use crate::shim::Shared;

const FIRST_BUCKETS: usize = 16;

/// The head of each chain; the number of buckets is a power of two.
type Buckets = Box<[Shared<Option<Ref>>]>;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) next: Shared<Option<Ref>>,
}

/// Chains of entries, doubled in number when three quarters full. It counts entries and modifications.
#[derive(Debug)]
pub(super) struct HashTable {
    tables: Heap<Buckets>,
    table: Shared<Ref>,
    pub(super) entries: Heap<Entry>,
    size: Shared<usize>,
    mod_count: Shared<usize>,
}

impl HashTable {
    pub(super) fn new() -> Self {
        let tables = Heap::default();
        let table = Shared::new(tables.alloc(empty_buckets(FIRST_BUCKETS)));
        HashTable { tables, table, entries: Heap::default(), size: Shared::new(0), mod_count: Shared::new(0) }
    }

    pub(super) fn size(&self) -> usize {
        self.size.get()
    }

    pub(super) fn mod_count(&self) -> usize {
        self.mod_count.get()
    }

    pub(super) fn buckets(&self) -> std::sync::Arc<Buckets> {
        self.tables.get(self.table.get())
    }

    pub(super) fn contains(&self, value: Value) -> bool {
        let buckets = self.buckets();
        let mut next = buckets[bucket_of(value, buckets.len())].get();
        while let Some(entry) = next {
            let entry = self.entries.get(entry);
            if entry.value == value {
                return true;
            }
            next = entry.next.get();
        }
        false
    }

    /// The new entry, or None if the value was there. A value that was there is no modification.
    pub(super) fn insert(&self, value: Value) -> Option<Ref> {
        if self.contains(value) {
            return None;
        }
        self.mod_count.update(|count| count + 1);
        let buckets = self.buckets();
        let head = &buckets[bucket_of(value, buckets.len())];
        let entry = self.entries.alloc(Entry { value, next: Shared::new(head.get()) });
        head.set(Some(entry));
        self.size.update(|size| size + 1);
        if self.size.get() > buckets.len() * 3 / 4 {
            self.double(&buckets);
        }
        Some(entry)
    }

    /// The entry taken out, or None if there was none.
    pub(super) fn remove(&self, value: Value) -> Option<Ref> {
        let buckets = self.buckets();
        let head = &buckets[bucket_of(value, buckets.len())];
        let mut before = None;
        let mut next = head.get();
        while let Some(found) = next {
            let entry = self.entries.get(found);
            if entry.value == value {
                self.mod_count.update(|count| count + 1);
                self.size.update(|size| size - 1);
                match before {
                    None => head.set(entry.next.get()),
                    Some(before) => self.entries.get(before).next.set(entry.next.get()),
                }
                return Some(found);
            }
            before = next;
            next = entry.next.get();
        }
        None
    }

    pub(super) fn clear(&self) {
        self.mod_count.update(|count| count + 1);
        for head in self.buckets().iter() {
            head.set(None);
        }
        self.size.set(0);
    }

    /// Moves all entries into twice as many chains, then shows the new table.
    fn double(&self, old: &Buckets) {
        let new = empty_buckets(old.len() * 2);
        for head in old {
            let mut next = head.get();
            while let Some(moved) = next {
                let entry = self.entries.get(moved);
                next = entry.next.get();
                let head = &new[bucket_of(entry.value, new.len())];
                entry.next.set(head.get());
                head.set(Some(moved));
            }
        }
        self.table.set(self.tables.alloc(new));
    }
}

fn empty_buckets(count: usize) -> Buckets {
    (0..count).map(|_| Shared::new(None)).collect()
}

/// Neighbouring values go to distant buckets, and the high bits count.
fn bucket_of(value: Value, buckets: usize) -> usize {
    let mixed = value.cast_unsigned().wrapping_mul(0x9E37_79B9);
    (mixed >> 16) as usize & (buckets - 1)
}
