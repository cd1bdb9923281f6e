//! The guarantee of `pct`, 1/(n·k^(d−1)), on a bug of depth 2, by enumeration of all draws.

use crate::support::{Ratio, for_each_draw};
use raddle_model::{Plan, Tail, Verdict};
use raddle_policy::pct::Pct;
use raddle_toy::{Instr, Object, Program, Val};

/// Task 1 stores 1, works, stores 0 again; task 2 fails if it looks in between. Two orderings are
/// needed, and one change of priority: depth 2.
fn window(work: usize) -> Program {
    let store = |object, value| Instr::Store(object, Val::Const(value));
    let mut first = vec![store(0, 1)];
    first.extend(vec![store(1, 1); work]);
    first.push(store(0, 0));
    let second = vec![Instr::Load(0, 0), Instr::AssertNot(0, 1)];
    Program::flat(vec![Object::Atomic(0); 2], vec![first, second])
}

#[test]
fn a_bug_of_depth_two_is_found_with_the_promised_probability() {
    for work in 0..4 {
        let program = window(work);
        // Three tasks with main; its joins, the exits and the end are steps too.
        let (tasks, length) = (3, work as u64 + 2 + 1 + 2 + 3);
        let mut found = [Ratio::ZERO; 2];
        for (depth, found) in (1..).zip(&mut found) {
            let policy = |dice| Pct::new(dice, depth, length);
            for_each_draw(&program, &Plan::new(0, Tail::Stay), policy, |run, probability| {
                if matches!(run.verdict, Verdict::Failed(_)) {
                    *found = found.plus(probability);
                }
            });
        }
        assert_eq!(found[0], Ratio::ZERO, "work {work}: without a change the window stays shut");
        let bound = Ratio::new(1, tasks * u128::from(length));
        assert!(found[1].at_least(bound), "work {work}: {:?} is less than {bound:?}", found[1]);
    }
}
