//! All runs of a program: plain depth-first search over the decisions, by running the program
//! again and again. No reduction of any kind: it is the oracle that strategies are judged by.

use crate::machine::{Machine, ToyRun};
use crate::program::Program;
use raddle_model::{Choice, Divergence, Pick, Plan, Policy, Tail, View};

/// A policy that walks a tree of decisions in order.
#[derive(Clone, Default, Debug)]
struct Walk {
    /// For each decision of the current run which alternative is taken, and of how many.
    path: Vec<(u32, u32)>,
    position: usize,
}

impl Walk {
    fn take(&mut self, arity: u32) -> u32 {
        if self.position == self.path.len() {
            self.path.push((0, arity));
        }
        let (taken, known) = self.path[self.position];
        assert_eq!(known, arity, "raddle bug: decision {} does not repeat", self.position);
        self.position += 1;
        taken
    }

    /// Moves on to the next path; false if that was the last.
    fn advance(&mut self) -> bool {
        self.path.truncate(self.position);
        self.position = 0;
        while let Some((taken, arity)) = self.path.pop() {
            if taken + 1 < arity {
                self.path.push((taken + 1, arity));
                return true;
            }
        }
        false
    }
}

impl Policy for Walk {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        let task = match view.enabled.single() {
            Some(task) => task,
            None => {
                let rank = self.take(view.enabled.len());
                view.enabled.nth(rank).expect("raddle bug: nobody to pick")
            }
        };
        Pick::Run(task)
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(self.take(choice.arity))
    }

    fn restart(&mut self, _: u64) {
        self.position = 0;
    }
}

/// Calls `each` with every run of the program under the conditions of `plan`, whose prefix does not
/// matter, nor its tail unless it is one of a search ([`Tail::Steps`]): then runs end as they do there.
/// Stops after `budget` runs; returns whether that was all of them.
pub fn for_each_run(program: &Program, plan: &Plan, budget: usize, mut each: impl FnMut(ToyRun)) -> bool {
    let tail = if let Tail::Steps(_) = plan.tail { plan.tail.clone() } else { Tail::Stay };
    let plan = Plan { prefix: Default::default(), tail, ..plan.clone() };
    let mut machine = Machine::new(program, Walk::default());
    for _ in 0..budget {
        each(machine.run(&plan));
        if !machine.engine().policy_mut().advance() {
            return true;
        }
    }
    false
}

/// All runs of the program, or none if there are more than `budget`.
pub fn enumerate(program: &Program, plan: &Plan, budget: usize) -> Option<Vec<ToyRun>> {
    let mut runs = Vec::new();
    for_each_run(program, plan, budget, |run| runs.push(run)).then_some(runs)
}
