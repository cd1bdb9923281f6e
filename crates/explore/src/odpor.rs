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
use crate::path::{Path, Pending, Stop};
use crate::systematic::{Request, Search};
use crate::wakeup::{Branch, LAST, Letter, More, Origin, Relation, Sequence, insert};
use alloc::sync::Arc;
use raddle_model::plan::Step;
use raddle_model::{Plan, TaskId, Trace, Verdict};
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, Put, Take};

/// What is known of the state before a step.
#[derive(Clone, Default, Debug)]
struct Node {
    /// Steps that need not be taken here: an earlier run has covered what they lead to.
    asleep: Vec<Letter>,
    /// Sequences that must still be taken from here.
    branches: Vec<Branch>,
    /// Whether all of that, and the step that is taken from here, is in the journal.
    saved: bool,
}

/// Two steps of the current run that race.
#[derive(Clone, Copy, Debug)]
struct Race {
    earlier: usize,
    later: usize,
    /// Why its reversal was added, or was not.
    cause: Cause,
}

/// What the answer to whether a reversal is to be taken depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    /// On no step after this one.
    Until(usize),
    /// Nothing wakes this sleeper.
    Covered(usize),
}

impl Race {
    fn save(&self, put: &mut Put<'_>) {
        let (covered, number) = match self.cause {
            Cause::Until(step) => (false, step),
            Cause::Covered(sleeper) => (true, sleeper),
        };
        put.number(self.earlier as u64);
        put.flag(covered);
        put.number(number as u64);
    }

    fn load(take: &mut Take<'_>, later: usize) -> Result<Race, Unpack> {
        let (earlier, covered, number) = (take.size()?, take.flag()?, take.size()?);
        Ok(Race {
            earlier,
            later,
            cause: if covered { Cause::Covered(number) } else { Cause::Until(number) },
        })
    }
}

/// The search.
#[derive(Clone, Default, Debug)]
pub struct Odpor {
    /// The last run.
    path: Path,
    /// Its steps.
    letters: Vec<Letter>,
    /// One for each of its steps that the search has not left for good, and behind them some that it has, for their
    /// memory.
    nodes: Vec<Node>,
    /// Number of the former.
    depth: usize,
    /// In the order of the later steps.
    races: Vec<Race>,
    /// The branch that the run that was asked for takes from the last node.
    taking: Option<Branch>,
    begun: bool,
    runs: u64,
    /// The last run, as letters name it, if it has objects of its own.
    origin: Option<Arc<Origin>>,
    redundant: u64,
    sizes: Sizes,
    scratch: Scratch,
}

