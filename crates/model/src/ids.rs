//! Dense ids of one run. They index arrays and mean nothing outside their run: what must be
//! compared across runs uses stable names ([`crate::world::Task::name`]) or sites.

use core::fmt;

/// A task of the program under test, numbered in the order of creation. Main is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// Something that two tasks can conflict on, numbered in the order of first use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// Where an operation stands in the source. The front end that made it can tell file and line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u32);

impl TaskId {
    /// The task that runs the program's main function.
    pub const MAIN: TaskId = TaskId(0);

    /// The id as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ObjectId {
    /// No object: the operation has no such extent.
    pub const NONE: ObjectId = ObjectId(u32::MAX);

    /// The id as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this is an object at all.
    #[inline]
    pub fn is_some(self) -> bool {
        self.0 != u32::MAX
    }
}

impl SiteId {
    /// A site that nobody recorded.
    pub const UNKNOWN: SiteId = SiteId(0);
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_some() { write!(f, "o{}", self.0) } else { write!(f, "-") }
    }
}

impl fmt::Debug for SiteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}
