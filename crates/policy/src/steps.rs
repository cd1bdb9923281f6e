//! `steps`: the policy of systematic search. It takes the steps of its plan one by one, each named by
//! its task, and then goes on as `stay` does, leaving alone who is asleep: a sleeper is about to do
//! what an earlier run has done from here, so running it would lead into a partial order that is
//! known. It wakes when something happens that conflicts with what it is about to do.

use crate::stay::{stay, stay_or_any};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use raddle_model::plan::{Step, Steps};
use raddle_model::{Choice, Dice, Divergence, Pick, Policy, Rng, TaskId, TaskSet, View, World};

/// Follows steps.
#[derive(Clone, Debug)]
pub struct Stepwise {
    plan: Steps,
    // What stands for the steps between two runs; none while it does. To count its owners each time would take longer than to move it.
    none: Option<Arc<Vec<Step>>>,
    // The step of the plan that the run is in; the first begins with the run, or where it went on from.
    position: usize,
    // Steps that were taken before the plan's first.
    before: usize,
    // Choices made in it.
    choices: usize,
    // Who sleeps; none until the steps have been taken.
    asleep: Option<TaskSet>,
    // Nobody sleeps, or will, once the steps have been taken, and the rest is not random: whoever can go on then does.
    quiet: bool,
    // Who goes on where a task cannot; the next in turn if there is none.
    dice: Option<Rng>,
    // Who goes on at all, in a random rest.
    rng: Rng,
}

impl Stepwise {
    /// Takes the steps of `plan`. The seed says who goes on after them where a task cannot: with 0 the next in
    /// turn, else any.
    pub fn new(plan: Steps, seed: u64) -> Stepwise {
        let (dice, rng) = (dice(seed), Rng::new(seed));
        let quiet = is_quiet(&plan);
        Stepwise {
            plan,
            none: Some(Arc::default()),
            position: 0,
            before: 0,
            choices: 0,
            asleep: None,
            quiet,
            dice,
            rng,
        }
    }

    /// Takes the steps of another plan.
    pub(crate) fn renew(&mut self, plan: &Steps, seed: u64) {
        let Steps { steps, sleep, random, run_on, timeouts_max, sections } = plan;
        let old = core::mem::replace(&mut self.plan.steps, steps.clone());
        self.none.get_or_insert(old);
        self.plan.sleep.clone_from(sleep);
        (self.plan.random, self.plan.run_on) = (*random, *run_on);
        (self.plan.timeouts_max, self.plan.sections) = (*timeouts_max, *sections);
        self.restart(seed);
    }

    /// The run is over, and its steps can be changed where they are.
    pub(crate) fn let_go(&mut self) {
        if let Some(none) = self.none.take() {
            self.plan.steps = none;
        }
    }

    /// Goes on with another plan from where it is. The steps up to here are those of both; `rest` has what comes
    /// then. What was taken is left out: there may be so much of it that to write it down takes longer than the rest.
    pub(crate) fn go_on(&mut self, mut rest: Steps, seed: u64) {
        let (before, choices) = (self.before + self.position, self.choices);
        // A quiet step was in no plan.
        let here = self.plan.steps.get(self.position).cloned().unwrap_or_default();
        Arc::make_mut(&mut rest.steps).insert(0, here);
        self.plan = rest;
        self.restart(seed);
        (self.before, self.choices) = (before, choices);
    }

    fn diverged(&self, expected: String, found: String) -> Box<Divergence> {
        Box::new(Divergence { step: 0, decision: self.before + self.position, expected, found })
    }

    #[cold]
    fn cannot(&self, name: u64, view: &View<'_>) -> Pick {
        let known = view.world.live().find(|&task| view.world.task(task).name == name);
        if known.is_some_and(|task| view.world.enabled_tasks().contains(task)) {
            // It spins, or has timed out too often, and is held back: that is a bound of the search.
            return Pick::Cut;
        }
        let expected = match known {
            Some(task) => format!("{} to run", view.world.path(task)),
            None => format!("a task to run that is not there ({name:x})"),
        };
        let able = view.enabled.iter().map(|task| view.world.path(task));
        let able: alloc::vec::Vec<String> = able.collect();
        Pick::Diverged(self.diverged(expected, format!("a choice between {}", able.join(", "))))
    }

    fn awake(&mut self, view: &View<'_>) -> Pick {
        let plan = &self.plan;
        let asleep = self.asleep.get_or_insert_with(|| {
            let sleeps = |task: &TaskId| plan.sleep.contains(&view.world.task(*task).name);
            // Nearly always nobody does.
            if plan.sleep.is_empty() { TaskSet::EMPTY } else { view.world.live().filter(sleeps).collect() }
        });
        if plan.random {
            return Pick::Run(view.enabled.draw(&mut self.rng));
        }
        if asleep.is_empty() {
            self.quiet = true;
            return Pick::Run(quiet(&mut self.dice, view));
        }
        let mut enabled = view.enabled.clone();
        enabled.subtract(asleep);
        if enabled.is_empty() {
            return Pick::Cut;
        }
        let task = quiet(&mut self.dice, &View { enabled: &enabled, ..*view });
        let op = view.op(task);
        let woken: TaskSet = asleep.iter().filter(|&sleeper| view.op(sleeper).conflicts(op)).collect();
        asleep.subtract(&woken);
        Pick::Run(task)
    }
}

/// Whether nobody sleeps after the steps of a plan, and the rest is not random.
fn is_quiet(plan: &Steps) -> bool {
    plan.sleep.is_empty() && !plan.random
}

