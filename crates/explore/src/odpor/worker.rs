//! A worker of an optimal search: what its last run was, which of its steps race, and what must be run instead.

use super::alphabet::LetterId;
use super::letter::{Letter, More, Origin, Relation};
use super::tree::{NodeId, Tree};
use super::wakeup::Sequence;
use crate::outlook::Sizes;
use crate::path::clocks::Lane;
use crate::path::{Chain, Path, Pending, Stop};
use alloc::sync::Arc;
use raddle_model::{Plan, TaskId, Trace};

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
    /// Whether it may have to be looked at again after a run that has its later step in common with this one.
    fn is_watched(&self) -> bool {
        match self.cause {
            Cause::Until(step) => step > self.later,
            Cause::Covered(_) => true,
        }
    }
}

/// A worker.
#[derive(Clone, Default, Debug)]
pub(super) struct Worker {
    /// The last run.
    pub(super) path: Path,
    /// Its steps.
    letters: Vec<LetterId>,
    /// The states before its steps, as far as the search has not left them for good; after that of the run that is
    /// under way, up to the end of its sequence.
    pub(super) nodes: Vec<NodeId>,
    /// Whether it has not asked again since its last run: the last of them is held.
    pub(super) holds: bool,
    /// So many first steps of the run that is under way are those of the last one.
    pub(super) known: usize,
    /// In the order of the later steps.
    races: Vec<Race>,
    /// Which of them may have to be looked at again though their later steps are not new.
    watched: Vec<usize>,
    /// The last run, as letters name it, if it has objects of its own.
    origin: Option<Arc<Origin>>,
    pub(super) runs: u64,
    pub(super) sizes: Sizes,
    scratch: Scratch,
}

/// Memory for what is put together again and again.
#[derive(Clone, Default, Debug)]
struct Scratch {
    steps: Vec<usize>,
    sequence: Vec<LetterId>,
    independent: Independent,
    wakers: Vec<usize>,
    needed: Vec<Lane>,
    rivals: Vec<usize>,
    chain: Chain,
    /// The letters of the chain, behind that of the step that it leads to.
    chained: Vec<LetterId>,
}

/// The steps after one of the last run that do not depend on it, as far as somebody wanted to know.
#[derive(Clone, Default, Debug)]
struct Independent {
    of: Option<usize>,
    until: usize,
    steps: Vec<usize>,
}

impl Independent {
    /// Those of `earlier` that come before the step `until`. Many races in a row have the same earlier step.
    fn find(&mut self, path: &Path, earlier: usize, until: usize) -> &[usize] {
        if self.of.replace(earlier) != Some(earlier) {
            self.steps.clear();
            self.until = earlier + 1;
        }
        if self.until < until {
            self.steps.extend((self.until..until).filter(|&step| !path.ordered(earlier, step)));
            self.until = until;
        }
        &self.steps[..self.steps.partition_point(|&step| step < until)]
    }
}

impl Worker {
    /// The run that was asked for has ended. False if its partial order was known.
    pub(super) fn learn(&mut self, tree: &mut Tree, number: u64, plan: &Plan, trace: &Trace) -> bool {
        self.runs += 1;
        let known = self.known;
        let end = self.nodes.last().copied().expect("raddle bug: a run that nobody asked for");
        tree.release(end);
        self.path.follow_front(trace, known, self.nodes.len() + 1);
        self.scratch.independent.of = None;
        self.spell(tree, known, number);
        while self.races.last().is_some_and(|race| race.later >= known) {
            self.races.pop();
        }
        while self.watched.last().is_some_and(|&position| position >= self.races.len()) {
            self.watched.pop();
        }
        let mut next = known;
        while next < self.path.stops.len() {
            let number = next;
            next += 1;
            self.enter(tree, number);
            if self.nodes.len() == number + 1 {
                if tree.node(self.nodes[number]).asleep.is_empty() {
                    self.add_quiet_choices(tree, number);
                    break;
                }
                self.grow_tail(tree, trace);
            }
            let (letter, objects) = (self.letters[number], self.path.stops[number].objects);
            let known = |other| tree.alphabet.relation(other, letter, objects) == Relation::Same;
            if tree.sleepers(self.nodes[number], self.place(tree, number)).any(known) {
                self.leave(tree, number + 1);
                self.lose(tree);
                return false;
            }
            self.reach(tree, number);
            if !self.path.choices(number).is_empty() {
                self.add_choices(tree, number);
            }
        }
        let steps = self.path.stops.len();
        if self.nodes.len() > steps {
            // A bound has kept it from taking all the steps that it was asked for.
            self.enter(tree, steps);
            self.leave(tree, steps + 1);
        }
        self.reverse_races(tree, plan, trace);
        // Others may take what is left there meanwhile.
        tree.hold(self.nodes[self.nodes.len() - 1]);
        self.holds = true;
        true
    }

