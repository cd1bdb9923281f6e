//! `coverage`: always tries something new (Stoller, RV 2002, after Edelstein et al., IBM Systems
//! Journal 2002). Covered are the sites at which a switch happened, and the pairs of sites (where the
//! one task stood, what the other did next), over this run and all earlier ones that the plan knows.
//! A switch that covers a new site or pair is preferred, uniformly among all such; where there is
//! none, the pick is uniform over the enabled tasks.
//!
//! Deviation: the papers speak of methods; a site stands for its method here, which is finer.
//!
//! [`switches`] reads the same off a trace, so that an explorer can learn what a run has covered.

use alloc::boxed::Box;
use alloc::vec::Vec;
use raddle_model::plan::Covered;
use raddle_model::{
    Choice, Dice, Divergence, Kind, Pick, PointSet, Policy, Rng, SiteId, TaskId, TaskSet, Trace, View,
};

/// Prefers switches that cover something new.
#[derive(Clone, Debug)]
pub struct Coverage<D = Rng> {
    dice: D,
    before: Covered,
    // What this run has covered beyond `before`.
    here: Covered,
    new: TaskSet,
}

impl<D: Dice> Coverage<D> {
    /// Draws from `dice`; `before` is what earlier runs have covered.
    pub fn new(dice: D, before: Covered) -> Coverage<D> {
        Coverage { dice, before, here: Covered::default(), new: TaskSet::EMPTY }
    }

    /// What this run has covered that no earlier one had.
    pub fn new_in_this_run(&self) -> &Covered {
        &self.here
    }

    fn covers(&self, from: SiteId, to: SiteId) -> bool {
        self.before.contains(from, to) || self.here.contains(from, to)
    }

    fn uniform(&mut self, tasks: &TaskSet) -> TaskId {
        let rank = if tasks.single().is_some() { 0 } else { self.dice.below(tasks.len()) };
        tasks.nth(rank).expect("raddle bug: nobody to pick")
    }
}

impl<D: Dice> Policy for Coverage<D> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        let Some(current) = view.current.filter(|&task| view.world.is_live(task)) else {
            return Pick::Run(self.uniform(view.enabled));
        };
        let from = view.op(current).site;
        let mut new = core::mem::take(&mut self.new);
        new.clear();
        if view.enabled.single().is_none() {
            for task in view.enabled.iter().filter(|&task| task != current) {
                // A pair is new wherever its site is: a site enters together with a pair.
                new.set(task, !self.covers(from, view.op(task).site));
            }
        }
        let task = self.uniform(if new.is_empty() { view.enabled } else { &new });
        self.new = new;
        let to = view.op(task).site;
        if task != current && !self.before.contains(from, to) {
            self.here.insert(from, to);
        }
        Pick::Run(task)
    }

    fn choose(&mut self, choice: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(self.dice.below(choice.arity))
    }

    fn restart(&mut self, seed: u64) {
        self.dice.reseed(seed);
        self.here.clear();
    }

    /// Main alone cannot switch, and nothing is drawn where there is no choice.
    fn can_reseed(&self) -> bool {
        self.here.pairs.is_empty()
    }

    fn reseed(&mut self, seed: u64) {
        self.dice.reseed(seed);
    }
}

/// The switches of a run under these points, in order: where the one task stood, what the other did.
pub fn switches(trace: &Trace, points: &PointSet) -> Vec<(SiteId, SiteId)> {
    // Backwards, what a task stands at is the operation of the point that was seen last.
    let mut stands: Vec<Option<SiteId>> = alloc::vec![None; trace.names.len()];
    for (task, op) in &trace.pending {
        stands[task.index()] = Some(op.site);
    }
    let mut found = Vec::new();
    let mut next: Option<(TaskId, SiteId)> = None;
    let picked = trace.events.iter().rev().filter(|e| points.contains(&e.op));
    for event in picked {
        if let Some((task, to)) = next
            && task != event.task
            && event.op.kind != Kind::Exit
            && let Some(from) = stands[event.task.index()]
        {
            found.push((from, to));
        }
        stands[event.task.index()] = Some(event.op.site);
        next = Some((event.task, event.op.site));
    }
    found.reverse();
    found
}
