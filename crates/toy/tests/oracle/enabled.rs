//! The set of enabled tasks that the world keeps up to date is the one that the definition gives,
//! at every scheduling point of random programs under every policy; and whoever is offered to the
//! policy is in it.

use crate::common::{Case, for_programs, size, tails};
use raddle_model::world::Life;
use raddle_model::{Choice, Divergence, Pick, Plan, Policy, TaskId, TaskSet, View};
use raddle_policy::Planned;
use raddle_toy::Machine;

/// A policy that looks at the world before it picks.
struct Watched {
    inner: Planned,
    wrong: Option<String>,
    points: u64,
}

impl Watched {
    fn look(&mut self, view: &View<'_>) {
        self.points += 1;
        let world = view.world;
        let able = |task: &TaskId| {
            let state = world.task(*task);
            assert_eq!(state.life, Life::Pending, "everybody has said what it is about to do");
            world.enabled(*task, &state.op)
        };
        let defined: TaskSet = world.live().filter(able).collect();
        if defined != *world.enabled_tasks() {
            self.wrong = Some(format!("kept {:?}, defined {defined:?}", world.enabled_tasks()));
        }
        let mut offered = view.enabled.clone();
        offered.subtract(&defined);
        if !offered.is_empty() || view.enabled.is_empty() {
            self.wrong = Some(format!("offered {:?}, enabled {defined:?}", view.enabled));
        }
    }
}

impl Policy for Watched {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        self.look(view);
        if self.wrong.is_some() { Pick::Cut } else { self.inner.pick(view) }
    }
    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        self.inner.choose(choice)
    }
    fn restart(&mut self, seed: u64) {
        self.inner.restart(seed);
    }
}

fn check(case: &Case) -> Result<bool, String> {
    let program = case.program();
    for tail in tails() {
        let plan = Plan { tail, ..case.plan.clone() };
        let inner = Planned::new(&plan);
        let mut machine = Machine::new(&program, Watched { inner, wrong: None, points: 0 });
        for seed in 0..size("oracle_runs") {
            machine.engine().policy_mut().restart(seed);
            machine.run(&plan);
            let policy = machine.engine().policy_mut();
            assert!(policy.points > 0, "nothing was looked at");
            if let Some(wrong) = policy.wrong.take() {
                return Err(wrong);
            }
        }
    }
    Ok(true)
}

#[test]
fn the_enabled_set_is_the_defined_one() {
    for_programs("enabled", size("oracle_programs"), check);
}