    /// The steps from this one on were taken by the run itself, and nobody sleeps: the tree need not know of them before
    /// something must be taken instead of one.
    fn add_quiet_choices(&mut self, tree: &mut Tree, from: usize) {
        if !self.path.chooses_from(from) {
            return;
        }
        for number in from..self.path.stops.len() {
            if !self.path.choices(number).is_empty() {
                self.reach(tree, number);
                self.add_choices(tree, number);
            }
        }
    }

    /// Tells the tree of the steps up to this one, if it does not know of them yet.
    #[inline]
    fn reach(&mut self, tree: &mut Tree, number: usize) {
        if self.nodes.len() <= number + 1 {
            self.extend(tree, number);
        }
    }

    fn extend(&mut self, tree: &mut Tree, number: usize) {
        while let last = self.nodes.len() - 1
            && last <= number
            && tree.node(self.nodes[last]).children.is_empty()
        {
            self.append(tree, last);
            if self.nodes.len() > last + 1 {
                self.enter(tree, last + 1);
            }
        }
    }

    /// The same for the whole run.
    pub(super) fn reach_end(&mut self, tree: &mut Tree, trace: &Trace) {
        if !self.holds {
            return;
        }
        self.grow_tail(tree, trace);
        if let Some(last) = self.path.stops.len().checked_sub(1) {
            tree.let_go(self.nodes[self.nodes.len() - 1]);
            self.reach(tree, last);
            tree.hold(self.nodes[self.nodes.len() - 1]);
        }
    }

    /// Takes in what was left out of the run, if anything was.
    #[inline]
    fn grow_tail(&mut self, tree: &mut Tree, trace: &Trace) {
        self.path.grow_tail(trace);
        self.spell_on(tree);
    }

    /// A step that the run took by itself.
    fn append(&mut self, tree: &mut Tree, number: usize) {
        let (before, letter) = (self.nodes[number], self.letters[number]);
        if number + 1 == self.path.stops.len() {
            return tree.end(before, letter);
        }
        self.nodes.push(tree.extend(before, letter));
        self.sizes.begin(number + 1, self.runs - 1);
    }

    /// The state before a step, which may be new.
    #[inline(always)]
    fn enter(&self, tree: &mut Tree, number: usize) {
        if let Some(before) = number.checked_sub(1) {
            tree.enter(self.nodes[number], self.letters[before], self.path.stops[before].objects);
        }
    }

    /// Leaves the states from the step `from` on, to which no run can come, for good. Others who are below them do so
    /// themselves.
    fn leave(&mut self, tree: &mut Tree, from: usize) {
        for id in self.nodes.drain(from..).rev() {
            tree.abandon(id);
            tree.settle(id);
        }
    }

    /// What the last run did is not known, or was not looked at: the next one begins with nothing that is known.
    pub(super) fn lose(&mut self, tree: &mut Tree) {
        if let Some(&end) = self.nodes.last()
            && tree.node(end).running
        {
            tree.release(end);
        }
        while let Some(id) = self.nodes.pop() {
            if !tree.settle(id) {
                self.nodes.clear();
            }
        }
    }

    /// Leaves the states of the last run from which nothing is left to do.
    pub(super) fn settle(&mut self, tree: &mut Tree) {
        if let Some(&id) = self.nodes.last()
            && core::mem::take(&mut self.holds)
        {
            tree.let_go(id);
        }
        while let Some(&id) = self.nodes.last()
            && tree.settle(id)
        {
            self.nodes.pop();
            self.sizes.end(self.nodes.len(), self.runs);
        }
    }

    /// Which child of the state before a step that step is.
    fn place(&self, tree: &Tree, number: usize) -> usize {
        self.nodes.get(number + 1).map_or(0, |&next| tree.node(next).place as usize)
    }

