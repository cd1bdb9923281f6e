//! Sync order by its definition, over a whole run and without any cleverness: every edge that the
//! rules give, then the transitive closure. Shares no code with the clocks.

use crate::program::Step;
use raddle_model::{Event, Kind, ObjectId, Outcome};

/// Which events happen before which.
pub(crate) struct Oracle {
    pub(crate) events: Vec<Event>,
    before: Vec<Vec<bool>>,
}

impl Oracle {
    pub(crate) fn new(steps: &[Step]) -> Oracle {
        let events: Vec<Event> = steps
            .iter()
            .map(|step| {
                let mut event = step.event;
                if let Some(order) = step.failed {
                    event.op.kind = Kind::Load;
                    event.op.order = order;
                }
                event
            })
            .collect();
        let n = events.len();
        let mut before = vec![vec![false; n]; n];
        for (earlier, row) in before.iter_mut().enumerate() {
            for (later, cell) in row.iter_mut().enumerate().skip(earlier + 1) {
                *cell = edge(&events, earlier, later);
            }
        }
        // The trace is a linearization, so the past of a predecessor is complete when it is added.
        for later in 0..n {
            for middle in 0..later {
                if before[middle][later] {
                    for row in before.iter_mut().take(middle) {
                        row[later] |= row[middle];
                    }
                }
            }
        }
        Oracle { events, before }
    }

    pub(crate) fn before(&self, earlier: usize, later: usize) -> bool {
        self.before[earlier][later]
    }

    /// All races on an object: pairs of places in the trace.
    pub(crate) fn races(&self, object: ObjectId) -> Vec<(usize, usize)> {
        let n = self.events.len();
        let mut races = Vec::new();
        for later in 0..n {
            for earlier in 0..later {
                let (a, b) = (&self.events[earlier], &self.events[later]);
                if a.op.object == object
                    && b.op.object == object
                    && a.task != b.task
                    && access(a).zip(access(b)).is_some_and(|(a, b)| a.races(b))
                    && !self.before(earlier, later)
                {
                    races.push((earlier, later));
                }
            }
        }
        races
    }
}

#[derive(Clone, Copy)]
struct Access {
    writes: bool,
    atomic: bool,
}

impl Access {
    fn races(self, other: Access) -> bool {
        (self.writes || other.writes) && !(self.atomic && other.atomic)
    }
}

fn access(event: &Event) -> Option<Access> {
    let (writes, atomic) = match event.op.kind {
        Kind::CellRead => (false, false),
        Kind::CellWrite => (true, false),
        Kind::Load => (false, true),
        Kind::Store | Kind::Rmw => (true, true),
        _ => return None,
    };
    Some(Access { writes, atomic })
}

/// Whether a rule orders these two directly.
fn edge(events: &[Event], earlier: usize, later: usize) -> bool {
    let (a, b) = (&events[earlier], &events[later]);
    let same = a.op.object == b.op.object && a.op.object.is_some();
    let done = |event: &Event| event.outcome == Outcome::Done;
    if a.task == b.task || a.outcome == Outcome::Spawned(b.task) {
        return true;
    }
    if let (Some(given), Some(taken)) = (gives_mutex(a), takes_mutex(b)) {
        return given == taken;
    }
    match (a.op.kind, b.op.kind) {
        (Kind::Exit, Kind::Join) => same && done(b),
        (Kind::Exit, Kind::Finished) => same && b.outcome == Outcome::Value(1),
        (Kind::WriteUnlock | Kind::Downgrade, Kind::ReadLock | Kind::WriteLock)
        | (Kind::ReadUnlock, Kind::WriteLock)
        | (Kind::Release, Kind::Acquire)
        | (Kind::Unpark, Kind::Park) => same && done(b),
        (Kind::OnceDone, Kind::OnceEnter) => same,
        (Kind::OnceDone, Kind::OnceGet) => same && b.outcome == Outcome::Value(1),
        (Kind::Arrive, Kind::Leave) => {
            let arrived = last(events, later, |e| e.task == b.task && e.op.kind == Kind::Arrive);
            same && round(events, earlier) == round(events, arrived.unwrap())
        }
        (Kind::Arrive, Kind::Arrive) => {
            let opens = b.outcome == Outcome::Value(1);
            same && opens && round(events, earlier) == round(events, later)
        }
        (Kind::Send, Kind::Recv) => {
            same && done(a) && done(b) && rank(events, earlier) == rank(events, later)
        }
        (Kind::Recv, Kind::Handover) => {
            let sent = last(events, later, |e| {
                e.task == b.task && e.op.kind == Kind::Send && e.outcome == Outcome::Done
            });
            same && done(a) && done(b) && rank(events, earlier) == rank(events, sent.unwrap())
        }
        (Kind::DropSender, Kind::Recv) | (Kind::DropReceiver, Kind::Send | Kind::Handover) => {
            same && b.outcome == Outcome::Closed
        }
        _ => atomic_edge(events, earlier, later),
    }
}

fn gives_mutex(event: &Event) -> Option<ObjectId> {
    match event.op.kind {
        Kind::Unlock => Some(event.op.object),
        Kind::Wait => Some(event.op.second),
        _ => None,
    }
}

fn takes_mutex(event: &Event) -> Option<ObjectId> {
    match event.op.kind {
        Kind::Lock if event.outcome == Outcome::Done => Some(event.op.object),
        Kind::Wake => Some(event.op.second),
        _ => None,
    }
}

fn last(events: &[Event], until: usize, is: impl Fn(&Event) -> bool) -> Option<usize> {
    events[..until].iter().rposition(is)
}

/// How often an arrival's barrier had opened before it.
fn round(events: &[Event], arrival: usize) -> usize {
    let object = events[arrival].op.object;
    let opens =
        |e: &&Event| e.op.object == object && e.op.kind == Kind::Arrive && e.outcome == Outcome::Value(1);
    events[..arrival].iter().filter(opens).count()
}

/// Which of its kind on its object a successful send or receive is.
fn rank(events: &[Event], at: usize) -> usize {
    let Event { op, .. } = events[at];
    let like = |e: &&Event| e.op.object == op.object && e.op.kind == op.kind && e.outcome == Outcome::Done;
    events[..at].iter().filter(like).count()
}

/// Where what store `at` releases comes from: the store itself, or a fence before it.
fn released_at(events: &[Event], at: usize) -> Option<usize> {
    if events[at].op.order.releases() {
        return Some(at);
    }
    last(events, at, |e| e.task == events[at].task && e.op.kind == Kind::Fence && e.op.order.releases())
}

/// Release store or fence to acquire load or fence, through a release sequence.
fn atomic_edge(events: &[Event], earlier: usize, later: usize) -> bool {
    let acquirer = &events[later];
    if !acquirer.op.order.acquires() {
        return false;
    }
    let loads = |e: &Event| matches!(e.op.kind, Kind::Load | Kind::Rmw);
    let reads: Vec<usize> = match acquirer.op.kind {
        Kind::Load | Kind::Rmw => vec![later],
        Kind::Fence => (0..later).filter(|&i| events[i].task == acquirer.task && loads(&events[i])).collect(),
        _ => return false,
    };
    reads.into_iter().any(|read| {
        let object = events[read].op.object;
        let stores = |e: &Event| e.op.object == object && matches!(e.op.kind, Kind::Store | Kind::Rmw);
        let mut at = last(events, read, stores);
        while let Some(head) = at {
            if released_at(events, head) == Some(earlier) {
                return true;
            }
            at = match events[head].op.kind {
                Kind::Rmw => last(events, head, stores),
                _ => None,
            };
        }
        false
    })
}