/// Memory for what is put together again and again.
#[derive(Clone, Default, Debug)]
struct Scratch {
    steps: Vec<usize>,
    wakers: Vec<usize>,
    needed: Vec<u32>,
    rivals: Vec<usize>,
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
        let Stop { task, op, .. } = &self.path.stops[number];
        let choices = self.path.choices(number);
        let more = (self.origin.is_some() || !choices.is_empty()).then(|| {
            let choices = choices.iter().map(|&(_, value)| value).collect();
            Box::new(More { choices, run: self.announcement(*task, number) })
        });
        Letter { task: self.path.names[task.index()], op: self.path.stable(op), more }
    }

    /// The run, and the number of what a task was about to do in it, if anybody will ask for it.
    fn announcement(&self, task: TaskId, number: usize) -> Option<(Arc<Origin>, u64)> {
        self.origin.clone().map(|origin| (origin, self.path.announced(task, number)))
    }

    /// Writes the steps of the new run down as letters; those that led it are the same in all runs, unless
    /// the run has objects of its own.
    fn spell(&mut self, known: usize) {
        let late = self.path.has_late_objects();
        self.origin =
            late.then(|| Arc::new(Origin { number: self.runs, announcements: self.path.announcements() }));
        self.letters.truncate(if late { 0 } else { known });
        for number in self.letters.len()..self.path.stops.len() {
            let letter = self.letter(number);
            self.letters.push(letter);
        }
    }

    /// What a task did or was about to do, with whatever it would choose elsewhere.
    fn letter_of(&self, pending: &Pending) -> Letter {
        let run = self.announcement(pending.task, self.path.end(pending));
        Letter {
            task: self.path.names[pending.task.index()],
            op: self.path.stable(&pending.op),
            more: run.map(|run| Box::new(More { choices: Vec::new(), run: Some(run) })),
        }
    }

    /// The steps after `earlier` that do not depend on it, and then `later`, are a sequence that must be taken
    /// from the state before `earlier`. Nothing is added if a sleeping step covers it. Of the steps only
    /// those are kept that lead to the last one, or to what wakes a sleeper: the others come by themselves.
    fn reverse(&mut self, earlier: usize, later: &Pending) -> Cause {
        let last = self.letter_of(later);
        let Odpor { path, letters, nodes, scratch, .. } = self;
        let known = path.stops[earlier].objects;
        let node = &mut nodes[earlier];
        let Scratch { steps, wakers, needed, .. } = scratch;
        wakers.clear();
        steps.clear();
        if !node.asleep.is_empty() {
            steps.extend(path.independent_of(earlier));
        }
        for (position, sleeper) in node.asleep.iter().enumerate() {
            let mut rest = steps.iter().copied();
            let meets = rest.find(|&step| sleeper.relation(&letters[step], known) != Relation::Apart);
            let met = meets.map_or(&last, |step| &letters[step]);
            if sleeper.relation(met, known) != Relation::Conflict {
                return Cause::Covered(position);
            }
            wakers.extend(meets);
        }
        needed.clear();
        needed.extend(path.clock_before(later));
        let end = path.end(later);
        let until = wakers.iter().copied().max();
        steps.clear();
        steps.push(LAST);
        for step in (earlier + 1..until.map_or(end, |until| end.max(until + 1))).rev() {
            if path.ordered(earlier, step) {
                continue;
            }
            let stop = &path.stops[step];
            if wakers.contains(&step) || step < end && stop.op.conflicts(&later.op) {
                join(needed, path.clock(step));
            } else if !stop.is_in(needed) {
                continue;
            }
            steps.push(step);
        }
        steps.reverse();
        if insert(&mut node.branches, Sequence { steps, letters, last: &last, known }) {
            node.saved = false;
        }
        Cause::Until(until.unwrap_or(0))
    }

    /// The other values of the choices in a step.
    fn add_choices(&mut self, number: usize) {
        let Odpor { path, letters, nodes, scratch, .. } = self;
        let known = path.stops[number].objects;
        let node = &mut nodes[number];
        for (position, &(arity, taken)) in path.choices(number).iter().enumerate() {
            for value in (0..arity).filter(|&value| value != taken) {
                let mut other = letters[number].clone();
                let choices = &mut other.more.get_or_insert_default().choices;
                choices.truncate(position);
                choices.push(value);
                let covers = |sleeper: &Letter| sleeper.relation(&other, known) != Relation::Conflict;
                if !node.asleep.iter().any(covers) {
                    let steps = &mut scratch.steps;
                    steps.clear();
                    steps.push(LAST);
                    insert(&mut node.branches, Sequence { steps, letters, last: &other, known });
                    node.saved = false;
                }
            }
        }
    }

    /// Adds the reversals of the races of the run.
    fn reverse_races(&mut self, known: usize, plan: &Plan, trace: &Trace) {
        self.reverse_again(known);
        for later in known.max(1)..self.path.stops.len() {
            let later = self.path.at(later);
            self.reverse_new(&later, plan, trace);
        }
        let left: Vec<Pending> = self.path.left().collect();
        for later in left {
            self.reverse_new(&later, plan, trace);
        }
    }

    /// A pair of steps that led the run was looked at in the run in which its second was new; what this run
    /// did later can matter only to somebody who sleeps, or if it has other values in it; or, where objects have
    /// other ids in each run, to what is known of them.
    fn reverse_again(&mut self, known: usize) {
        let chose = (known..self.path.stops.len()).any(|number| !self.path.choices(number).is_empty());
        for position in 0..self.races.len() {
            let Race { earlier, later, cause } = self.races[position];
            let again = match cause {
                Cause::Until(step) => step >= known,
                Cause::Covered(sleeper) => self.wakes(earlier, sleeper, known),
            };
            if again || chose || self.origin.is_some() {
                self.nodes[later].saved = false;
                let later = self.path.at(later);
                self.races[position].cause = self.reverse(earlier, &later);
            }
        }
    }

    /// Whether a step from `known` on that does not depend on `earlier` wakes one who sleeps there.
    fn wakes(&self, earlier: usize, sleeper: usize, known: usize) -> bool {
        let (node, objects) = (&self.nodes[earlier], self.path.stops[earlier].objects);
        let rest = known.max(earlier + 1)..self.path.stops.len();
        rest.into_iter().any(|step| {
            let met = node.asleep[sleeper].relation(&self.letters[step], objects);
            met != Relation::Apart && !self.path.ordered(earlier, step)
        })
    }

    /// Adds the reversals of what was done or announced first in this run.
    fn reverse_new(&mut self, later: &Pending, plan: &Plan, trace: &Trace) {
        let mut races = core::mem::take(&mut self.scratch.rivals);
        races.clear();
        let mut below = self.path.end(later);
        while let Some(earlier) = self.path.rival(later, below) {
            below = earlier;
            let hidden = races.iter().any(|&race| self.path.ordered(earlier, race));
            if hidden || !self.path.is_possible_without(earlier, later, plan, trace) {
                continue;
            }
            races.push(earlier);
            let cause = self.reverse(earlier, later);
            self.races.extend(later.step.map(|later| Race { earlier, later, cause }));
            if self.path.hides(earlier, later) {
                break;
            }
        }
        self.scratch.rivals = races;
    }

    /// The state before a new step: who still sleeps, and what is left of the branch.
    fn enter(&mut self, branches: Vec<Branch>) {
        let number = self.depth;
        self.depth += 1;
        if self.nodes.len() < self.depth {
            self.nodes.push(Node::default());
        }
        let (before, rest) = self.nodes.split_at_mut(number);
        let node = &mut rest[0];
        node.branches = branches;
        node.saved = false;
        node.asleep.clear();
        if let Some(before) = before.last()
            && !before.asleep.is_empty()
        {
            let (taken, objects) = (&self.letters[number - 1], self.path.stops[number - 1].objects);
            let sleeps = |other: &&Letter| other.relation(taken, objects) == Relation::Apart;
            node.asleep.extend(before.asleep.iter().filter(sleeps).cloned());
        }
    }
}

