//! The partial order of the synchronization of a run, without plain accesses to memory.
//!
//! That is what table 1 of the paper counts. Its director is called by synchronization operations only and hashes their
//! happens-before; where nothing else is a scheduling point, nothing else has an order that a strategy has chosen. The
//! fingerprint of a run has plain accesses too: with it two runs count as different because of a race in one of them,
//! which the paper's tool could not see.

use raddle_model::hash::Wide;
use raddle_model::{Access, Event, Kind, ObjectId, Trace};

/// What has been done to an object.
#[derive(Clone, Copy)]
struct Past {
    // The last write, and the sum of the reads since.
    written: Wide,
    read: Wide,
}

const NOTHING: Past = Past { written: Wide::START, read: Wide::START };

/// A hash that is equal for equal partial orders. The hash of an event covers its task and the latest events that it
/// depends on, and the whole is a sum, so that the linearization does not matter.
pub(super) fn of_synchronization(trace: &Trace) -> u128 {
    let mut tasks: Vec<Wide> = trace.names.iter().map(|&name| Wide::from_word(name)).collect();
    let mut objects: Vec<Past> = Vec::new();
    let mut total = Wide::ZERO;
    for Event { task, op, .. } in trace.events.iter().filter(|event| !is_plain_access(event.op.kind)) {
        let reads = op.access() == Access::Read;
        let extents = [op.object, op.second].into_iter().filter(|object| object.is_some());
        let mut hash = tasks[task.index()].chain(op.kind as u64, Wide::START);
        for object in extents.clone() {
            let past = past(&mut objects, object);
            hash = hash.chain(1, past.written);
            if !reads {
                hash = hash.chain(2, past.read);
            }
        }
        for object in extents {
            let past = past(&mut objects, object);
            *past = match reads {
                true => Past { read: past.read.plus(hash), ..*past },
                false => Past { written: hash, read: Wide::START },
            };
        }
        tasks[task.index()] = hash;
        total = total.plus(hash);
    }
    total.to_u128()
}

fn is_plain_access(kind: Kind) -> bool {
    matches!(kind, Kind::CellRead | Kind::CellWrite | Kind::WideRead | Kind::WideWrite | Kind::Free)
}

fn past(objects: &mut Vec<Past>, object: ObjectId) -> &mut Past {
    if objects.len() <= object.index() {
        objects.resize(object.index() + 1, NOTHING);
    }
    &mut objects[object.index()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_model::{Op, Outcome, SiteId, TaskId};

    /// A run of three tasks: who does what to which object.
    fn run(steps: &[(u32, Kind, u32)]) -> u128 {
        let event = |&(task, kind, object): &(u32, Kind, u32)| {
            let op = Op::new(kind, ObjectId(object), SiteId::UNKNOWN);
            Event { task: TaskId(task), index: 0, op, outcome: Outcome::Done }
        };
        let events = steps.iter().map(event).collect();
        of_synchronization(&Trace { names: vec![1, 2, 3], events, ..Trace::default() })
    }

    #[test]
    fn only_the_order_of_conflicting_operations_counts() {
        let lock = |task, object| (task, Kind::Lock, object);
        assert_eq!(run(&[lock(0, 0), lock(1, 1)]), run(&[lock(1, 1), lock(0, 0)]));
        assert_ne!(run(&[lock(0, 0), lock(1, 0)]), run(&[lock(1, 0), lock(0, 0)]));
        assert_ne!(run(&[lock(0, 0), lock(1, 1)]), run(&[lock(0, 0), lock(1, 0)]));
    }

    #[test]
    fn reads_have_no_order_among_each_other() {
        let (first, second) = ((0, Kind::Load, 0), (1, Kind::Load, 0));
        let write = (2, Kind::Store, 0);
        assert_eq!(run(&[first, second, write]), run(&[second, first, write]));
        assert_ne!(run(&[first, second, write]), run(&[first, write, second]));
        assert_ne!(run(&[first, write, second]), run(&[write, first, second]));
    }

    #[test]
    fn plain_accesses_do_not_count() {
        let lock = (0, Kind::Lock, 0);
        let (read, write) = ((0, Kind::CellRead, 1), (1, Kind::CellWrite, 1));
        assert_eq!(run(&[lock, read, write]), run(&[write, lock, read]));
        assert_eq!(run(&[lock, read, write]), run(&[lock]));
    }
}
