//! The end of the process is an operation that conflicts with every other: what a detached task
//! did before it and what it did not are different partial orders, and nothing happens after it.

use crate::common::{all, everywhere};
use raddle_model::{Kind, Mode, ObjectId, Op, SiteId, Verdict};
use raddle_toy::Instr::{Choose, End, Load, Sleep, Spawn, Store, Yield};
use raddle_toy::{Instr, Object, Program, Val};
use std::collections::BTreeSet;

#[test]
fn the_end_conflicts_with_every_kind_of_operation() {
    let end = Op::new(Kind::End, ObjectId::NONE, SiteId::UNKNOWN);
    for kind in [Kind::Yield, Kind::Sleep, Kind::Choose, Kind::Load, Kind::Lock, Kind::Exit, Kind::End] {
        for object in [ObjectId::NONE, ObjectId(3)] {
            for mode in [Mode::Block, Mode::Try, Mode::Timed] {
                let op = Op::new(kind, object, SiteId::UNKNOWN).mode(mode);
                assert!(op.conflicts(&end) && end.conflicts(&op), "{op:?}");
            }
        }
    }
}

fn program(detached: Vec<Instr>, main: Vec<Instr>) -> Program {
    let main = core::iter::once(Spawn(1)).chain(main).collect();
    Program { objects: vec![Object::Atomic(0)], tasks: vec![main, detached] }
}

#[test]
fn a_detached_task_gets_as_far_as_the_end_lets_it() {
    for detached in [vec![Store(0, Val::Const(1))], vec![Yield], vec![Sleep(5)], vec![Load(0, 0)]] {
        let program = program(detached, vec![]);
        let runs = all(&program, &everywhere());
        assert!(runs.iter().all(|run| run.verdict == Verdict::Finished));
        // Before the operation, after it, after the exit.
        let classes: BTreeSet<u128> = runs.iter().map(|run| run.fingerprint).collect();
        assert_eq!((runs.len(), classes.len()), (3, 3), "{program:?}");
        let last = runs.iter().map(|run| run.trace.events.last().expect("there are events").op.kind);
        assert_eq!(last.collect::<BTreeSet<_>>(), BTreeSet::from([Kind::End]));
    }
}

#[test]
fn what_was_pending_at_the_end_is_recorded_and_nothing_else() {
    let program = program(vec![Store(0, Val::Const(1))], vec![]);
    for run in all(&program, &everywhere()) {
        let pending: Vec<Kind> = run.trace.pending.iter().map(|(_, op)| op.kind).collect();
        let expected = match run.trace.events.len() {
            2 => vec![Kind::Store],
            3 => vec![Kind::Exit],
            _ => vec![],
        };
        assert_eq!(pending, expected);
    }
}

#[test]
fn any_task_can_end_the_process() {
    let program = program(vec![Choose(2, 0), End], vec![Store(0, Val::Const(1)), Load(0, 0)]);
    let runs = all(&program, &everywhere());
    assert!(runs.iter().all(|run| run.verdict == Verdict::Finished));
    let stored: BTreeSet<u64> = runs.iter().map(|run| run.finals.memory[0]).collect();
    assert_eq!(stored, BTreeSet::from([0, 1]));
}
