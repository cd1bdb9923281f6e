//! The synchronized collections of table 1 of the RAPOS paper, and the test driver of its §5.1.
//!
//! The structure is that of JDK 1.4.2, the code is not: plain collections that count their modifications and whose
//! iterators check that count ([`Cursor`]); bulk operations defined once by iteration ([`Collection`]); a wrapper that
//! holds one monitor per object during each method ([`Synchronized`]) but hands out the plain iterator. So
//! `a.contains_all(b)` holds the monitor of `a` and reads the fields of `b` with no protection at all.
//!
//! All fields that such an iterator may read are [`Shared`](crate::shim::Shared). Where the original iterates without
//! any lock operation, another task can get in between only if accesses to these fields are scheduling points.

pub mod array_list;
pub mod driver;
mod grow_array;
pub mod hash_set;
mod hash_table;
pub mod index_cursor;
pub mod linked_hash_set;
pub mod linked_list;
pub mod synchronized;
#[cfg(test)]
mod tests;
pub mod tree_set;
pub mod vector;

pub use array_list::ArrayList;
pub use driver::{VALUES, drive, drive_backwards};
pub use hash_set::HashSet;
pub use linked_hash_set::LinkedHashSet;
pub use linked_list::LinkedList;
pub use synchronized::Synchronized;
pub use tree_set::TreeSet;
pub use vector::Vector;

/// An element. The paper's driver stores objects that are equal when their numbers are.
pub type Value = i32;

/// A collection as Java's interface of that name has it: every method takes `&self`, whoever calls it.
pub trait Collection {
    /// What `iter` gives.
    type Cursor<'a>: Cursor
    where
        Self: 'a;

    /// The number of elements.
    fn size(&self) -> usize;
    /// Whether an equal element is in it.
    fn contains(&self, value: Value) -> bool;
    /// Adds an element; false if a set had it already.
    fn add(&self, value: Value) -> bool;
    /// Removes the first equal element; false if there was none.
    fn remove(&self, value: Value) -> bool;
    /// Removes all elements.
    fn clear(&self);
    /// Iterates; the count of modifications is read now and checked at each step.
    fn iter(&self) -> Self::Cursor<'_>;

    /// A copy of the elements, in order of iteration.
    fn to_array(&self) -> Vec<Value> {
        let mut copy = Vec::new();
        let mut cursor = self.iter();
        while cursor.has_next() {
            copy.push(cursor.next());
        }
        copy
    }

    /// Adds all elements of another collection; true if this one changed.
    fn add_all(&self, other: &impl Collection) -> bool {
        let mut changed = false;
        let mut cursor = other.iter();
        while cursor.has_next() {
            changed |= self.add(cursor.next());
        }
        changed
    }

    /// Whether all elements of another collection are in this one.
    fn contains_all(&self, other: &impl Collection) -> bool {
        contains_each(self, other)
    }

    /// Removes every element that another collection contains; true if this one changed.
    fn remove_all(&self, other: &impl Collection) -> bool {
        remove_contained(self, other)
    }
}

/// An iterator that fails when its collection was modified behind its back.
pub trait Cursor {
    /// Whether there is a next element.
    fn has_next(&mut self) -> bool;
    /// The next element. Panics with `ConcurrentModificationException`, or with `NoSuchElementException`.
    fn next(&mut self) -> Value;
    /// Removes the element that `next` returned last.
    fn remove(&mut self);
}

/// `contains_all` by asking this collection about each element of the other.
fn contains_each<C: Collection + ?Sized>(this: &C, other: &impl Collection) -> bool {
    let mut cursor = other.iter();
    while cursor.has_next() {
        if !this.contains(cursor.next()) {
            return false;
        }
    }
    true
}

/// `remove_all` by asking the other collection about each element of this one.
fn remove_contained<C: Collection + ?Sized>(this: &C, other: &impl Collection) -> bool {
    let mut changed = false;
    let mut cursor = this.iter();
    while cursor.has_next() {
        if other.contains(cursor.next()) {
            cursor.remove();
            changed = true;
        }
    }
    changed
}

/// `remove_all` of the sets: goes through the smaller of the two.
fn remove_all_from_set<C: Collection>(this: &C, other: &impl Collection) -> bool {
    if this.size() <= other.size() {
        return remove_contained(this, other);
    }
    let mut changed = false;
    let mut cursor = other.iter();
    while cursor.has_next() {
        changed |= this.remove(cursor.next());
    }
    changed
}

/// Fails as an iterator does whose collection has another count of modifications than expected.
fn check_for_modification(expected: usize, found: usize) {
    assert!(
        expected == found,
        "ConcurrentModificationException: modification count {found} instead of {expected}"
    );
}

fn no_such_element() -> ! {
    panic!("NoSuchElementException");
}
