//! Fig. 1 of the RAPOS paper (Sen, ASE 2007): three writes to y and one to x, against a check of x.
//! All sequences of draws are enumerated with their exact probabilities, and then the real
//! policies are run 100,000 times each.

use crate::support::{Ratio, Script, for_each_draw};
use raddle_analysis::statistics::binomial;
use raddle_model::plan::Weights;
use raddle_model::{Plan, Policy, Rng, Tail, Verdict};
use raddle_policy::pct::Pct;
use raddle_policy::random::Random;
use raddle_policy::rapos::Rapos;
use raddle_policy::walks::Walks;
use raddle_policy::{Planned, weights};
use raddle_toy::{Instr, Machine, Object, Program, ToyRun, Val, run};

const X: usize = 0;
const Y: usize = 1;

fn fig1() -> Program {
    let store = |object, value| Instr::Store(object, Val::Const(value));
    let first = vec![store(Y, 1), store(Y, 2), store(Y, 3), store(X, 4)];
    let second = vec![Instr::Load(X, 0), Instr::AssertNot(0, 4)];
    Program::flat(vec![Object::Atomic(0); 2], vec![first, second])
}

fn failed(run: &ToyRun) -> bool {
    matches!(run.verdict, Verdict::Failed(_))
}

fn exact<P: Policy>(policy: impl FnOnce(Script) -> P) -> Ratio {
    let mut failing = Ratio::ZERO;
    for_each_draw(&fig1(), &Plan::new(0, Tail::Stay), policy, |run, probability| {
        if failed(run) {
            failing = failing.plus(probability);
        }
    });
    failing
}

/// What a first run teaches.
fn learned() -> Weights {
    let plan = Plan::new(1, Tail::Random);
    weights::learn(&run(&fig1(), &plan).trace, &plan.points)
}

#[test]
fn random_fails_with_one_sixteenth() {
    assert_eq!(exact(Random::new), Ratio::new(1, 16));
}

#[test]
fn rapos_fails_with_a_quarter() {
    assert_eq!(exact(Rapos::new), Ratio::new(1, 4));
}

/// 31/32 of the runs walk, and fail with one half; 1/32 are random, and fail with one sixteenth.
#[test]
fn walks_fail_with_249_in_512() {
    assert_eq!(exact(|dice| Walks::new(dice, learned())), Ratio::new(249, 512));
}

/// Whatever the first run was, it teaches the same: the contended accesses are those to x.
#[test]
fn what_is_learned_does_not_depend_on_the_run() {
    for seed in 0..50 {
        let plan = Plan::new(seed, Tail::Random);
        let again = weights::learn(&run(&fig1(), &plan).trace, &plan.points);
        let accesses = |w: &Weights| w.tasks.iter().flat_map(|t| t.accesses.clone()).collect::<Vec<_>>();
        assert_eq!(accesses(&again).len(), 2);
        assert_eq!(accesses(&again), accesses(&learned()));
    }
}

/// Without anything learned `walks` is `random`.
#[test]
fn walks_without_weights_fail_with_one_sixteenth() {
    assert_eq!(exact(|dice| Walks::new(dice, Weights::default())), Ratio::new(1, 16));
}

/// The error needs one ordering (x = 4 before the check): depth 1. Its bound is 1/n.
#[test]
fn pct_keeps_its_bound() {
    let (tasks, length) = (3, 10);
    for depth in 1..=2u32 {
        let found = exact(|dice| Pct::new(dice, depth, length));
        assert!(found.at_least(Ratio::new(1, tasks)), "depth {depth}: {found:?}");
    }
}

#[test]
fn a_hundred_thousand_runs_lie_within_the_exact_bounds() {
    let cases = [
        (Tail::Random, 1, 16),
        (Tail::Rapos, 1, 4),
        // Not enumerated (priorities have 32 bits): the check has the lowest priority of five.
        (Tail::Pos, 1, 5),
        (Tail::Walks(learned()), 249, 512),
    ];
    let program = fig1();
    for (tail, top, bottom) in cases {
        let plan = Plan::new(0, tail);
        let mut machine = Machine::new(&program, Planned::new(&plan));
        let mut failures = 0;
        for number in 0..100_000 {
            machine.engine().policy_mut().restart(Rng::seed_of_run(2, number));
            failures += u64::from(failed(&machine.run(&plan)));
        }
        assert!(
            binomial::accepts(100_000, top, bottom, failures, 0.999),
            "{}: {failures} failures are not {top}/{bottom}",
            plan.tail.name()
        );
    }
}
