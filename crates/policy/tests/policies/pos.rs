//! `pos`: a decision between conflicting operations does not depend on earlier ones.

use raddle_analysis::statistics::binomial;
use raddle_model::{Plan, Policy, Rng, Tail, TaskId};
use raddle_policy::Planned;
use raddle_toy::{Instr, Machine, Object, Program, Val};

/// Two tasks, each writing twice. The second decision is a fair one because the operation that lost
/// the first draws anew; had it kept its low priority, the same task would win twice in 1/3 of the runs.
#[test]
fn the_loser_draws_anew() {
    let twice = vec![Instr::Store(0, Val::Const(1)); 2];
    let program = Program::flat(vec![Object::Atomic(0)], vec![twice.clone(), twice]);
    let plan = Plan::new(0, Tail::Pos);
    let mut machine = Machine::new(&program, Planned::new(&plan));
    let mut first_twice = 0;
    for number in 0..20_000 {
        machine.engine().policy_mut().restart(Rng::seed_of_run(4, number));
        let trace = machine.run(&plan).trace;
        let order: Vec<TaskId> = trace.events.iter().filter(|e| e.op.object.0 == 1).map(|e| e.task).collect();
        first_twice += u64::from(order[..2] == [TaskId(1), TaskId(1)]);
    }
    assert!(binomial::accepts(20_000, 1, 4, first_twice, 0.999), "{first_twice} of 20,000");
}