fn dice(seed: u64) -> Option<Rng> {
    (seed != 0).then(|| Rng::new(seed))
}

/// Who runs if nobody is preempted.
fn quiet(dice: &mut Option<Rng>, view: &View<'_>) -> TaskId {
    match dice {
        None => stay(view),
        Some(dice) => stay_or_any(view, dice),
    }
}

impl Policy for Stepwise {
    #[inline(always)]
    fn stays(&mut self, task: TaskId, _: &TaskSet, world: &World) -> bool {
        let stays = match self.plan.steps.get(self.position + 1) {
            Some(step) => step.task == world.task(task).name,
            // Plain operations do not offer the processor.
            None => self.quiet,
        };
        if stays {
            self.choices = 0;
            self.position += 1;
        }
        stays
    }

    #[inline(always)]
    fn stays_in_search(&mut self, task: TaskId, world: &World) -> bool {
        let stays = match self.plan.steps.get(self.position + 1) {
            Some(step) => step.task == world.task(task).name,
            None => self.quiet,
        };
        if stays {
            self.choices = 0;
            self.position += 1;
        }
        stays
    }

    /// Whoever comes after the steps goes on as long as it can.
    #[inline]
    fn spell(&self, _: TaskId, _: u64, _: usize) -> u64 {
        let free = self.quiet && self.position + 1 >= self.plan.steps.len();
        if free { u64::MAX } else { 0 }
    }

    #[inline]
    fn spent(&mut self, points: u64, _: bool) {
        self.choices = 0;
        self.position += points as usize;
    }

    #[inline(always)]
    fn next_in_search(&self, enabled: u64, current: TaskId, world: &World) -> Option<TaskId> {
        let task = |bits: u64| TaskId(bits.trailing_zeros());
        match self.plan.steps.get(self.position + 1) {
            Some(step) => {
                let mut left = enabled;
                while left != 0 {
                    if world.task(task(left)).name == step.task {
                        return Some(task(left));
                    }
                    left &= left - 1;
                }
                None
            }
            // The next in turn, as `stay` has it, if the one that ran last cannot go on.
            None => {
                let after = enabled & (u64::MAX << 1 << (current.0 & 63));
                let able = enabled != 0 && enabled >> (current.0 & 63) & 1 == 0;
                (self.quiet && self.dice.is_none() && able)
                    .then(|| task(if after != 0 { after } else { enabled }))
            }
        }
    }

    #[inline(always)]
    fn goes_on_in_search(&mut self) {
        self.choices = 0;
        self.position += 1;
    }

    fn pick(&mut self, view: &View<'_>) -> Pick {
        self.choices = 0;
        self.position += 1;
        let Some(step) = self.plan.steps.get(self.position) else {
            return self.awake(view);
        };
        let wanted = view.enabled.iter().find(|&task| view.world.task(task).name == step.task);
        match wanted {
            Some(task) => Pick::Run(task),
            None => self.cannot(step.task, view),
        }
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        let step = self.plan.steps.get(self.position);
        let value = step.and_then(|step| step.choices.get(self.choices)).copied();
        self.choices += 1;
        match value {
            None if self.plan.random => Ok(self.rng.below(choice.arity)),
            None => Ok(0),
            Some(value) if value < choice.arity => Ok(value),
            Some(value) => {
                let expected = format!("the value {value} to be chosen");
                Err(self.diverged(expected, format!("a choice among {} values", choice.arity)))
            }
        }
    }

    fn finished(&mut self, _: u64) -> Result<(), Box<Divergence>> {
        if self.position + 1 >= self.plan.steps.len() {
            return Ok(());
        }
        let left = self.plan.steps.len() - self.position - 1;
        Err(self.diverged(format!("{left} more steps"), String::from("the end of the run")))
    }

    fn skip(&mut self, points: usize) {
        self.position = points;
    }

    fn restart(&mut self, seed: u64) {
        self.rng.reseed(seed);
        self.dice = dice(seed);
        (self.position, self.before) = (0, 0);
        self.choices = 0;
        self.asleep = None;
        // Known before the steps have been taken: the first point after them is like all others.
        self.quiet = is_quiet(&self.plan);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether main goes on at the first point and at the one after that, if it was a step of the plan; asked in both ways.
    fn stays(plan: &Steps) -> [bool; 2] {
        let mut world = World::default();
        world.begin(0);
        let main = world.task(TaskId::MAIN).name;
        let steps = [Step::default(), Step { task: main, choices: Vec::new() }];
        let plan = Steps { steps: Arc::new(steps.to_vec()), ..plan.clone() };
        let (mut one, mut other) = (Stepwise::new(plan.clone(), 0), Stepwise::new(Steps::default(), 0));
        other.renew(&plan, 0);
        let asked = [(); 2].map(|()| one.stays(TaskId::MAIN, &TaskSet::EMPTY, &world));
        assert_eq!(asked, [(); 2].map(|()| other.stays_in_search(TaskId::MAIN, &world)));
        asked
    }

    /// Nobody need be picked first where that is so; whom a sleeper or a toss keeps from going on is for `pick` to say.
    #[test]
    fn who_is_after_the_steps_goes_on_if_nobody_sleeps() {
        assert_eq!(stays(&Steps::default()), [true, true]);
        assert_eq!(stays(&Steps { sleep: Vec::from([7]), ..Steps::default() }), [true, false]);
        assert_eq!(stays(&Steps { random: true, ..Steps::default() }), [true, false]);
    }
}
