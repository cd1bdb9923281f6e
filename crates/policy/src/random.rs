//! `random`: uniform over the enabled tasks (Sen, ASE 2007, fig. 3; Stoller, RV 2002, semaphore
//! approach). No deviation.

use alloc::boxed::Box;
use raddle_model::{Ballot, Choice, Dice, Divergence, Pick, Policy, Rng, TaskId, TaskSet, View};

/// Picks uniformly.
#[derive(Clone, Debug)]
pub struct Random<D = Rng> {
    dice: D,
    // Those among whom was drawn.
    ballot: Ballot,
}

impl<D: Dice> Random<D> {
    /// Draws from `dice`.
    pub fn new(dice: D) -> Random<D> {
        Random { dice, ballot: Ballot::default() }
    }
}

impl<D: Dice> Policy for Random<D> {
    /// Nothing is drawn where there is no choice.
    #[inline(always)]
    fn pick(&mut self, view: &View<'_>) -> Pick {
        Pick::Run(if view.enabled.several() {
            view.enabled.draw(&mut self.dice)
        } else {
            view.enabled.first().expect("raddle bug: nobody to pick")
        })
    }

    #[inline]
    fn is_blind(&self) -> bool {
        true
    }

    #[inline(always)]
    fn draw(&mut self, enabled: u64) -> TaskId {
        // As above: nothing is drawn where there is nothing to choose.
        if enabled & (enabled - 1) == 0 {
            return TaskId(enabled.trailing_zeros());
        }
        self.ballot.put(enabled);
        TaskSet::draw_low(enabled, &mut self.dice)
    }

    #[inline(always)]
    fn draw_at_once(&mut self, enabled: u64, again: bool) -> Option<TaskId> {
        if again {
            self.ballot.put(enabled);
            return self.draw_again(enabled);
        }
        TaskSet::draw_low_at_once(enabled, &mut self.dice)
    }

    #[inline(always)]
    fn draw_again(&mut self, enabled: u64) -> Option<TaskId> {
        TaskSet::draw_by(&self.ballot, enabled, &mut self.dice)
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(self.dice.below(choice.arity))
    }

    fn restart(&mut self, seed: u64) {
        self.dice.reseed(seed);
    }

    /// Nothing is drawn where there is no choice.
    fn can_reseed(&self) -> bool {
        true
    }

    fn reseed(&mut self, seed: u64) {
        self.dice.reseed(seed);
    }
}
