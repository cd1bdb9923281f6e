//! The random programs are worth something: every kind of operation and every outcome occurs in
//! their runs, they branch, spawn on conditions, deadlock, fail and finish.

use crate::common::{conditions, size};
use raddle_model::{Kind, Outcome, Plan, Rng, Tail};
use raddle_toy::{Instr, Sketch, run};
use std::collections::BTreeSet;

fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Failed => "failed",
        Outcome::TimedOut => "timed out",
        Outcome::Spurious => "spurious",
        Outcome::Closed => "closed",
        Outcome::Woke(_) => "woke",
        Outcome::Spawned(_) => "spawned",
        Outcome::Value(_) => "value",
        Outcome::Misuse => "misuse",
    }
}

#[test]
fn random_programs_do_everything() {
    let mut rng = Rng::new(0);
    let (mut kinds, mut outcomes, mut ends) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut branches, mut conditional) = (0, 0);
    for nth in 0..size("oracle_programs") {
        let program = Sketch::random(&mut rng, 3, 3).program();
        let code = || program.tasks.iter().flatten();
        branches += usize::from(code().any(|instr| matches!(instr, Instr::JumpUnless(..))));
        conditional += usize::from(code().any(|instr| matches!(instr, Instr::SpawnIf(..))));
        for plan in conditions() {
            for seed in 0..10 {
                let run = run(&program, &Plan { seed: seed + nth, tail: Tail::Random, ..plan.clone() });
                kinds.extend(run.trace.events.iter().map(|event| event.op.kind));
                outcomes.extend(run.trace.events.iter().map(|event| name(event.outcome)));
                ends.insert(run.finals.end);
            }
        }
    }
    // Everything from the first kind to the last: nothing may be missing in between.
    assert_eq!((kinds.first(), kinds.last()), (Some(&Kind::Spawn), Some(&Kind::CellWrite)));
    assert_eq!(kinds.len(), Kind::CellWrite as usize + 1, "missing among {kinds:?}");
    let all = ["closed", "done", "failed", "spawned", "spurious", "timed out", "value", "woke"];
    assert!(outcomes.iter().eq(&all), "{outcomes:?}");
    assert!(ends.iter().eq(&["assertion", "deadlock", "finished"]), "{ends:?}");
    assert!(branches > 50 && conditional > 10, "{branches} branch, {conditional} spawn on a condition");
}
