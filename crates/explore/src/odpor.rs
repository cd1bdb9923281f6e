//! `odpor`: optimal dynamic partial-order reduction after Abdulla, Aronis, Jonsson and Sagonas (POPL
//! 2014, JACM 2017): exactly one run of every partial order, and no run that is cut because all that
//! could go on is known.
//!
//! After each run, for every pair of steps that race, the sequence that reverses them is put together:
//! all steps after the first that do not depend on it, then the second. Unless a sleeping step covers
//! it, it goes into the wakeup tree of the state before the first. A branch of such a tree wakes all
//! who sleep, so that after its last step the run may go on as it likes.
//!
//! Deviations:
//! - Operations may wait. A pair of steps races if nothing leads from the first to the second but their
//!   own conflict, and if the second could be done without the first, by the world's own rules; what
//!   could not be reversed hides no earlier race. Operations that were still waiting at the end, or
//!   could have run, count too.
//! - Of the sequence only what leads to the second step, or to what wakes a sleeper, goes into the tree: the
//!   rest comes by itself, and trees stay small.
//! - A step has the values that it chose in its name. Every other value of a choice is a sequence of
//!   one step, added when the choice is first met.
//! - Objects that two runs came to know only after they parted have other ids in each. They are compared
//!   in one of the runs, if that has announced both operations; where none has, they are taken for one,
//!   which can repeat a partial order and never loses one. Such runs are counted.

use crate::outlook::{Outlook, Sizes};
use crate::path::{Path, Pending};
use crate::systematic::{Request, Search};
use crate::wakeup::{Branch, Initial, Letter, Origin, awakened, insert, weak_initial};
use alloc::sync::Arc;
use raddle_model::plan::Step;
use raddle_model::{Plan, TaskId, Trace, Verdict};

/// What is known of the state before a step.
#[derive(Clone, Default, Debug)]
struct Node {
    /// Steps that need not be taken here: an earlier run has covered what they lead to.
    asleep: Vec<Letter>,
    /// Sequences that must still be taken from here.
    branches: Vec<Branch>,
    /// Later steps that race with the one that is taken from here.
    races: Vec<usize>,
}

/// The search.
#[derive(Clone, Default, Debug)]
pub struct Odpor {
    /// The last run.
    path: Path,
    /// Its steps.
    letters: Vec<Letter>,
    /// One for each of its steps that the search has not left for good.
    nodes: Vec<Node>,
    /// The branch that the run that was asked for takes from the last node.
    taking: Option<Branch>,
    begun: bool,
    runs: u64,
    /// The last run, as letters name it.
    origin: Arc<Origin>,
    redundant: u64,
    sizes: Sizes,
}

impl Odpor {
    /// A search that has not begun.
    pub fn new() -> Odpor {
        Odpor::default()
    }

    /// Runs whose partial order was known.
    pub fn redundant(&self) -> u64 {
        self.redundant
    }

    fn letter(&self, number: usize) -> Letter {
        let stop = &self.path.stops[number];
        let op = self.path.stable(&stop.op);
        let announced = self.announced(stop.task, number);
        Letter { step: self.path.step(number), op, announced, run: self.origin.clone() }
    }

    /// The number of what a task was about to do, if anybody will ask for it.
    fn announced(&self, task: TaskId, number: usize) -> u64 {
        if self.origin.announcements.is_empty() { 0 } else { self.path.announced(task, number) }
    }

    /// Writes the steps of the new run down as letters; those that led it are the same in all runs, unless
    /// the run has objects of its own.
    fn spell(&mut self, known: usize) {
        let late = self.path.has_late_objects();
        let announcements = if late { self.path.announcements() } else { Vec::new() };
        self.origin = Arc::new(Origin { number: self.runs, announcements });
        self.letters.truncate(if late { 0 } else { known });
        for number in self.letters.len()..self.path.stops.len() {
            let letter = self.letter(number);
            self.letters.push(letter);
        }
    }

    /// What a task did or was about to do, with whatever it would choose elsewhere.
    fn letter_of(&self, pending: &Pending) -> Letter {
        let task = self.path.names[pending.task.index()];
        let number = pending.step.unwrap_or(self.path.stops.len());
        Letter {
            step: Step { task, choices: Vec::new() },
            op: self.path.stable(&pending.op),
            announced: self.announced(pending.task, number),
            run: self.origin.clone(),
        }
    }

    /// Adds a sequence that must be taken from the state before a step: letters of the run, and one more.
    /// Nothing is added if a sleeping step covers it. Of the letters only those are kept that lead to the
    /// last one, or to what wakes a sleeper: the others come by themselves.
    fn add(&mut self, number: usize, rest: &[usize], last: &Letter, later: Option<&Pending>) {
        let known = self.path.stops[number].objects;
        let node = &mut self.nodes[number];
        let mut kept = vec![false; rest.len()];
        for sleeper in &node.asleep {
            let sequence = rest.iter().map(|&step| &self.letters[step]).chain([last]);
            match awakened(sleeper, sequence, known) {
                Some(position) if position < rest.len() => kept[position] = true,
                Some(_) => {}
                None => return,
            }
        }
        for position in (0..rest.len()).rev() {
            let step = rest[position];
            let leads = later.is_some_and(|later| {
                self.path.leads_to(step, later) || self.path.stops[step].op.conflicts(&later.op)
            });
            let path = &self.path;
            let mut after = rest.iter().zip(&kept).skip(position + 1);
            kept[position] =
                kept[position] || leads || after.any(|(&next, &kept)| kept && path.ordered(step, next));
        }
        let letters = rest.iter().zip(&kept).filter(|pair| *pair.1).map(|(&step, _)| &self.letters[step]);
        insert(&mut node.branches, letters.chain([last]).collect(), known);
    }

