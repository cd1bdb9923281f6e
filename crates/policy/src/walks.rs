//! `walks`: one uniform walk for each object. Our own, from three sources: the selectively uniform
//! random walk (Zhao, Lyu, Sen et al., ASPLOS 2025), which picks tasks in proportion to the
//! interesting operations they have left; partial order sampling (Yuan, Yang and Gu, CAV 2018), which
//! decides between conflicting operations only; and `rapos`, which lets independent operations run
//! without choosing an order for them.
//!
//! A walk over all contended operations is uniform over interleavings, not over partial orders: it
//! chooses an order for operations on different objects too. Here each contended object has a walk
//! of its own ([`crate::contest`]): it draws which task has the next access there, in proportion to
//! what each has left according to an earlier run ([`crate::weights`]), and the others wait at that
//! object, even if the drawn task is still far away. Whoever does not have to wait may run, and in
//! which order they do changes nothing. If everybody waits, the walks contradict each other (the
//! drawn order would be a cycle); what was drawn is taken back and drawn again, as in rejection
//! sampling, and after [`RETRIES`] times somebody runs regardless.
//!
//! On fig. 1 of the RAPOS paper the walks give the error exactly 1/2, the whole policy 249/512.
//!
//! Guarantees:
//! - Every partial order has a positive probability, whatever the weights are: one run in
//!   [`PLAIN_ONE_IN`] is `random`.
//! - What was not learned (a task, an access, an object without a contest) never waits.
//! - No spin loop waits for ever: all draws are taken back whenever a run has taken more than twice
//!   the points of the learned run. Before that everybody who may run does so with positive
//!   probability at each point.

use crate::contest::Contest;
use crate::profile::{Place, Profile};
use alloc::boxed::Box;
use alloc::vec::Vec;
use raddle_model::plan::Weights;
use raddle_model::{Access, Choice, Dice, Divergence, Pick, Policy, Rng, TaskId, View};

/// One run in so many goes by nothing that was learned.
pub const PLAIN_ONE_IN: u32 = 32;

/// How often draws are taken back before somebody runs regardless.
pub const RETRIES: u32 = 4;

/// Points beyond twice the learned run after which all draws are taken back.
const PATIENCE: u64 = 100;

/// Walks at each object.
#[derive(Clone, Debug)]
pub struct Walks<D = Rng> {
    dice: D,
    profile: Profile,
    contests: Vec<Contest>,
    // Whether this run is a plain one; none before its first pick.
    plain: Option<bool>,
    picks: u64,
    last: Option<TaskId>,
}

impl<D: Dice> Walks<D> {
    /// Draws from `dice` by what was learned in `weights`.
    pub fn new(dice: D, weights: Weights) -> Walks<D> {
        let (profile, contests) = Profile::new(weights);
        Walks { dice, profile, contests, plain: None, picks: 0, last: None }
    }

    fn is_plain(&mut self) -> bool {
        let (profile, dice) = (&self.profile, &mut self.dice);
        *self.plain.get_or_insert_with(|| profile.is_empty() || dice.below(PLAIN_ONE_IN) == 0)
    }

    /// Whether no walk tells the task to wait.
    fn may_run(&mut self, view: &View<'_>, task: TaskId) -> bool {
        let Some(place) = self.profile.place(task) else {
            return true;
        };
        let Place { contest, member, .. } = place;
        let reach = |slot| self.profile.reach(view, contest, slot);
        match view.op(task).access() {
            Access::Read => self.contests[contest].may_read(member, &reach, &mut self.dice),
            Access::Write => self.contests[contest].may_write(member, &reach, &mut self.dice),
        }
    }

    /// Anybody who may run; the search begins at a random task, for those that were not learned.
    fn free(&mut self, view: &View<'_>) -> TaskId {
        if let Some(task) = view.enabled.single() {
            return task;
        }
        let count = view.enabled.len();
        let nth = |rank: u32| {
            let task = view.enabled.nth(rank % count);
            task.expect("raddle bug: nobody to pick")
        };
        for _ in 0..RETRIES {
            let start = self.dice.below(count);
            for rank in start..start + count {
                if self.may_run(view, nth(rank)) {
                    return nth(rank);
                }
            }
            self.take_back(view);
        }
        nth(self.dice.below(count))
    }

    fn take_back(&mut self, view: &View<'_>) {
        for task in view.enabled.iter() {
            if let Some(place) = self.profile.place(task) {
                self.contests[place.contest].forget();
            }
        }
    }
}

impl<D: Dice> Policy for Walks<D> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        if self.is_plain() {
            let rank = match view.enabled.single() {
                Some(_) => 0,
                None => self.dice.below(view.enabled.len()),
            };
            return Pick::Run(view.enabled.nth(rank).expect("raddle bug: nobody to pick"));
        }
        self.profile.update(view, self.last, &mut self.contests);
        self.picks += 1;
        if self.picks > 2 * self.profile.length() + PATIENCE {
            self.picks = 0;
            self.take_back(view);
        }
        let task = self.free(view);
        if let Some(place) = self.profile.place(task) {
            let write = view.op(task).access() == Access::Write;
            self.contests[place.contest].ran(place.member, write, place.expected);
        }
        self.profile.ran(task);
        self.last = Some(task);
        Pick::Run(task)
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(self.dice.below(choice.arity))
    }

    fn restart(&mut self, seed: u64) {
        self.dice.reseed(seed);
        self.profile.reset();
        self.contests.iter_mut().for_each(Contest::reset);
        self.plain = None;
        self.picks = 0;
        self.last = None;
    }

    /// A plain run follows no profile, so another could not go on from it. Main alone draws for no contest.
    fn can_reseed(&self) -> bool {
        self.profile.tasks() <= 1 && (self.plain != Some(true) || self.profile.is_empty())
    }

    fn reseed(&mut self, seed: u64) {
        self.dice.reseed(seed);
        if self.plain.take().is_some() {
            self.is_plain();
        }
    }
}
