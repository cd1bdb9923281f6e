//! No strategy lets a spin loop eat the step bound, even if spinning tasks are not held back.

use raddle_model::{Plan, Rng, SpinMode, Tail, Verdict};
use raddle_policy::{Strategy, strategies, weights};
use raddle_toy::Instr::{Cas, JumpIf, JumpUnless, Load, Store, Yield};
use raddle_toy::{Instr, Object, Program, Val, run};

const FLAG: usize = 0;
const WORK: usize = 1;

/// Spins until the flag is set, by loads, with yields, or by compare-exchange.
fn waiter(how: usize) -> Vec<Instr> {
    match how {
        0 => vec![Load(FLAG, 0), JumpIf(0, 0, 0)],
        1 => vec![Yield, Load(FLAG, 0), JumpIf(0, 0, 0)],
        _ => vec![Cas(FLAG, Val::Const(1), Val::Const(2), 0), JumpUnless(0, 1, 0)],
    }
}

fn spinning(how: usize) -> Program {
    let mut worker = vec![Store(WORK, Val::Const(1)); 30];
    worker.push(Store(FLAG, Val::Const(1)));
    let mut waiter = waiter(how);
    waiter.push(Store(WORK, Val::Const(2)));
    Program::flat(vec![Object::Atomic(0); 2], vec![waiter, worker])
}

#[test]
fn spin_loops_end() {
    for how in 0..3 {
        let program = spinning(how);
        for spin in [SpinMode::Park, SpinMode::Off] {
            let conditions = |tail| Plan { spin, steps_max: 200_000, ..Plan::new(0, tail) };
            let first = conditions(Tail::Random);
            let learned = weights::learn(&run(&program, &first).trace, &first.points);
            for known in strategies().iter().filter(|known| known.strategy.samples()) {
                let tail = match known.strategy {
                    Strategy::Walks => Tail::Walks(learned.clone()),
                    other => other.tail(),
                };
                for number in 0..50 {
                    let plan = Plan { seed: Rng::seed_of_run(9, number), ..conditions(tail.clone()) };
                    let end = run(&program, &plan).verdict;
                    assert_eq!(end, Verdict::Finished, "{} {spin:?} waiter {how} run {number}", known.name);
                }
            }
        }
    }
}
