//! Giving a lock back need not be a scheduling point: a release moves left past everything else, so
//! that no class of finished runs is lost, unless somebody tries a lock. And where somebody does, the
//! engine says so, since later plans must then make releases points.

use crate::common::{RUNS_MAX, size};
use raddle_model::{Plan, PointSet, Rng, Verdict};
use raddle_toy::How::{Block, Try};
use raddle_toy::{Instr, Object, Program, Sketch, for_each_run};
use std::collections::BTreeSet;

/// What is known of a program's runs.
#[derive(Default)]
struct Known {
    /// The classes of those that finish.
    classes: BTreeSet<u128>,
    /// The ways in which runs end.
    ends: BTreeSet<String>,
    /// Whether a try or timed operation on a lock was seen.
    tried: bool,
}

fn know(program: &Program, releases: bool) -> Option<Known> {
    let points = PointSet { releases, ..PointSet::everything() };
    let plan = Plan { points, ..crate::common::everywhere() };
    let mut known = Known::default();
    let complete = for_each_run(program, &plan, RUNS_MAX, |run| {
        known.tried |= run.saw_try;
        known.ends.insert(run.finals.end);
        if run.verdict == Verdict::Finished {
            known.classes.insert(run.fingerprint);
        }
    });
    complete.then_some(known)
}

/// Whether all tasks are joined: one that the end of the process may cut off anywhere is cut off at
/// its release too, if that is a point.
fn joins_all(program: &Program) -> bool {
    let code = || program.tasks.iter().flatten();
    code().all(|instr| match instr {
        Instr::Spawn(body) | Instr::SpawnIf(_, _, body) => code().any(|other| *other == Instr::Join(*body)),
        _ => true,
    })
}

#[test]
fn releases_lose_no_class_unless_a_lock_is_tried() {
    let mut rng = Rng::new(21);
    let (mut compared, mut smaller) = (0, 0);
    for nth in 0..size("oracle_programs") {
        let mut sketch = Sketch::random(&mut rng, 3, 3);
        // Mutexes, rwlocks and condition variables in turn.
        sketch.families[0] = [0, 2, 3][nth as usize % 3];
        let program = sketch.program();
        let (Some(all), Some(fewer)) = (know(&program, true), know(&program, false)) else { continue };
        if !joins_all(&program) {
            continue;
        }
        if all.tried {
            assert!(fewer.classes.is_subset(&all.classes));
            smaller += u64::from(fewer.classes.len() < all.classes.len());
        } else {
            compared += 1;
            assert_eq!((all.classes, all.ends), (fewer.classes, fewer.ends), "{program:#?}");
        }
    }
    println!("{compared} compared, {smaller} of those with a try are smaller");
    assert!(compared > 20, "only {compared} programs were compared");
}

#[test]
fn a_try_needs_releases_as_points() {
    let holder = vec![Instr::Lock(0, Block, 0), Instr::Unlock(0)];
    let program = Program::flat(vec![Object::Mutex], vec![holder, vec![Instr::Lock(0, Try, 0)]]);
    let all = know(&program, true).expect("a small program");
    let fewer = know(&program, false).expect("a small program");
    assert!(all.tried && fewer.tried, "the try must be reported either way");
    // Before the lock, while it is held, after it; without the point it is never seen held.
    assert_eq!((all.classes.len(), fewer.classes.len()), (2, 1));
}