    /// The other values of the choices in a step.
    fn add_choices(&mut self, number: usize) {
        if self.path.stops[number].choices.is_empty() {
            return;
        }
        let letter = self.letters[number].clone();
        let choices = self.path.stops[number].choices.clone();
        for (position, &(arity, taken)) in choices.iter().enumerate() {
            for value in (0..arity).filter(|&value| value != taken) {
                let mut other = letter.clone();
                other.step.choices.truncate(position);
                other.step.choices.push(value);
                self.add(number, &[], &other, None);
            }
        }
    }

    /// Adds the reversals of the races of the run. A pair of steps that led the run was looked at in the run
    /// in which its second was new; what this run did later can matter only to somebody who sleeps, or if
    /// it has other values in it.
    fn reverse_races(&mut self, known: usize) {
        let chose = self.path.stops[known..].iter().any(|stop| !stop.choices.is_empty());
        for earlier in 0..known.min(self.nodes.len()) {
            let node = &mut self.nodes[earlier];
            node.races.retain(|&later| later < known);
            if node.asleep.is_empty() && !chose || node.races.is_empty() {
                continue;
            }
            let rest: Vec<usize> = self.path.independent_of(earlier).collect();
            for position in 0..self.nodes[earlier].races.len() {
                let later = self.nodes[earlier].races[position];
                let last = Letter { step: self.path.free_step(later), ..self.letters[later].clone() };
                let later = self.path.at(later);
                self.add(earlier, &rest, &last, Some(&later));
            }
        }
        let done = (known.max(1)..self.path.stops.len()).map(|step| self.path.at(step));
        let all: Vec<Pending> = done.chain(self.path.left()).collect();
        let (mut rivals, mut races, mut rest) = (Vec::new(), Vec::<usize>::new(), Vec::new());
        for later in all {
            rivals.clear();
            races.clear();
            self.path.each_rival(&later, |step| rivals.push(step));
            for &earlier in &rivals {
                let hidden = races.iter().any(|&race| self.path.ordered(earlier, race));
                if hidden || !self.path.is_possible_without(earlier, &later) {
                    continue;
                }
                races.push(earlier);
                self.nodes[earlier].races.extend(later.step);
                rest.clear();
                rest.extend(self.path.independent_of(earlier));
                let last = self.letter_of(&later);
                self.add(earlier, &rest, &last, Some(&later));
            }
        }
    }
}

impl Search for Odpor {
    fn next(&mut self) -> Option<Request> {
        if !self.begun {
            self.begun = true;
            return Some(Request::new(vec![Step::default()]));
        }
        while let Some(number) = self.nodes.len().checked_sub(1) {
            // A step that a bound forbids was asked for and not taken.
            let taken = self.letters.get(number).cloned();
            self.sizes.end(number, self.runs);
            let node = &mut self.nodes[number];
            node.asleep.extend(taken);
            if node.branches.is_empty() {
                self.nodes.pop();
                continue;
            }
            let branch = node.branches.remove(0);
            node.races.clear();
            self.sizes.begin(number, self.runs);
            let mut steps: Vec<Step> = (0..number).map(|number| self.path.step(number)).collect();
            steps.extend(branch.first().map(|letter| letter.step.clone()));
            self.taking = Some(branch);
            return Some(Request::new(steps));
        }
        None
    }

    fn learn(&mut self, plan: &Plan, trace: &Trace, _: &Verdict) {
        self.runs += 1;
        let known = self.nodes.len().saturating_sub(1);
        self.path.follow(trace, plan.spurious_max, known);
        self.spell(known);
        let mut branch = self.taking.take();
        for number in known..self.path.stops.len() {
            if number == self.nodes.len() {
                let (next, others) = branch.map_or((None, Vec::new()), Branch::after);
                branch = next;
                self.nodes.push(self.node(number, others));
                self.sizes.begin(number, self.runs - 1);
            }
            let letter = &self.letters[number];
            let objects = self.path.stops[number].objects;
            let sleeps = |other: &Letter| weak_initial(other, [letter], objects) == Initial::At(0);
            if self.nodes[number].asleep.iter().any(sleeps) {
                self.redundant += 1;
                self.nodes.truncate(number);
                return;
            }
            self.add_choices(number);
        }
        self.reverse_races(known);
    }

    fn restart(&mut self) {
        *self = Odpor::default();
    }

    fn outlook(&self) -> Option<Outlook> {
        Some(self.sizes.outlook(self.nodes.iter().map(|node| node.branches.iter().map(Branch::leaves).sum())))
    }
}

impl Odpor {
    /// The state before a new step: who still sleeps, and what is left of the branch.
    fn node(&self, number: usize, branches: Vec<Branch>) -> Node {
        let Some(before) = number.checked_sub(1) else { return Node::default() };
        let taken = &self.letters[before];
        let objects = self.path.stops[before].objects;
        let sleeps = |other: &&Letter| weak_initial(other, [taken], objects) == Initial::Apart;
        let asleep = self.nodes[before].asleep.iter().filter(sleeps).cloned().collect();
        Node { asleep, branches, races: Vec::new() }
    }
}
