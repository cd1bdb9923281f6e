//! History-aware predecessor sets (HaPSets; Wang, Said and Gupta, ICSE 2011): which statement was seen to come
//! right after which, on the same object, in another task. What was seen is likely meant; what was not is worth
//! a run, and the number of pairs tells how much of a program's concurrency was tested.
//!
//! A set belongs to a statement and to whether its task is the older one of the two; so `HaPSet[s]` is stored
//! as pairs. Within a process statements are numbers; what is saved names them by what the source says.

use crate::ids::SiteId;
use crate::trace::Place;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Frames of the call stack that belong to a statement.
pub const CONTEXT_MAX: usize = 5;

/// A statement within a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct StatementId(pub u32);

/// In a trace from which HaPSets are learned the number of a statement stands where that of a site stands in others:
/// whoever knows callers puts it there, and without them both are the same.
impl From<SiteId> for StatementId {
    fn from(site: SiteId) -> StatementId {
        StatementId(site.0)
    }
}

/// A statement as it survives a rebuild. The paper has one statement a line; a line of Rust may hold several,
/// so the column counts too where it is known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Statement {
    /// Where it stands.
    pub frame: Frame,
    /// What called the function that it stands in, the innermost first: as far as the front end knows it, and at most
    /// [`CONTEXT_MAX`] places. Which these are each front end says.
    pub context: Vec<Frame>,
}

/// A place in the source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Frame {
    /// Source file, with forward slashes.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
}

impl Statement {
    /// The statement at a place.
    pub fn at(place: &Place, context: &[Place]) -> Statement {
        Statement {
            frame: place.into(),
            context: context.iter().take(CONTEXT_MAX).map(Frame::from).collect(),
        }
    }
}

impl From<&Place> for Frame {
    fn from(place: &Place) -> Frame {
        Frame { file: place.file.replace('\\', "/"), line: place.line, column: place.column }
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Frame { file, line, column: 0 } => write!(f, "{file}:{line}"),
            Frame { file, line, column } => write!(f, "{file}:{line}:{column}"),
        }
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.frame.fmt(f)?;
        self.context.iter().try_for_each(|frame| write!(f, " < {frame}"))
    }
}

/// One element of one set: `before` is in the HaPSet of `of`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pair<S = StatementId> {
    /// The later statement, whose set it is.
    pub of: S,
    /// Whether its task was made before the other's: `thr` is 0 for it then, and 1 for the other.
    pub older: bool,
    /// The earlier statement.
    pub before: S,
}

impl<S> Pair<S> {
    /// The same with other names for the statements.
    pub fn map<T>(self, mut name: impl FnMut(S) -> T) -> Pair<T> {
        Pair { of: name(self.of), older: self.older, before: name(self.before) }
    }
}

/// All sets of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HapSets<S: Ord = StatementId> {
    pairs: BTreeSet<Pair<S>>,
}

impl<S: Ord> Default for HapSets<S> {
    fn default() -> HapSets<S> {
        HapSets { pairs: BTreeSet::new() }
    }
}

impl<S: Ord> HapSets<S> {
    /// Adds an element. Returns whether it is new.
    pub fn insert(&mut self, pair: Pair<S>) -> bool {
        self.pairs.insert(pair)
    }

    /// Whether that order of two statements is known.
    pub fn contains(&self, pair: &Pair<S>) -> bool {
        self.pairs.contains(pair)
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// All pairs, sorted: set by set.
    pub fn iter(&self) -> impl Iterator<Item = &Pair<S>> + '_ {
        self.pairs.iter()
    }

    /// Adds what others have learned. Returns how much of it is new.
    pub fn merge(&mut self, others: impl IntoIterator<Item = Pair<S>>) -> usize {
        let before = self.pairs.len();
        self.pairs.extend(others);
        self.pairs.len() - before
    }
}

impl<S: Ord> FromIterator<Pair<S>> for HapSets<S> {
    fn from_iter<I: IntoIterator<Item = Pair<S>>>(pairs: I) -> HapSets<S> {
        HapSets { pairs: pairs.into_iter().collect() }
    }
}

/// One line for each set: `src/a.rs:7:5 (thr 1): {src/a.rs:3:5, src/a.rs:4:5}`.
impl<S: Ord + fmt::Display> fmt::Display for HapSets<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last: Option<(&S, bool)> = None;
        for Pair { of, older, before } in &self.pairs {
            if last == Some((of, *older)) {
                write!(f, ", {before}")?;
            } else {
                let end = if last.is_some() { "}\n" } else { "" };
                write!(f, "{end}{of} (thr {}): {{{before}", u32::from(!older))?;
            }
            last = Some((of, *older));
        }
        if last.is_some() { f.write_str("}\n") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn sets_are_told_line_by_line() {
        let pair = |of, older, before| Pair { of, older, before };
        let mut sets: HapSets<u32> =
            [pair(2, false, 1), pair(2, false, 4), pair(4, true, 3)].into_iter().collect();
        assert_eq!(format!("{sets}"), "2 (thr 1): {1, 4}\n4 (thr 0): {3}\n");
        assert_eq!(sets.merge([pair(4, true, 3), pair(4, false, 3)]), 1);
        assert_eq!(format!("{}", HapSets::<u32>::default()), "");
    }
}