    /// The name of a step, which the caller has then.
    fn letter(&mut self, tree: &mut Tree, number: usize) -> LetterId {
        let Stop { task, ref op, .. } = self.path.stops[number];
        let choices = self.path.choices(number);
        let (name, op) = (self.path.names[task.index()], self.path.stable(op));
        if self.origin.is_none() && choices.is_empty() {
            let letter = tree.alphabet.plain_id(name, &op);
            self.path.call(number, letter.name());
            return letter;
        }
        let choices = choices.iter().map(|&(_, value)| value).collect();
        let more = Box::new(More { choices, run: self.announcement(task, number) });
        tree.alphabet.id(Letter { task: name, op, more: Some(more) })
    }

    /// The run, and the number of what a task was about to do in it, if anybody will ask for it.
    fn announcement(&self, task: TaskId, number: usize) -> Option<(Arc<Origin>, u64)> {
        self.origin.clone().map(|origin| (origin, self.path.announced(task, number)))
    }

    /// Writes the steps of the new run down as letters; those that led it are the same in all runs, unless
    /// the run has objects of its own.
    fn spell(&mut self, tree: &mut Tree, known: usize, run: u64) {
        let late = self.path.has_late_objects();
        self.origin =
            late.then(|| Arc::new(Origin { number: run, announcements: self.path.announcements() }));
        let kept = if late { 0 } else { known.min(self.letters.len()) };
        if tree.alphabet.has_more() {
            self.letters[kept..].iter().for_each(|&letter| tree.alphabet.drop(letter));
        }
        self.letters.truncate(kept);
        self.spell_on(tree);
    }

    /// The same for those that were not written down yet.
    #[inline]
    fn spell_on(&mut self, tree: &mut Tree) {
        if self.letters.len() < self.path.stops.len() {
            self.spell_rest(tree);
        }
    }

    fn spell_rest(&mut self, tree: &mut Tree) {
        while self.letters.len() < self.path.stops.len() {
            // Most tasks do what they did before.
            let new = self.path.stops[self.letters.len()..].iter();
            self.letters.extend(new.map_while(Stop::called).map(LetterId::called));
            if self.letters.len() < self.path.stops.len() {
                let letter = self.letter(tree, self.letters.len());
                self.letters.push(letter);
            }
        }
    }

    /// What a task did or was about to do, with whatever it would choose elsewhere. The caller has it then.
    #[inline]
    fn letter_of(&self, tree: &mut Tree, pending: &Pending) -> LetterId {
        match pending.step.map(|step| self.letters[step]) {
            Some(letter) if !letter.has_more() => letter,
            _ => self.new_letter_of(tree, pending),
        }
    }

    #[inline(never)]
    fn new_letter_of(&self, tree: &mut Tree, pending: &Pending) -> LetterId {
        let (name, op) = (self.path.names[pending.task.index()], self.path.stable(&pending.op));
        match self.announcement(pending.task, self.path.end(pending)) {
            None => tree.alphabet.plain_id(name, &op),
            run => {
                let more = Some(Box::new(More { choices: Vec::new(), run }));
                tree.alphabet.id(Letter { task: name, op, more })
            }
        }
    }

    /// The steps after `earlier` that do not depend on it, and then `later`, are a sequence that must be taken
    /// from the state before `earlier`. Nothing is added if a sleeping step covers it. Of the steps only
    /// those are kept that lead to the last one, or to what wakes a sleeper: the others come by themselves.
    #[inline(always)]
    fn reverse(
        &mut self,
        tree: &mut Tree,
        earlier: usize,
        (later, last): (&Pending, LetterId),
        trace: &Trace,
    ) -> Cause {
        self.reach(tree, earlier);
        loop {
            match self.reverse_to(tree, earlier, later, last) {
                Some(cause) => return cause,
                None => {
                    assert!(!self.path.is_whole(), "raddle bug: nothing is left out of a run");
                    self.grow_tail(tree, trace);
                }
            }
        }
    }

