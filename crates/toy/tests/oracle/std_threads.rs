//! The semantics of the world are those of std: random programs run on real threads with the real
//! primitives, and whatever they observe must be among what the enumeration says is possible.

use crate::common::real::Left;
use crate::common::{RUNS_MAX, size};
use raddle_model::{Plan, PointSet, Rng, Tail, Verdict};
use raddle_toy::{Program, Sketch, for_each_run};
use std::collections::BTreeSet;

/// Everything that can be left, if the program is small and always finishes: one that may not
/// would hang real threads.
fn possible(program: &Program) -> Option<BTreeSet<Left>> {
    let plan = Plan { points: PointSet::everything(), ..Plan::new(0, Tail::Stay) };
    let mut left = BTreeSet::new();
    let mut finishes = true;
    let complete = for_each_run(program, &plan, RUNS_MAX, |run| {
        finishes &= run.verdict == Verdict::Finished;
        left.insert((run.finals.observed, run.finals.memory));
    });
    if !complete || !finishes {
        return None;
    }
    // One notification of a real condition variable may wake two.
    let spurious = Plan { spurious_max: 2, ..plan };
    for_each_run(program, &spurious, 10 * RUNS_MAX, |run| {
        left.insert((run.finals.observed, run.finals.memory));
    })
    .then_some(left)
}

#[test]
fn what_real_threads_do_is_possible() {
    let mut rng = Rng::new(11);
    let (mut programs, mut several, mut seen_all) = (0, 0, 0);
    let mut tried = 0;
    while programs < size("oracle_programs") / 4 {
        tried += 1;
        let sketch = Sketch::random(&mut rng, 3, 3);
        let program = sketch.program();
        if !crate::common::real::supports(&program) {
            continue;
        }
        let Some(possible) = possible(&program) else { continue };
        programs += 1;
        let mut seen = BTreeSet::new();
        for seed in 0..size("std_outcomes") {
            let left = crate::common::real::execute(&program, seed);
            assert!(
                possible.contains(&left),
                "real threads left {left:?}, which the enumeration does not know, of {:#?}\n{sketch:?}",
                program.tasks
            );
            seen.insert(left);
        }
        several += u64::from(seen.len() > 1);
        seen_all += u64::from(seen.len() == possible.len());
    }
    println!("{programs} of {tried} programs: {several} with several outcomes, {seen_all} with all");
    assert!(several * 10 > programs, "real threads hardly ever differ: nothing was tested");
}
