//! `rapos`: random partial order sampling (Sen, ASE 2007, fig. 4 and 5). In each round a random set
//! of mutually independent operations runs in one fixed order; whoever could have run and did not
//! sleeps until something that conflicts with its operation has run.
//!
//! Follows the paper in this: the first element of a set is uniform among the schedulable tasks;
//! the others follow in ascending order, each that is independent of all before it with
//! probability 1/2; if nobody is schedulable, one enabled task, uniformly, is.
//!
//! The paper's model has a fixed set of threads, so fig. 4 leaves open whether a thread that was
//! started is schedulable at once. §3.4 says in words who is: those that something dependent has
//! woken, and those that have just run. A new thread is neither and sleeps. The figures of the
//! paper agree: the 230 to 259 partial orders of 300 runs of its collections are reached only if
//! main starts all threads before any of them runs (`docs/rapos.md`). Who is there at the first
//! point is schedulable.
//!
//! Deviations:
//! - Sleeping from the start, a task could never come before what its maker does next, and theorem 1
//!   (every partial order has a positive probability) would be lost. So in one run of
//!   [`EARLY_ONE_IN`] a task is schedulable when it is made, as the theory of sleep sets has it:
//!   what enables an operation is dependent on it.
//! - An operation that is no scheduling point (giving back a lock, …) rides along with the point
//!   before it. Who was blocked and can run because of it depends on the set, and is schedulable;
//!   that is all such an operation can do to others.
//! - The paper assumes that every task ends. Here a task that keeps the others asleep for
//!   [`PATIENCE`] rounds wakes them all: a spin loop would run for ever otherwise.

use crate::footprint::Footprint;
use alloc::boxed::Box;
use raddle_model::{Choice, Dice, Divergence, Pick, Policy, Rng, TaskId, TaskSet, View};

/// Rounds in a row with nobody woken up after which all are woken.
pub const PATIENCE: u32 = 1_000;

/// In one run of so many a task may be in a set as soon as it is made.
pub const EARLY_ONE_IN: u32 = 32;

/// Runs random independent sets.
#[derive(Clone, Debug)]
pub struct Rapos<D = Rng> {
    dice: D,
    // invariant: members of the current set that are still to run.
    remaining: TaskSet,
    // invariant: enabled when the current set was drawn, and not in it.
    asleep: TaskSet,
    schedulable: TaskSet,
    scheduled: Footprint,
    rounds_asleep: u32,
    // Tasks that there were when the current set was drawn; none before the first.
    known: usize,
    // Whether new tasks are schedulable in this run; none before there is one.
    early: Option<bool>,
}

impl<D: Dice> Rapos<D> {
    /// Draws from `dice`.
    pub fn new(dice: D) -> Rapos<D> {
        Rapos {
            dice,
            remaining: TaskSet::EMPTY,
            asleep: TaskSet::EMPTY,
            schedulable: TaskSet::EMPTY,
            scheduled: Footprint::default(),
            rounds_asleep: 0,
            known: 0,
            early: None,
        }
    }

    fn uniform(&mut self, tasks: &TaskSet) -> TaskId {
        let rank = if tasks.single().is_some() { 0 } else { self.dice.below(tasks.len()) };
        tasks.nth(rank).expect("raddle bug: nobody to pick")
    }

    /// The set that has run decides who may be in the next: who depends on it.
    fn wake(&mut self, view: &View<'_>) {
        self.schedulable.copy_from(view.enabled);
        let slept = !self.asleep.is_empty();
        for task in self.asleep.iter() {
            if !self.scheduled.conflicts(view.op(task)) {
                self.schedulable.remove(task);
            }
        }
        if self.known > 0 {
            self.lull(view);
        }
        let woke = self.asleep.iter().any(|task| self.schedulable.contains(task));
        self.rounds_asleep = if slept && !woke { self.rounds_asleep + 1 } else { 0 };
        if self.rounds_asleep >= PATIENCE {
            self.rounds_asleep = 0;
            self.schedulable.copy_from(view.enabled);
        }
        if self.schedulable.is_empty() {
            let task = self.uniform(view.enabled);
            self.schedulable.insert(task);
        }
    }

    /// Tasks that were made since the set was drawn begin by sleeping.
    fn lull(&mut self, view: &View<'_>) {
        for index in self.known..view.world.tasks().len() {
            let task = TaskId(index as u32);
            if !view.enabled.contains(task) || self.scheduled.conflicts(view.op(task)) {
                continue;
            }
            let dice = &mut self.dice;
            if !*self.early.get_or_insert_with(|| dice.below(EARLY_ONE_IN) == 0) {
                self.schedulable.remove(task);
            }
        }
    }

    /// Fig. 5: draws a set of independent operations out of `schedulable`.
    fn draw(&mut self, view: &View<'_>) {
        let schedulable = core::mem::take(&mut self.schedulable);
        let first = self.uniform(&schedulable);
        self.scheduled.clear();
        self.remaining.clear();
        self.scheduled.insert(view.op(first));
        self.remaining.insert(first);
        for task in schedulable.iter().filter(|&task| task != first) {
            if !self.scheduled.conflicts(view.op(task)) && self.dice.coin() {
                self.scheduled.insert(view.op(task));
                self.remaining.insert(task);
            }
        }
        self.schedulable = schedulable;
        self.asleep.copy_from(view.enabled);
        self.asleep.subtract(&self.remaining);
        self.known = view.world.tasks().len();
    }

    /// The next of the current set. One that cannot run any more is left out: independent
    /// operations do not disable each other, but the engine may hold a task back for its own
    /// reasons (spinning, lazy time).
    fn next(&mut self, view: &View<'_>) -> Option<TaskId> {
        while let Some(task) = self.remaining.first() {
            self.remaining.remove(task);
            if view.enabled.contains(task) {
                return Some(task);
            }
        }
        None
    }
}

impl<D: Dice> Policy for Rapos<D> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        if let Some(task) = self.next(view) {
            return Pick::Run(task);
        }
        self.wake(view);
        self.draw(view);
        Pick::Run(self.next(view).expect("raddle bug: an empty set was drawn"))
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(self.dice.below(choice.arity))
    }

    fn restart(&mut self, seed: u64) {
        self.dice.reseed(seed);
        self.remaining.clear();
        self.asleep.clear();
        self.scheduled.clear();
        self.rounds_asleep = 0;
        self.known = 0;
        self.early = None;
    }

    /// A set of one is not drawn, and nobody sleeps meanwhile.
    fn can_reseed(&self) -> bool {
        self.asleep.is_empty() && self.remaining.is_empty() && self.early.is_none()
    }

    fn reseed(&mut self, seed: u64) {
        self.dice.reseed(seed);
    }
}
