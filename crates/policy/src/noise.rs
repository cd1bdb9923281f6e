//! `noise`: what testers do who own no scheduler. At each scheduling point `while (random < p) contextSwitch()`
//! (Stoller, RV 2002, loop approach); a context switch is a sleep of random length (Edelstein, Farchi, Nir, Ratsaby and
//! Ur, IBM Systems Journal 2002). How often, and how long at most, is what Křena, Letko and Vojnar call the noise's
//! frequency and strength. The baseline that the others are compared with.
//!
//! Deviations:
//! - There noise disturbs a system's own scheduler, and a run does not repeat. Here the system's part is played, too, as
//!   simply as can be: whoever runs goes on until it cannot or offers the processor; then the one that has waited
//!   longest does. So all that is random is the noise, and a failing run replays.
//! - A sleep lasts for a number of steps of others, not of milliseconds. If all who could run are asleep, the one whose
//!   sleep ends first goes on: time passes.
//!
//! Each time that a task is about to go on it may be held back, whoever it is: so every task that can run has a positive
//! probability at every point, as the paper says of the loop.

use alloc::boxed::Box;
use alloc::vec::Vec;
use raddle_model::{Choice, Dice, Divergence, Op, Pick, Policy, Rng, TaskId, View};

/// One in so many points is disturbed, unless another number is asked for.
pub const ONE_IN: u32 = 10;

/// Most steps for which a task is held back, likewise.
pub const STRENGTH: u32 = 20;

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    // The pick at which it went on last; 0 is never.
    ran: u64,
    // It is held back before this pick.
    until: u64,
}

/// Goes on, and holds tasks back now and then.
#[derive(Clone, Debug)]
pub struct Noise<D = Rng> {
    dice: D,
    one_in: u32,
    strength: u32,
    places: Vec<Place>,
    picks: u64,
    // Whether anything has hung on the dice.
    drawn: bool,
}

impl<D: Dice> Noise<D> {
    /// Draws from `dice`.
    pub fn new(dice: D, one_in: u32, strength: u32) -> Noise<D> {
        let (one_in, strength) = (one_in.max(1), strength.max(1));
        Noise { dice, one_in, strength, places: Vec::new(), picks: 0, drawn: false }
    }

    fn place(&self, task: TaskId) -> Place {
        self.places.get(task.index()).copied().unwrap_or_default()
    }

    fn place_mut(&mut self, task: TaskId) -> &mut Place {
        if task.index() >= self.places.len() {
            self.places.resize(task.index() + 1, Place::default());
        }
        &mut self.places[task.index()]
    }

    /// Who would go on without noise, of those that are awake: whoever ran last, else who has waited longest.
    fn next(&self, view: &View<'_>) -> Option<TaskId> {
        let awake = |task: &TaskId| self.place(*task).until <= self.picks;
        let goes_on = |op: &Op| !op.offers_processor();
        let current = view.current.filter(|&task| view.enabled.contains(task) && goes_on(view.op(task)));
        let waiting = || view.enabled.iter().filter(awake).min_by_key(|&task| self.place(task).ran);
        current.filter(awake).or_else(waiting)
    }

    fn pick_one(&mut self, view: &View<'_>) -> TaskId {
        while let Some(task) = self.next(view) {
            if !view.enabled.several() {
                return task;
            }
            self.drawn = true;
            if self.dice.below(self.one_in) != 0 {
                return task;
            }
            let steps = u64::from(self.dice.below(self.strength)) + 1;
            self.place_mut(task).until = self.picks + steps;
        }
        let first = view.enabled.iter().min_by_key(|&task| self.place(task).until);
        first.expect("raddle bug: nobody to pick")
    }
}

impl<D: Dice> Policy for Noise<D> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        self.picks += 1;
        let task = self.pick_one(view);
        let now = self.picks;
        *self.place_mut(task) = Place { ran: now, until: 0 };
        Pick::Run(task)
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        self.drawn = true;
        Ok(self.dice.below(choice.arity))
    }

    fn restart(&mut self, seed: u64) {
        self.dice.reseed(seed);
        self.places.clear();
        self.picks = 0;
        self.drawn = false;
    }

    fn can_reseed(&self) -> bool {
        !self.drawn
    }

    fn reseed(&mut self, seed: u64) {
        self.dice.reseed(seed);
    }
}
