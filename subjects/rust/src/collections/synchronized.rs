//! The wrapper that makes a plain collection synchronized, as `Collections.synchronizedList` and `synchronizedSet` do.
//!
//! Each method holds the wrapper's monitor, with one exception that is the source of the races: `iter` hands out the
//! plain iterator, and leaves it to the caller to hold the monitor while iterating.

use super::{Collection, Value};
use crate::monitor::Monitor;

/// A collection and its monitor.
#[derive(Debug)]
pub struct Synchronized<C> {
    monitor: Monitor,
    inner: C,
}

impl<C: Collection> Synchronized<C> {
    /// Wraps a collection.
    pub fn new(inner: C) -> Self {
        Synchronized { monitor: Monitor::new(), inner }
    }
}

impl<C: Collection> Collection for Synchronized<C> {
    type Cursor<'a>
        = C::Cursor<'a>
    where
        C: 'a;

    fn size(&self) -> usize {
        let _inside = self.monitor.enter();
        self.inner.size()
    }

    fn contains(&self, value: Value) -> bool {
        let _inside = self.monitor.enter();
        self.inner.contains(value)
    }

    fn add(&self, value: Value) -> bool {
        let _inside = self.monitor.enter();
        self.inner.add(value)
    }

    fn remove(&self, value: Value) -> bool {
        let _inside = self.monitor.enter();
        self.inner.remove(value)
    }

    fn clear(&self) {
        let _inside = self.monitor.enter();
        self.inner.clear();
    }

    fn iter(&self) -> Self::Cursor<'_> {
        self.inner.iter()
    }

    fn to_array(&self) -> Vec<Value> {
        let _inside = self.monitor.enter();
        self.inner.to_array()
    }

    fn add_all(&self, other: &impl Collection) -> bool {
        let _inside = self.monitor.enter();
        self.inner.add_all(other)
    }

    fn contains_all(&self, other: &impl Collection) -> bool {
        let _inside = self.monitor.enter();
        self.inner.contains_all(other)
    }

    fn remove_all(&self, other: &impl Collection) -> bool {
        let _inside = self.monitor.enter();
        self.inner.remove_all(other)
    }
}
