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
//! - A step has the values that it chose in its name. Every other value of a choice is a sequence of
//!   one step, added when the choice is first met.
//! - Objects that two runs came to know only after they parted have other ids in each. They are compared
//!   in one of the runs, if that has announced both operations; where none has, they are taken for one,
//!   which can repeat a partial order and never loses one. Such runs are counted.

use crate::path::{Path, Pending};
use crate::systematic::{Request, Search};
use crate::wakeup::{Branch, Initial, Letter, Origin, insert, weak_initial};
use alloc::sync::Arc;
use raddle_model::plan::Step;
use raddle_model::{Plan, Trace, Verdict};

/// What is known of the state before a step.
#[derive(Clone, Default, Debug)]
struct Node {
    /// Steps that need not be taken here: an earlier run has covered what they lead to.
    asleep: Vec<Letter>,
    /// Sequences that must still be taken from here.
    branches: Vec<Branch>,
}

/// The search.
#[derive(Clone, Default, Debug)]
pub struct Odpor {
    /// The last run.
    path: Path,
    /// One for each of its steps that the search has not left for good.
    nodes: Vec<Node>,
    /// The branch that the run that was asked for takes from the last node.
    taking: Option<Branch>,
    begun: bool,
    runs: u64,
    /// The last run, as letters name it.
    origin: Arc<Origin>,
    redundant: u64,
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
        Letter {
            step: self.path.step(number),
            op: self.path.stable(&stop.op),
            announced: self.path.announced(stop.task, number),
            run: self.origin.clone(),
        }
    }

    /// What a task did or was about to do, with whatever it would choose elsewhere.
    fn letter_of(&self, pending: &Pending) -> Letter {
        let task = self.path.names[pending.task.index()];
        let number = pending.step.unwrap_or(self.path.stops.len());
        Letter {
            step: Step { task, choices: Vec::new() },
            op: self.path.stable(&pending.op),
            announced: self.path.announced(pending.task, number),
            run: self.origin.clone(),
        }
    }

    /// Adds a sequence that must be taken from the state before a step.
    fn add(&mut self, number: usize, sequence: Vec<Letter>) {
        let known = self.path.stops[number].objects;
        let node = &mut self.nodes[number];
        let covers = |letter: &Letter| weak_initial(letter, &sequence, known) != Initial::No;
        if !node.asleep.iter().any(covers) {
            insert(&mut node.branches, sequence, known);
        }
    }

    /// The other values of the choices in a step.
    fn add_choices(&mut self, number: usize) {
        let letter = self.letter(number);
        let choices = self.path.stops[number].choices.clone();
        for (position, &(arity, taken)) in choices.iter().enumerate() {
            for value in (0..arity).filter(|&value| value != taken) {
                let mut other = letter.clone();
                other.step.choices.truncate(position);
                other.step.choices.push(value);
                self.add(number, vec![other]);
            }
        }
    }

    /// Adds the reversals of all races of the run.
    fn reverse_races(&mut self) {
        let done = (1..self.path.stops.len()).map(|step| self.path.at(step));
        let all: Vec<Pending> = done.chain(self.path.left()).collect();
        for later in all {
            let mut rivals = Vec::new();
            self.path.each_rival(&later, |step| rivals.push(step));
            let mut races: Vec<usize> = Vec::new();
            for earlier in rivals {
                let hidden = races.iter().any(|&race| self.path.ordered(earlier, race));
                if hidden || !self.path.is_possible_without(earlier, &later) {
                    continue;
                }
                races.push(earlier);
                let rest = self.path.independent_of(earlier).map(|step| self.letter(step));
                let sequence = rest.chain([self.letter_of(&later)]).collect();
                self.add(earlier, sequence);
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
            let taken = (number < self.path.stops.len()).then(|| self.letter(number));
            let node = &mut self.nodes[number];
            node.asleep.extend(taken);
            if node.branches.is_empty() {
                self.nodes.pop();
                continue;
            }
            let branch = node.branches.remove(0);
            let mut steps: Vec<Step> = (0..number).map(|number| self.path.step(number)).collect();
            let mut last = &branch;
            steps.push(last.letter.step.clone());
            while let Some(next) = last.rest.first() {
                steps.push(next.letter.step.clone());
                last = next;
            }
            self.taking = Some(branch);
            return Some(Request::new(steps));
        }
        None
    }

    fn learn(&mut self, plan: &Plan, trace: &Trace, _: &Verdict) {
        self.runs += 1;
        let known = self.nodes.len().saturating_sub(1);
        self.path.follow(trace, plan.spurious_max, known);
        let late = self.path.has_late_objects();
        let announcements = if late { self.path.announcements() } else { Vec::new() };
        self.origin = Arc::new(Origin { number: self.runs, announcements });
        let mut branch = self.taking.take();
        for number in known..self.path.stops.len() {
            if number == self.nodes.len() {
                self.nodes.push(self.node(number, branch.as_mut()));
                branch = branch.and_then(|branch| branch.rest.into_iter().next());
            }
            let letter = self.letter(number);
            let objects = self.path.stops[number].objects;
            let sleeps = |other: &Letter| {
                weak_initial(other, std::slice::from_ref(&letter), objects) == Initial::At(0)
            };
            if self.nodes[number].asleep.iter().any(sleeps) {
                self.redundant += 1;
                self.nodes.truncate(number);
                return;
            }
            self.add_choices(number);
        }
        self.reverse_races();
    }

    fn restart(&mut self) {
        *self = Odpor::default();
    }
}

impl Odpor {
    /// The state before a new step: who still sleeps, and what is left of the branch.
    fn node(&self, number: usize, branch: Option<&mut Branch>) -> Node {
        let Some(before) = number.checked_sub(1) else { return Node::default() };
        let taken = self.letter(before);
        let objects = self.path.stops[before].objects;
        let sleeps =
            |other: &&Letter| weak_initial(other, std::slice::from_ref(&taken), objects) == Initial::Apart;
        let asleep = self.nodes[before].asleep.iter().filter(sleeps).cloned().collect();
        let branches = branch.map_or_else(Vec::new, |branch| {
            let first = usize::from(!branch.rest.is_empty());
            branch.rest.drain(first..).collect()
        });
        Node { asleep, branches }
    }
}