    /// The same if it can be told without what is left out of the run.
    fn reverse_to(
        &mut self,
        tree: &mut Tree,
        earlier: usize,
        later: &Pending,
        last: LetterId,
    ) -> Option<Cause> {
        let place = self.place(tree, earlier);
        let Worker { path, letters, nodes, scratch, .. } = self;
        let known = path.stops[earlier].objects;
        let node = nodes[earlier];
        let Scratch { steps, sequence, wakers, needed, independent, chain, chained, .. } = scratch;
        wakers.clear();
        let alphabet = &tree.alphabet;
        for (position, sleeper) in tree.sleepers(node, place).enumerate() {
            let Letter { task, op, more } = alphabet.get(sleeper);
            let simple = path.has_simple_ones() && alphabet.is_simple(sleeper);
            let lasts = if simple {
                path.rules(earlier, op.object)
            } else {
                more.is_none() && path.shields(earlier, op)
            };
            let meets = if lasts {
                None
            } else if simple {
                path.first_met_simply(*task, op, earlier)
            } else if path.may_meet_tail(op) {
                return None;
            } else if more.is_none() && path.can_look_up(op) {
                path.first_met(*task, op, earlier)
            } else if !path.is_whole() {
                return None;
            } else {
                let mut rest = independent.find(path, earlier, path.stops.len()).iter().copied();
                rest.find(|&step| alphabet.relation(sleeper, letters[step], known) != Relation::Apart)
            };
            let met = meets.map_or(last, |step| letters[step]);
            if alphabet.relation(sleeper, met, known) != Relation::Conflict {
                // What no step can wake need not be asked again.
                return Some(if lasts { Cause::Until(0) } else { Cause::Covered(position) });
            }
            wakers.extend(meets);
        }
        sequence.clear();
        if wakers.is_empty() && chain.reaches(earlier) {
            // What is there of it was put together for the race before.
            match chained.first_mut() {
                Some(first) => *first = last,
                None => chained.push(last),
            }
            chained.extend(chain.steps()[chained.len() - 1..].iter().map(|&step| letters[step]));
            sequence.extend_from_slice(chained);
        } else {
            path.leads_to_reversal(earlier, later, wakers, needed, steps);
            sequence.push(last);
            sequence.extend(steps.iter().rev().map(|&step| letters[step]));
        }
        tree.insert(node, place, &mut Sequence { letters: sequence, known });
        Some(Cause::Until(wakers.iter().copied().max().unwrap_or(0)))
    }

    /// The other values of the choices in a step.
    fn add_choices(&mut self, tree: &mut Tree, number: usize) {
        let place = self.place(tree, number);
        let Worker { path, letters, nodes, scratch, .. } = self;
        let (node, known) = (nodes[number], path.stops[number].objects);
        for (position, &(arity, taken)) in path.choices(number).iter().enumerate() {
            for value in (0..arity).filter(|&value| value != taken) {
                let mut other = tree.alphabet.get(letters[number]).clone();
                let choices = &mut other.more.get_or_insert_default().choices;
                choices.truncate(position);
                choices.push(value);
                let last = tree.alphabet.id(other);
                let covers = |sleeper| tree.alphabet.relation(sleeper, last, known) != Relation::Conflict;
                if !tree.sleepers(node, place).any(covers) {
                    let letters = &mut scratch.sequence;
                    letters.clear();
                    letters.push(last);
                    tree.insert(node, place, &mut Sequence { letters, known });
                }
                tree.alphabet.drop(last);
            }
        }
    }

    /// Adds the reversals of the races of the run.
    fn reverse_races(&mut self, tree: &mut Tree, plan: &Plan, trace: &Trace) {
        self.reverse_again(tree, trace);
        let (mut next, end) = (self.known.max(1), self.path.stops.len());
        while let Some(later) = self.path.first_racing(next..end) {
            next = later + 1;
            if self.path.waits_for_exit(later) {
                debug_assert!(
                    !self.can_be_reversed(&self.path.at(later), plan, trace),
                    "raddle bug: a join can be reversed"
                );
            } else {
                self.reverse_new(tree, &self.path.at(later), plan, trace);
            }
        }
        if !trace.pending.is_empty() {
            self.reverse_left(tree, plan, trace);
        }
    }

    /// The same for what was left to be done at the end of the run.
    #[inline(never)]
    fn reverse_left(&mut self, tree: &mut Tree, plan: &Plan, trace: &Trace) {
        let left: Vec<Pending> = self.path.left().collect();
        left.iter().for_each(|later| self.reverse_new(tree, later, plan, trace));
    }

