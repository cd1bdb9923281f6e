//! Subject `LinkedList`: `Collections.synchronizedList(new LinkedList())`.
//!
//! | | paper (§5.1, table 1) | here |
//! |---|---|---|
//! | threads | 7, started by main | the same; main joins them |
//! | locks | 2: the monitor of each wrapper | the same |
//! | operations | one method per thread | the same, see `driver` |
//! | exception | `ConcurrentModificationException` in `containsAll` | the same |
//!
//! Lock operations are those of subject `ArrayList`: the exception needs a switch at an access to `mod_count`, `size`
//! or a link, which race, and the run can deadlock.
//!
//! Assumed, the paper being silent: a circular doubly linked list with a header node; `addAll` copies its argument by
//! `toArray`, one locked call; it and `remove` count a modification only when something changes.

use super::{
    Collection, Cursor, Synchronized, Value, check_for_modification, drive, drive_backwards, no_such_element,
};
use crate::heap::{Heap, Ref};
use crate::shim::Shared;

/// The body of the subject.
pub fn subject() {
    drive(|| Synchronized::new(LinkedList::new()));
}

/// The same with the threads started in the opposite order.
pub fn backwards() {
    drive_backwards(|| Synchronized::new(LinkedList::new()));
}

#[derive(Debug)]
struct Node {
    // None in the header.
    value: Option<Value>,
    next: Shared<Ref>,
    previous: Shared<Ref>,
}

/// A doubly linked list, not synchronized.
#[derive(Debug)]
pub struct LinkedList {
    nodes: Heap<Node>,
    size: Shared<usize>,
    mod_count: Shared<usize>,
}

/// The header stands before the first node and after the last.
const HEADER: Ref = Heap::<Node>::FIRST;

impl LinkedList {
    /// An empty list.
    #[expect(clippy::new_without_default, reason = "subjects say what they make")]
    pub fn new() -> Self {
        let nodes = Heap::default();
        nodes.alloc(Node { value: None, next: Shared::new(HEADER), previous: Shared::new(HEADER) });
        LinkedList { nodes, size: Shared::new(0), mod_count: Shared::new(0) }
    }

    fn next(&self, node: Ref) -> Ref {
        self.nodes.get(node).next.get()
    }

    fn append(&self, value: Value) {
        let header = self.nodes.get(HEADER);
        let last = header.previous.get();
        let node = Node { value: Some(value), next: Shared::new(HEADER), previous: Shared::new(last) };
        let node = self.nodes.alloc(node);
        self.nodes.get(last).next.set(node);
        header.previous.set(node);
        self.size.update(|size| size + 1);
    }

    /// Takes a node out; its own links keep pointing into the list.
    fn unlink(&self, node: Ref) {
        let node = self.nodes.get(node);
        let (previous, next) = (node.previous.get(), node.next.get());
        self.nodes.get(previous).next.set(next);
        self.nodes.get(next).previous.set(previous);
        self.size.update(|size| size - 1);
        self.mod_count.update(|count| count + 1);
    }

    fn find(&self, value: Value) -> Option<Ref> {
        let mut node = self.next(HEADER);
        while node != HEADER {
            if self.nodes.get(node).value == Some(value) {
                return Some(node);
            }
            node = self.next(node);
        }
        None
    }
}

impl Collection for LinkedList {
    type Cursor<'a> = ListCursor<'a>;

    fn size(&self) -> usize {
        self.size.get()
    }

    fn contains(&self, value: Value) -> bool {
        self.find(value).is_some()
    }

    fn add(&self, value: Value) -> bool {
        self.append(value);
        self.mod_count.update(|count| count + 1);
        true
    }

    fn remove(&self, value: Value) -> bool {
        let found = self.find(value);
        if let Some(node) = found {
            self.unlink(node);
        }
        found.is_some()
    }

    fn clear(&self) {
        self.mod_count.update(|count| count + 1);
        let header = self.nodes.get(HEADER);
        header.next.set(HEADER);
        header.previous.set(HEADER);
        self.size.set(0);
    }

    fn iter(&self) -> Self::Cursor<'_> {
        // The count first: what is read after it is checked against it.
        let expected = self.mod_count.get();
        ListCursor { list: self, next: self.next(HEADER), position: 0, last: None, expected }
    }

    fn add_all(&self, other: &impl Collection) -> bool {
        let values = other.to_array();
        if values.is_empty() {
            return false;
        }
        self.mod_count.update(|count| count + 1);
        for value in values {
            self.append(value);
        }
        true
    }
}

/// A position in a [`LinkedList`].
#[derive(Debug)]
pub struct ListCursor<'a> {
    list: &'a LinkedList,
    next: Ref,
    position: usize,
    last: Option<Ref>,
    expected: usize,
}

impl Cursor for ListCursor<'_> {
    fn has_next(&mut self) -> bool {
        self.position != self.list.size.get()
    }

    fn next(&mut self) -> Value {
        check_for_modification(self.expected, self.list.mod_count.get());
        if self.position == self.list.size.get() {
            no_such_element();
        }
        let node = self.list.nodes.get(self.next);
        self.last = Some(self.next);
        self.next = node.next.get();
        self.position += 1;
        // The header has no value: who reads it has run past an end that was moved under them.
        node.value.unwrap_or_else(|| panic!("NullPointerException"))
    }

    fn remove(&mut self) {
        check_for_modification(self.expected, self.list.mod_count.get());
        let last = self.last.take().expect("IllegalStateException: nothing to remove");
        self.list.unlink(last);
        self.position -= 1;
        self.expected = self.list.mod_count.get();
    }
}
