//! Dependence and semantics judge each other: a `conflicts` that is too weak, or a world in which
//! independent operations do not commute, would fool every strategy and the enumeration alike. So
//! in every state that random programs reach, any two enabled operations of different tasks that do
//! not conflict are done in both orders: neither may disable the other, both must end the same way
//! and lead to the same state, clocks included; and whatever lets another go on must conflict with
//! it. Deliberately weakened definitions must be noticed.

use crate::common::states::{Reached, follow, reach};
use crate::common::{Case, for_programs, size};
use raddle_model::{Decision, Kind, Mode, ObjectId, Op, Plan, PointSet, SpinMode, TaskId, TimeMode, Verdict};
use raddle_toy::Program;
use std::cell::RefCell;
use std::collections::HashSet;

/// States after which a program is left.
const STATES_MAX: usize = 300;

/// Whether a definition that is too weak leaves out the conflict of two operations.
type Conflicts = fn(&Op, &Op) -> bool;

/// One way to make a step, with who can go on after it.
struct Step {
    decisions: Vec<Decision>,
    able: Vec<(TaskId, Op)>,
}

/// All ways in which `task` can make its next step: one for each outcome of the choices in it.
/// Without a task, all ways to begin.
fn moves(program: &Program, plan: &Plan, prefix: &[Decision], task: Option<TaskId>) -> Vec<Step> {
    let mut done = Vec::new();
    let mut open: Vec<Vec<Decision>> = vec![task.map(Decision::Run).into_iter().collect()];
    while let Some(decisions) = open.pop() {
        let reached = reach(program, plan, &[prefix, &decisions].concat(), false);
        match reached.policy.unanswered {
            None => done.push(Step { decisions, able: reached.policy.able }),
            Some(arity) => {
                let answered = |value| [&decisions[..], &[Decision::Choose(value)]].concat();
                open.extend((0..arity).map(answered));
            }
        }
    }
    done
}

/// Whether a step failed: what fails in the middle of a step ends the run, as the end of the
/// process does, without being an operation.
fn failed(reached: &Reached) -> bool {
    matches!(reached.verdict, Verdict::Failed(_))
}

/// Does two steps in both orders.
fn swap(
    program: &Program,
    plan: &Plan,
    prefix: &[Decision],
    a: &[Decision],
    b: &[Decision],
) -> Result<(), String> {
    if [a, b].iter().any(|step| failed(&follow(program, plan, &[prefix, step].concat()))) {
        return Ok(());
    }
    let one = follow(program, plan, &[prefix, a, b].concat());
    let other = follow(program, plan, &[prefix, b, a].concat());
    for (order, reached) in [(format!("{a:?} {b:?}"), &one), (format!("{b:?} {a:?}"), &other)] {
        if let Some(stray) = &reached.policy.stray {
            return Err(format!("after {prefix:?}, in the order {order}: {stray}"));
        }
    }
    if one.done != other.done {
        return Err(format!(
            "after {prefix:?}, {a:?} and {b:?} end otherwise:\n{}\n{}",
            one.done, other.done
        ));
    }
    if one.state != other.state {
        return Err(format!(
            "after {prefix:?}, {a:?} and {b:?} lead to two states:\n{}\n\n{}",
            one.state, other.state
        ));
    }
    Ok(())
}

/// Two steps that are possible in one state.
struct Pair<'a> {
    program: &'a Program,
    plan: &'a Plan,
    prefix: &'a [Decision],
    ops: [&'a Op; 2],
    steps: [&'a [Step]; 2],
}

impl Pair<'_> {
    /// Does them in both orders, with all choices that they contain.
    fn swap(&self) -> Result<(), String> {
        let [first, second] = self.steps;
        let mut pairs = first.iter().flat_map(|a| second.iter().map(move |b| (a, b)));
        pairs.try_for_each(|(a, b)| swap(self.program, self.plan, self.prefix, &a.decisions, &b.decisions))
    }
}

/// What is found in a state that a program reaches.
enum Found<'a> {
    /// Two tasks can go on.
    Both(Pair<'a>),
    /// What one did lets another go on that could not before.
    Enables(&'a Op, &'a Op),
}

