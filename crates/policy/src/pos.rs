//! `pos`: partial order sampling (Yuan, Yang and Gu, CAV 2018). Every pending operation has a random
//! priority and the highest runs; then the operations that conflict with it draw new priorities, so
//! that a decision between two conflicting operations does not depend on earlier ones.
//!
//! Deviations:
//! - Priorities are drawn only for operations that can run: one that becomes able to run draws then,
//!   since what enabled it conflicts with it.
//! - Priorities are 32 bits; equal ones, one in four thousand million, fall to the lower task.
//! - After [`PATIENCE`] steps in a row by one task while others could run, all draw anew: each step
//!   of a spin loop has a fresh chance anyway, so this is for tasks that conflict with nobody.

use alloc::boxed::Box;
use alloc::vec::Vec;
use raddle_model::{Choice, Dice, Divergence, Op, Pick, Policy, Rng, TaskId, View};

/// Steps in a row by one task after which all operations draw anew.
pub const PATIENCE: u32 = 1_000;

#[derive(Clone, Copy, Debug, Default)]
struct Priority {
    value: u32,
    // The number of the pick at which its owner could last run; 0 is none.
    seen: u64,
}

/// Runs the operation of the highest priority.
#[derive(Clone, Debug)]
pub struct Pos<D = Rng> {
    dice: D,
    priorities: Vec<Priority>,
    picks: u64,
    last: Option<(TaskId, Op)>,
    in_a_row: u32,
}

impl<D: Dice> Pos<D> {
    /// Draws from `dice`.
    pub fn new(dice: D) -> Pos<D> {
        Pos { dice, priorities: Vec::new(), picks: 0, last: None, in_a_row: 0 }
    }

    fn highest(&mut self, view: &View<'_>) -> TaskId {
        let (before, now) = (self.picks, self.picks + 1);
        self.picks = now;
        let all = self.in_a_row >= PATIENCE;
        let mut best: Option<(u32, TaskId)> = None;
        for task in view.enabled.iter() {
            if task.index() >= self.priorities.len() {
                self.priorities.resize(task.index() + 1, Priority::default());
            }
            let stale = |(ran, op): (TaskId, Op)| ran == task || op.conflicts(view.op(task));
            let priority = &mut self.priorities[task.index()];
            if all || priority.seen != before || self.last.is_none_or(stale) {
                priority.value = self.dice.below(u32::MAX);
            }
            priority.seen = now;
            if best.is_none_or(|(value, _)| priority.value > value) {
                best = Some((priority.value, task));
            }
        }
        best.expect("raddle bug: nobody to pick").1
    }
}

impl<D: Dice> Policy for Pos<D> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        let task = self.highest(view);
        let alone = view.enabled.single().is_some();
        let again = self.last.is_some_and(|(ran, _)| ran == task) && !alone;
        self.in_a_row = if again && self.in_a_row < PATIENCE { self.in_a_row + 1 } else { 0 };
        self.last = Some((task, *view.op(task)));
        Pick::Run(task)
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(self.dice.below(choice.arity))
    }

    fn restart(&mut self, seed: u64) {
        self.dice.reseed(seed);
        self.priorities.clear();
        self.picks = 0;
        self.last = None;
        self.in_a_row = 0;
    }

    fn can_reseed(&self) -> bool {
        self.priorities.len() <= 1
    }

    /// Main has drawn once for each of its operations, whether anybody else was there or not.
    fn reseed(&mut self, seed: u64) {
        self.dice.reseed(seed);
        for _ in 0..self.picks {
            self.priorities[0].value = self.dice.below(u32::MAX);
        }
    }
}