impl Search for Odpor {
    fn next(&mut self, request: &mut Request) -> bool {
        if !self.begun {
            self.begun = true;
            return true;
        }
        while let Some(number) = self.depth.checked_sub(1) {
            // A step that a bound forbids was asked for and not taken.
            let taken = self.letters.get(number);
            self.sizes.end(number, self.runs);
            let node = &mut self.nodes[number];
            if node.branches.is_empty() {
                self.depth = number;
                continue;
            }
            node.asleep.extend(taken.cloned());
            let branch = node.branches.remove(0);
            node.saved = false;
            self.sizes.begin(number, self.runs);
            self.path.write_steps(number, &mut request.steps);
            request.steps.extend(branch.first().map(Letter::step));
            self.taking = Some(branch);
            return true;
        }
        false
    }

    fn learn(&mut self, plan: &Plan, trace: &Trace, _: &Verdict) {
        self.runs += 1;
        let known = self.depth.saturating_sub(1);
        self.path.follow(trace, known);
        self.spell(known);
        let races = self.races.partition_point(|race| race.later < known);
        self.races.truncate(races);
        let mut branch = self.taking.take();
        for number in known..self.path.stops.len() {
            if number == self.depth {
                let (next, others) = branch.map_or((None, Vec::new()), Branch::after);
                branch = next;
                self.enter(others);
                self.sizes.begin(number, self.runs - 1);
            }
            let (letter, objects) = (&self.letters[number], self.path.stops[number].objects);
            let sleeps = |other: &Letter| other.relation(letter, objects) == Relation::Same;
            if self.nodes[number].asleep.iter().any(sleeps) {
                self.redundant += 1;
                self.depth = number;
                return;
            }
            self.add_choices(number);
        }
        self.reverse_races(known, plan, trace);
    }

    fn save(&mut self, entry: &mut Entry, all: bool) -> Option<usize> {
        for number in 0..self.depth {
            let node = &mut self.nodes[number];
            if node.saved && !all {
                continue;
            }
            node.saved = true;
            let first = self.races.partition_point(|race| race.later < number);
            let races = &self.races[first..self.races.partition_point(|race| race.later <= number)];
            entry.part(number, |put| {
                put.list(self.letters.get(number).iter(), |put, letter| put.step(&letter.step()));
                put.list(node.asleep.iter(), |put, letter| letter.save(put));
                put.list(node.branches.iter(), |put, branch| branch.save(put));
                put.list(races.iter(), |put, race| race.save(put));
            });
        }
        let mut rest = entry.rest();
        rest.number(self.runs);
        rest.number(self.redundant);
        Some(self.depth)
    }

    fn load(&mut self, parts: &[Vec<u8>], rest: &mut Take<'_>) -> Result<Vec<Step>, Unpack> {
        *self = Odpor { begun: true, depth: parts.len(), ..Odpor::default() };
        let mut steps = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let mut take = Take::new(part);
            steps.extend(take.list(Take::step)?);
            let (asleep, branches) = (take.list(Letter::load)?, take.list(Branch::load)?);
            self.nodes.push(Node { asleep, branches, saved: true });
            self.races.extend(take.list(|take| Race::load(take, number))?);
        }
        self.runs = rest.number()?;
        self.redundant = rest.number()?;
        Ok(steps)
    }

    fn recall(&mut self, trace: &Trace) {
        self.path.follow(trace, 0);
        self.spell(0);
    }

    fn restart(&mut self) {
        *self = Odpor::default();
    }

    fn outlook(&self) -> Option<Outlook> {
        Some(self.sizes.outlook(
            self.nodes[..self.depth].iter().map(|node| node.branches.iter().map(Branch::leaves).sum()),
        ))
    }
}

fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