    /// A pair of steps that led the run was looked at in the run in which its second was new; what this run
    /// did later can matter only to somebody who sleeps, or if it has other values in it; or, where objects have
    /// other ids in each run, to what is known of them.
    fn reverse_again(&mut self, tree: &mut Tree, trace: &Trace) {
        let known = self.known;
        if self.path.chooses_from(known) || self.origin.is_some() {
            self.watched.clear();
            for position in 0..self.races.len() {
                self.reverse_known(tree, position, trace);
                if self.races[position].is_watched() {
                    self.watched.push(position);
                }
            }
            return;
        }
        for next in 0..self.watched.len() {
            let position = self.watched[next];
            let Race { earlier, cause, .. } = self.races[position];
            let again = match cause {
                Cause::Until(step) => step >= known,
                Cause::Covered(sleeper) => self.wakes(tree, earlier, sleeper, trace),
            };
            if again {
                self.reverse_known(tree, position, trace);
            }
        }
    }

    fn reverse_known(&mut self, tree: &mut Tree, position: usize, trace: &Trace) {
        let Race { earlier, later, .. } = self.races[position];
        let later = self.path.at(later);
        let last = self.letter_of(tree, &later);
        self.races[position].cause = self.reverse(tree, earlier, (&later, last), trace);
        tree.alphabet.drop(last);
    }

    /// Whether a step that is new and does not depend on `earlier` wakes one who sleeps there.
    fn wakes(&mut self, tree: &mut Tree, earlier: usize, sleeper: usize, trace: &Trace) -> bool {
        let objects = self.path.stops[earlier].objects;
        let mut sleepers = tree.sleepers(self.nodes[earlier], self.place(tree, earlier));
        let sleeper = sleepers.nth(sleeper).expect("raddle bug: nobody slept there");
        let Letter { op, more, .. } = tree.alphabet.get(sleeper);
        if more.is_some() || !self.path.can_look_up(op) || self.path.may_meet_tail(op) {
            drop(sleepers);
            self.grow_tail(tree, trace);
        }
        self.path.any_new_beside(earlier, |step| {
            tree.alphabet.relation(sleeper, self.letters[step], objects) != Relation::Apart
        })
    }

    /// Whether a step could be done without one that it races with.
    fn can_be_reversed(&mut self, later: &Pending, plan: &Plan, trace: &Trace) -> bool {
        let mut below = self.path.end(later);
        while let Some(earlier) = self.path.rival(later, below) {
            if self.path.is_possible_without(earlier, later, plan, trace) {
                return true;
            }
            below = earlier;
        }
        false
    }

    /// Adds the reversals of what was done or announced first in this run.
    #[inline(always)]
    fn reverse_new(&mut self, tree: &mut Tree, later: &Pending, plan: &Plan, trace: &Trace) {
        self.scratch.rivals.clear();
        let (mut below, mut name) = (self.path.end(later), None);
        while let Some(earlier) = self.path.rival(later, below) {
            below = earlier;
            // Most race with one only.
            let hidden = !self.scratch.rivals.is_empty()
                && !self.is_chained(earlier, later)
                && self.scratch.rivals.iter().any(|&race| self.path.ordered(earlier, race));
            if hidden || !self.path.is_possible_without(earlier, later, plan, trace) {
                continue;
            }
            self.spell_on(tree);
            self.scratch.rivals.push(earlier);
            let last = match name {
                Some(last) => last,
                None => self.letter_of(tree, later),
            };
            name = Some(last);
            let cause = self.reverse(tree, earlier, (later, last), trace);
            if let Some(later) = later.step {
                let race = Race { earlier, later, cause };
                if race.is_watched() {
                    self.watched.push(self.races.len());
                }
                self.races.push(race);
            }
            if self.path.hides(earlier, later) {
                break;
            }
        }
        if let Some(last) = name {
            tree.alphabet.drop(last);
        }
        self.scratch.chain.end();
    }

    /// Whether all that `later` meets after `earlier`, its other races included, is a chain: then none of it depends on `earlier`.
    fn is_chained(&mut self, earlier: usize, later: &Pending) -> bool {
        let Scratch { chain, chained, .. } = &mut self.scratch;
        if !chain.has_begun() {
            chain.begin(&self.path, later);
            chained.clear();
        }
        chain.take_in(&self.path, earlier)
    }
}
