//! Runs whose seeds differ have their beginnings in common: a policy that was begun with one seed and is given another
//! before main has company goes on as if it had begun with that.

use raddle_model::{Choice, Divergence, Pick, Plan, Policy, Rng, Tail, TaskId, TaskSet, View, World};
use raddle_policy::{Planned, Strategy, strategies, weights};
use raddle_toy::Instr::{Add, Join, Load, Spawn, Store, Yield};
use raddle_toy::{Instr, Machine, Object, Program, Val, run};

/// Gets its seed when it is first asked while there are others.
struct Late {
    policy: Planned,
    seed: Option<u64>,
    met: bool,
}

impl Late {
    fn meet(&mut self, world: &World) {
        if world.tasks().len() > 1
            && let Some(seed) = self.seed
            && !self.met
        {
            self.met = true;
            if self.policy.can_reseed() {
                self.policy.reseed(seed);
                self.seed = None;
            }
        }
    }
}

impl Policy for Late {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        self.meet(view.world);
        self.policy.pick(view)
    }

    fn stays(&mut self, task: TaskId, others: &TaskSet, world: &World) -> bool {
        self.meet(world);
        self.policy.stays(task, others, world)
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        self.policy.choose(choice)
    }

    fn restart(&mut self, seed: u64) {
        self.policy.restart(seed);
    }
}

/// Main works for a while, makes two tasks, and works beside them. It contends for what they write, also before.
fn program(alone: usize) -> Program {
    let work = |task: u64| vec![Store(0, Val::Const(task)), Load(1, 0), Yield, Store(1, Val::Const(task))];
    let mut main: Vec<Instr> = (0..alone).map(|at| Store(at % 3, Val::Const(9))).collect();
    main.extend([Spawn(1), Spawn(2), Add(0, Val::Const(1), 0), Store(1, Val::Const(3)), Join(1), Join(2)]);
    Program { objects: vec![Object::Atomic(0); 3], tasks: vec![main, work(1), work(2)] }
}

#[test]
fn a_policy_with_another_seed_goes_on_as_if_it_had_begun_with_it() {
    for alone in [0, 1, 2, 7, 60] {
        let program = program(alone);
        let first = Plan::new(0, Tail::Random);
        let learned = weights::learn(&run(&program, &first).trace, &first.points);
        for known in strategies().iter().filter(|known| known.strategy.samples()) {
            let tail = match known.strategy {
                Strategy::Walks => Tail::Walks(learned.clone()),
                // Change points in the part that main does alone, and behind it.
                Strategy::Pct { .. } => Tail::Pct { depth: 4, length: alone as u64 + 12 },
                other => other.tail(),
            };
            let (mut different, mut given) = (0, 0);
            for number in 0..200 {
                let plan = Plan { seed: Rng::seed_of_run(5, number), ..Plan::new(0, tail.clone()) };
                let begun = Plan { seed: Rng::seed_of_run(6, number), ..plan.clone() };
                let (expected, other) = (run(&program, &plan).trace, run(&program, &begun).trace);
                different += u32::from(expected != other);
                let late = Late { policy: Planned::new(&begun), seed: Some(plan.seed), met: false };
                let mut machine = Machine::new(&program, late);
                let trace = machine.run(&plan).trace;
                if machine.engine().policy_mut().seed.is_none() {
                    assert_eq!(trace, expected, "{} run {number} after {alone} steps", known.name);
                    given += 1;
                }
            }
            assert!(different > 50, "{}: seeds matter", known.name);
            // Only a plain run of `walks` cannot be given another seed, which is one in 32.
            assert!(given > 180, "{}: {given} of 200 runs were given another seed", known.name);
        }
    }
}
