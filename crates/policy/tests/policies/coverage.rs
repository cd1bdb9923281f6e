//! `coverage`: what a run has covered can be read off its trace, and it covers more than `random`.

use raddle_model::plan::Covered;
use raddle_model::{Plan, Policy, Rng, Tail};
use raddle_policy::coverage::{Coverage, switches};
use raddle_toy::Instr::{Lock, Store, Unlock};
use raddle_toy::{How, Instr, Machine, Object, Program, Val, run};

fn program() -> Program {
    let body = |task: u64| -> Vec<Instr> {
        let part = |i: usize| {
            vec![Store(i, Val::Const(task)), Lock(3, How::Block, 0), Store(i, Val::Const(task)), Unlock(3)]
        };
        (0..3).flat_map(part).collect()
    };
    let objects = vec![Object::Atomic(0), Object::Atomic(0), Object::Atomic(0), Object::Mutex];
    Program::flat(objects, (0..3).map(body).collect())
}

/// How many pairs are covered after so many runs, each of which knows what those before it covered.
fn covered_after(runs: u64, seed: u64, guided: bool) -> usize {
    let program = program();
    let mut covered = Covered::default();
    for number in 0..runs {
        let tail = if guided { Tail::Coverage(covered.clone()) } else { Tail::Random };
        let plan = Plan::new(Rng::seed_of_run(seed, number), tail);
        for (from, to) in switches(&run(&program, &plan).trace, &plan.points) {
            covered.insert(from, to);
        }
    }
    covered.pairs.len()
}

#[test]
fn the_trace_tells_what_the_policy_covered() {
    let program = program();
    let plan = Plan::new(0, Tail::Random);
    let mut before = Covered::default();
    for seed in 0..200 {
        let policy = Coverage::new(Rng::new(seed), before.clone());
        let mut machine = Machine::new(&program, policy);
        let toy = machine.run(&plan);
        let mut after = before.clone();
        for (from, to) in switches(&toy.trace, &plan.points) {
            after.insert(from, to);
        }
        let mut by_policy = before.clone();
        for &(from, to) in &machine.engine().policy_mut().new_in_this_run().pairs {
            assert!(by_policy.insert(from, to), "it was covered before");
        }
        assert_eq!(after, by_policy, "seed {seed}");
        before = after;
        machine.engine().policy_mut().restart(0);
        assert!(machine.engine().policy_mut().new_in_this_run().pairs.is_empty());
    }
}

#[test]
fn guided_runs_cover_more() {
    let total = |guided| (0..20).map(|seed| covered_after(10, seed, guided)).sum::<usize>();
    let (guided, random) = (total(true), total(false));
    assert!(guided * 10 > random * 12, "guided {guided}, random {random}");
}
