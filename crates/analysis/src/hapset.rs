//! Learning HaPSets from a run (Wang, Said and Gupta, ICSE 2011, algorithm 1), and how they grow over runs.
//!
//! At each event, for each other task: its last access to the object since this task's own last access, if the
//! two conflict, goes into the HaPSet of the event's statement.
//!
//! Deviations. Algorithm 1 as printed has no "since this task's own last access"; but then the sets printed
//! beside figures 1 and 2 would be larger than they are. The paper leaves unlocks out; here pairs are left out
//! that can never both be enabled: an unlock and a lock, an exit and a join. So the unlock before a failed
//! try-lock counts, which is the only thing that tells it from the one before a successful one. Waiting on a
//! condition variable gives its mutex back, and waking takes it again and is nothing else: it stands at the same
//! place as the wait, and that a notification came before it says nothing of one that comes before the wait. What an
//! access to any memory has touched is told by the accesses to its words, which follow it.
//!
//! A statement is its place and, as in the paper, its context: front ends that know callers number both together, and
//! put that number where a site has stood (see [`raddle_model::StatementId`]).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use raddle_model::{Analysis, Event, HapSets, Kind, Mode, ObjectId, Op, Pair, Span, TaskId, Trace, World};

/// What an operation does to one of its objects.
fn facets(op: &Op) -> [Option<Op>; 2] {
    let whole =
        |kind, object| Op { second: ObjectId::NONE, span: Span::WHOLE, ..Op::new(kind, object, op.site) };
    // Waking comes after the notification, whatever the schedule; only one that times out may come before.
    let follows = op.kind == Kind::Wake && op.mode == Mode::Block;
    let first = (op.object.is_some() && !follows).then_some(Op { second: ObjectId::NONE, ..*op });
    let second = op.second.is_some().then(|| match op.kind {
        Kind::Wait => whole(Kind::Unlock, op.second),
        Kind::Wake => whole(Kind::Lock, op.second),
        // The second word of an access.
        kind => whole(kind, op.second),
    });
    [first, second]
}

/// The pair that an access makes with an earlier one of another task, if their order could have been another. Of an
/// access to any memory it is not known which: it meets all.
pub fn pair(task: TaskId, op: &Op, earlier_task: TaskId, earlier: &Op) -> Option<Pair> {
    let meet = |a: &Op, b: &Op| a.conflicts(b) && a.may_be_coenabled(b);
    let other = facets(earlier);
    let meets = facets(op).iter().flatten().any(|a| other.iter().flatten().any(|b| meet(a, b)));
    let anywhere = (op.is_wide() || earlier.is_wide()) && op.conflicts(earlier);
    (meets || anywhere).then_some(Pair {
        of: op.site.into(),
        older: task < earlier_task,
        before: earlier.site.into(),
    })
}

/// The last access of its kind by one task to one object.
#[derive(Clone, Copy, Debug)]
struct Last {
    task: TaskId,
    time: u64,
    op: Op,
}

/// Whether an operation gives a lock back: such accesses are kept apart, since they are not what a lock
/// comes after.
fn gives(op: &Op) -> bool {
    matches!(op.kind, Kind::Unlock | Kind::ReadUnlock | Kind::WriteUnlock)
}

/// The HaPSets of the run so far.
#[derive(Default, Debug)]
pub struct Predecessors {
    // By object: for each task and part of the object the last access that gives it back, and the last other.
    objects: Vec<Vec<Last>>,
    pairs: BTreeSet<Pair>,
    time: u64,
}

impl Predecessors {
    /// The sets, as pairs in order.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        self.pairs.iter().copied()
    }

    /// Takes one event.
    pub fn take(&mut self, event: &Event) {
        self.time += 1;
        for facet in facets(&event.op).into_iter().flatten() {
            self.access(event.task, facet);
        }
    }

    fn access(&mut self, task: TaskId, op: Op) {
        let place = op.object.index();
        if place >= self.objects.len() {
            self.objects.resize_with(place + 1, Vec::new);
        }
        let lasts = &mut self.objects[place];
        let mine = |last: &&Last| last.task == task && last.op.span.overlaps(op.span);
        let since = lasts.iter().filter(mine).map(|last| last.time).max().unwrap_or(0);
        for last in lasts.iter().filter(|last| last.task != task && last.time > since) {
            // Of the two last accesses of a task only the later one counts, if it could have come later.
            let hidden = |other: &&Last| {
                other.task == last.task && other.time > last.time && other.op.may_be_coenabled(&op)
            };
            if last.op.conflicts(&op) && last.op.may_be_coenabled(&op) && !lasts.iter().any(|l| hidden(&l)) {
                let pair = Pair { of: op.site.into(), older: task < last.task, before: last.op.site.into() };
                self.pairs.insert(pair);
            }
        }
        let same =
            |last: &Last| last.task == task && gives(&last.op) == gives(&op) && last.op.span == op.span;
        let entry = Last { task, time: self.time, op };
        match lasts.iter().position(same) {
            Some(at) => lasts[at] = entry,
            None => lasts.push(entry),
        }
    }
}

impl Analysis for Predecessors {
    fn begin(&mut self) {
        self.objects.iter_mut().for_each(Vec::clear);
        self.pairs.clear();
        self.time = 0;
    }

    fn event(&mut self, event: &Event, _: &World) {
        self.take(event);
    }
}

/// The HaPSets of a recorded run.
pub fn of_trace(trace: &Trace) -> HapSets {
    let mut predecessors = Predecessors::default();
    trace.events.iter().for_each(|event| predecessors.take(event));
    HapSets::from_iter(predecessors.pairs())
}

/// How HaPSets grow over the runs of a campaign: a measure of what was tested, whatever the strategy.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Growth {
    sets: HapSets,
    // (runs so far, pairs then), one entry for each run that brought something new.
    steps: Vec<(u64, u64)>,
    runs: u64,
}

impl Growth {
    /// A run has ended well. Returns how many of its pairs are new.
    pub fn learn(&mut self, pairs: impl IntoIterator<Item = Pair>) -> usize {
        let new = self.sets.merge(pairs);
        self.runs += 1;
        if new > 0 {
            self.steps.push((self.runs, self.sets.len() as u64));
        }
        new
    }

    /// A run has ended, and nothing is to be learned from it.
    pub fn skip(&mut self) {
        self.runs += 1;
    }

    /// What was learned.
    pub fn sets(&self) -> &HapSets {
        &self.sets
    }

    /// (runs so far, pairs then), for each run that brought something new.
    pub fn steps(&self) -> &[(u64, u64)] {
        &self.steps
    }

    /// Number of runs.
    pub fn runs(&self) -> u64 {
        self.runs
    }
}
