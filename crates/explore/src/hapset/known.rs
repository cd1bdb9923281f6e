//! What a guided search knows: what its own runs have shown, and what was saved by others.

use raddle_analysis::hapset;
use raddle_model::{HapSets, Pair, Statement, StatementId, Trace};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Names a statement by what the source says.
type Describe = Arc<dyn Fn(StatementId) -> Statement + Send + Sync>;

/// Learned sets. Statements get their numbers from a process, and a run must show one before its number is
/// known; so saved sets come to count one by one.
#[derive(Clone, Default)]
pub struct Known {
    sets: HapSets,
    saved: Vec<Pair<Statement>>,
    describe: Option<Describe>,
    // The statements that runs have shown, by name and by number.
    numbers: BTreeMap<Statement, Vec<StatementId>>,
    seen: BTreeSet<StatementId>,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("sets", &self.sets).field("saved", &self.saved).finish_non_exhaustive()
    }
}

impl Known {
    /// Begins with sets that were saved; `describe` is what a statement was called when that was done.
    pub fn saved(
        sets: &HapSets<Statement>,
        describe: impl Fn(StatementId) -> Statement + Send + Sync + 'static,
    ) -> Known {
        Known {
            saved: sets.iter().cloned().collect(),
            describe: Some(Arc::new(describe)),
            ..Known::default()
        }
    }

    /// All that counts.
    pub fn sets(&self) -> &HapSets {
        &self.sets
    }

    /// Whether that order of two statements was seen.
    pub fn contains(&self, pair: &Pair) -> bool {
        self.sets.contains(pair)
    }

    /// A run that ended well.
    pub fn learn(&mut self, trace: &Trace) {
        self.sets.merge(hapset::of_trace(trace).iter().copied());
    }

    /// A run has shown these statements, however it ended.
    pub fn look(&mut self, trace: &Trace) {
        let Some(describe) = &self.describe else { return };
        let events = trace.events.iter().map(|event| event.op.site);
        let mut new = false;
        for site in events.chain(trace.pending.iter().map(|(_, op)| op.site)) {
            let number = site.into();
            if self.seen.insert(number) {
                self.numbers.entry(describe(number)).or_default().push(number);
                new = true;
            }
        }
        if !new {
            return;
        }
        let of = |statement: &Statement| self.numbers.get(statement).map_or(&[][..], Vec::as_slice);
        for Pair { of: later, older, before } in &self.saved {
            for &later in of(later) {
                for &before in of(before) {
                    self.sets.insert(Pair { of: later, older: *older, before });
                }
            }
        }
    }
}