/// Calls `each` with everything that is found in every state that a program reaches.
fn explore(case: &Case, mut each: impl FnMut(&Found<'_>) -> Result<(), String>) -> Result<bool, String> {
    let program = case.program();
    // Which laps a task has spun depends on the linearization; who may run must not.
    let plan = Plan { spin: SpinMode::Off, time: TimeMode::Any, ..case.plan.clone() };
    let plan = Plan { points: PointSet::everything(), ..plan };
    let mut seen = HashSet::new();
    let begin = moves(&program, &plan, &[], None);
    let mut open: Vec<Vec<Decision>> = begin.into_iter().map(|step| step.decisions).collect();
    while let Some(prefix) = open.pop() {
        let reached = follow(&program, &plan, &prefix);
        let over = reached.verdict != Verdict::Cut;
        if over || !seen.insert(reached.state) || seen.len() > STATES_MAX {
            continue;
        }
        let able = reached.policy.able;
        let steps = able.iter().map(|&(task, _)| moves(&program, &plan, &prefix, Some(task)));
        let steps: Vec<Vec<Step>> = steps.collect();
        for (i, (_, a)) in able.iter().enumerate() {
            for (j, (_, b)) in able.iter().enumerate().skip(i + 1) {
                each(&Found::Both(Pair {
                    program: &program,
                    plan: &plan,
                    prefix: &prefix,
                    ops: [a, b],
                    steps: [&steps[i], &steps[j]],
                }))?;
            }
            let blocked = |next: &&(TaskId, Op)| !able.contains(next) && reached.trace.pending.contains(next);
            for (_, enabled) in steps[i].iter().flat_map(|step| &step.able).filter(blocked) {
                each(&Found::Enables(a, enabled))?;
            }
        }
        open.extend(steps.into_iter().flatten().map(|step| [&prefix[..], &step.decisions].concat()));
    }
    Ok(true)
}

fn commutes(found: &Found<'_>) -> Result<(), String> {
    let pair = match found {
        Found::Both(pair) => pair,
        Found::Enables(a, b) if a.conflicts(b) => return Ok(()),
        Found::Enables(a, b) => return Err(format!("{a:?} enables {b:?} and does not conflict with it")),
    };
    let [a, b] = pair.ops;
    if !a.may_be_coenabled(b) || !b.may_be_coenabled(a) {
        return Err(format!("after {:?} both are enabled: {a:?} and {b:?}", pair.prefix));
    }
    if a.conflicts(b) != b.conflicts(a) {
        return Err(format!("dependence is not symmetric: {a:?} and {b:?}"));
    }
    if a.conflicts(b) { Ok(()) } else { pair.swap() }
}

#[test]
fn independent_operations_commute() {
    for_programs("commutation", size("commutation_programs"), |case| explore(case, commutes));
}

/// Whether one of the two is such an operation.
fn either(a: &Op, b: &Op, such: impl Fn(&Op) -> bool) -> bool {
    such(a) || such(b)
}

/// Definitions that leave out some conflicts: what they say, and which.
const TOO_WEAK: [(&str, Conflicts); 12] = [
    ("reads and writes commute", |a, b| a.access() != b.access()),
    ("writes commute", |a, b| a.access() == b.access()),
    ("a lock has no second user", |a, b| either(a, b, |op| op.kind == Kind::Lock)),
    ("a wait does not touch its mutex", |a, b| {
        let bare = |op: &Op| Op { second: ObjectId::NONE, ..*op };
        !bare(a).conflicts(&bare(b))
    }),
    ("a notification wakes nobody", |a, b| {
        either(a, b, |op| matches!(op.kind, Kind::NotifyOne | Kind::NotifyAll))
    }),
    ("a try leaves no trace", |a, b| either(a, b, |op| op.mode == Mode::Try)),
    ("a timed operation leaves no trace", |a, b| either(a, b, |op| op.mode == Mode::Timed)),
    ("an exit is seen by nobody", |a, b| either(a, b, |op| op.kind == Kind::Exit)),
    ("an unpark commutes with a park", |a, b| either(a, b, |op| op.kind == Kind::Unpark)),
    ("sends commute", |a, b| a.kind == Kind::Send && b.kind == Kind::Send),
    ("a handover does not wait for its receiver", |a, b| a.kind == Kind::Recv && b.kind == Kind::Handover),
    ("the end of the process commutes", |a, b| either(a, b, |op| op.kind == Kind::End)),
];

/// Programs within which a definition that is too weak must be noticed.
const CANARY_PROGRAMS: u64 = 600;

#[test]
fn a_definition_that_is_too_weak_is_noticed() {
    let noticed = RefCell::new([false; TOO_WEAK.len()]);
    for_programs("canary", CANARY_PROGRAMS, |case| {
        if noticed.borrow().iter().all(|&noticed| noticed) {
            return Ok(true);
        }
        explore(case, |found| {
            let [a, b] = match found {
                Found::Both(pair) => pair.ops,
                Found::Enables(a, b) => [*a, *b],
            };
            let misses = |nth: &usize| !noticed.borrow()[*nth] && a.conflicts(b) && TOO_WEAK[*nth].1(a, b);
            let missed: Vec<usize> = (0..TOO_WEAK.len()).filter(misses).collect();
            let wrong = || match found {
                Found::Both(pair) => pair.swap().is_err(),
                Found::Enables(..) => true,
            };
            if !missed.is_empty() && wrong() {
                missed.iter().for_each(|&nth| noticed.borrow_mut()[nth] = true);
            }
            Ok(())
        })
    });
    for (noticed, (what, _)) in noticed.into_inner().into_iter().zip(TOO_WEAK) {
        assert!(noticed, "nobody noticed a definition by which {what}");
    }
}
