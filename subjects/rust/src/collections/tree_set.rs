//! Subject `TreeSet`: `Collections.synchronizedSet(new TreeSet())`.
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
//! Assumed, the paper being silent: nodes with a link to their parent, an iterator that walks to the successor. The
//! tree is balanced as a treap whose priorities are a hash of the value; the original is red-black, which needs more
//! cases and has the same accesses on trees of this size: the links along one path.

use super::{Collection, Cursor, Synchronized, Value, check_for_modification, drive, no_such_element};
use crate::heap::{Heap, Ref};
use crate::shim::Shared;
use std::cmp::Ordering;
use std::sync::Arc;

/// The body of the subject.
pub fn subject() {
    drive(|| Synchronized::new(TreeSet::new()));
}

type Link = Shared<Option<Ref>>;

#[derive(Debug)]
struct Node {
    value: Value,
    left: Link,
    right: Link,
    parent: Link,
}

impl Node {
    /// A parent has at least the priority of its children.
    fn priority(&self) -> u32 {
        let mixed = self.value.cast_unsigned().wrapping_mul(0x85EB_CA6B);
        (mixed ^ (mixed >> 15)).wrapping_mul(0xC2B2_AE35)
    }
}

/// A balanced search tree, not synchronized.
#[derive(Debug)]
pub struct TreeSet {
    nodes: Heap<Node>,
    root: Link,
    size: Shared<usize>,
    mod_count: Shared<usize>,
}

impl TreeSet {
    /// An empty set.
    #[expect(clippy::new_without_default, reason = "subjects say what they make")]
    pub fn new() -> Self {
        TreeSet {
            nodes: Heap::default(),
            root: Shared::new(None),
            size: Shared::new(0),
            mod_count: Shared::new(0),
        }
    }

    fn node(&self, node: Ref) -> Arc<Node> {
        self.nodes.get(node)
    }

    fn find(&self, value: Value) -> Option<Ref> {
        let mut next = self.root.get();
        while let Some(found) = next {
            let node = self.node(found);
            next = match value.cmp(&node.value) {
                Ordering::Less => node.left.get(),
                Ordering::Greater => node.right.get(),
                Ordering::Equal => return Some(found),
            };
        }
        None
    }

    /// Puts `new` (or nothing) where `old` hangs under `parent`.
    fn replace_child(&self, parent: Option<Ref>, old: Ref, new: Option<Ref>) {
        match parent.map(|parent| self.node(parent)) {
            None => self.root.set(new),
            Some(parent) if parent.left.get() == Some(old) => parent.left.set(new),
            Some(parent) => parent.right.set(new),
        }
        if let Some(new) = new {
            self.node(new).parent.set(parent);
        }
    }

    /// Turns the edge between a node and its child: the child becomes the parent.
    fn rotate_up(&self, child: Ref) {
        let node = self.node(child);
        let parent = node.parent.get().expect("only a child is rotated up");
        let above = self.node(parent);
        self.replace_child(above.parent.get(), parent, Some(child));
        let (inner, outer_side) = if above.left.get() == Some(child) {
            (&node.right, &above.left)
        } else {
            (&node.left, &above.right)
        };
        let moved = inner.get();
        outer_side.set(moved);
        if let Some(moved) = moved {
            self.node(moved).parent.set(Some(parent));
        }
        inner.set(Some(parent));
        above.parent.set(Some(child));
    }

    /// Hangs a new leaf under its parent and rotates it up to where its priority belongs.
    fn insert(&self, value: Value) {
        let mut parent = None;
        let mut next = self.root.get();
        while let Some(found) = next {
            let node = self.node(found);
            parent = next;
            next = if value < node.value { node.left.get() } else { node.right.get() };
        }
        let leaf =
            Node { value, left: Shared::new(None), right: Shared::new(None), parent: Shared::new(parent) };
        let priority = leaf.priority();
        let leaf = self.nodes.alloc(leaf);
        match parent.map(|parent| self.node(parent)) {
            None => self.root.set(Some(leaf)),
            Some(parent) if value < parent.value => parent.left.set(Some(leaf)),
            Some(parent) => parent.right.set(Some(leaf)),
        }
        let node = self.node(leaf);
        while node.parent.get().is_some_and(|parent| self.node(parent).priority() < priority) {
            self.rotate_up(leaf);
        }
        self.size.update(|size| size + 1);
        self.mod_count.update(|count| count + 1);
    }

    /// Rotates a node down until it has one child at most, then takes it out.
    fn delete(&self, doomed: Ref) {
        self.mod_count.update(|count| count + 1);
        self.size.update(|size| size - 1);
        let node = self.node(doomed);
        let child = loop {
            match (node.left.get(), node.right.get()) {
                (Some(left), Some(right)) => {
                    let left_first = self.node(left).priority() >= self.node(right).priority();
                    self.rotate_up(if left_first { left } else { right });
                }
                (left, right) => break left.or(right),
            }
        };
        self.replace_child(node.parent.get(), doomed, child);
    }

    fn leftmost(&self, mut node: Ref) -> Ref {
        while let Some(left) = self.node(node).left.get() {
            node = left;
        }
        node
    }

    fn successor(&self, mut node: Ref) -> Option<Ref> {
        if let Some(right) = self.node(node).right.get() {
            return Some(self.leftmost(right));
        }
        loop {
            let parent = self.node(node).parent.get()?;
            if self.node(parent).right.get() != Some(node) {
                return Some(parent);
            }
            node = parent;
        }
    }
}

impl Collection for TreeSet {
    type Cursor<'a> = TreeCursor<'a>;

    fn size(&self) -> usize {
        self.size.get()
    }

    fn contains(&self, value: Value) -> bool {
        self.find(value).is_some()
    }

    fn add(&self, value: Value) -> bool {
        let new = self.find(value).is_none();
        if new {
            self.insert(value);
        }
        new
    }

    fn remove(&self, value: Value) -> bool {
        let found = self.find(value);
        if let Some(node) = found {
            self.delete(node);
        }
        found.is_some()
    }

    fn clear(&self) {
        self.mod_count.update(|count| count + 1);
        self.size.set(0);
        self.root.set(None);
    }

    fn iter(&self) -> Self::Cursor<'_> {
        // The count first: what is read after it is checked against it.
        let expected = self.mod_count.get();
        let next = self.root.get().map(|root| self.leftmost(root));
        TreeCursor { set: self, expected, next, last: None }
    }

    fn remove_all(&self, other: &impl Collection) -> bool {
        super::remove_all_from_set(self, other)
    }
}

/// A position in a [`TreeSet`].
#[derive(Debug)]
pub struct TreeCursor<'a> {
    set: &'a TreeSet,
    expected: usize,
    next: Option<Ref>,
    last: Option<Ref>,
}

impl Cursor for TreeCursor<'_> {
    fn has_next(&mut self) -> bool {
        self.next.is_some()
    }

    fn next(&mut self) -> Value {
        let Some(node) = self.next else { no_such_element() };
        check_for_modification(self.expected, self.set.mod_count.get());
        self.last = self.next;
        self.next = self.set.successor(node);
        self.set.node(node).value
    }

    fn remove(&mut self) {
        let last = self.last.take().expect("IllegalStateException: nothing to remove");
        check_for_modification(self.expected, self.set.mod_count.get());
        self.set.delete(last);
        self.expected = self.set.mod_count.get();
    }
}
