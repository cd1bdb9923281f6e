//! `dpor`: dynamic partial-order reduction after Flanagan and Godefroid (POPL 2005), with sleep sets
//! (Godefroid 1996). At least one run of every partial order.
//!
//! After each run, what every task did or was about to do, whether it could or not, is held against
//! the latest steps that it conflicts with and that do not lead to it: before each of them it should
//! have had a chance. Algorithm 2 of Wang, Said and Gupta (ICSE 2011) looks only at tasks that can run and leaves the
//! happens-before filter out; taken literally it loses partial orders (two counterexamples are
//! among the tests).
//!
//! Deviations:
//! - Whom to run instead is chosen as in source sets (Abdulla et al., POPL 2014): 2005's rule and sleep
//!   sets together lose partial orders, since a task that sleeps does not find the races that it would
//!   find from here.
//! - A pair counts as a race only if the later operation could be done without the earlier one, by the
//!   world's own rules, instead of a static guess at what can be enabled at the same time.
//! - Values of choices are tried one after the other before their step counts as done.
//!
//! A [`Guide`] may refuse to go back: that is how coverage-guided search is built on this. It should
//! turn the sleep sets off, since what it refuses is then asleep although nobody ran it.

use crate::outlook::{Outlook, Sizes};
use crate::path::{Path, Pending};
use crate::systematic::{Next, Request, Search};
use raddle_model::plan::Step;
use raddle_model::{Op, Plan, TaskId, Trace, Verdict};
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, Take};

/// Who has a say in where the search goes back to.
pub trait Guide: Clone + Send + 'static {
    /// Whether `later` is to be tried before the step `earlier` of the path, with which it races.
    fn wants(&mut self, path: &Path, earlier: usize, later: &Pending) -> bool;

    /// A run has ended; what it did is asked about next.
    fn learn(&mut self, trace: &Trace) {
        let _ = trace;
    }

    /// Whether it never refuses, and has nothing of its own that a journal would have to hold.
    fn is_complete(&self) -> bool {
        false
    }

    /// All runs so far were made with too few scheduling points.
    fn restart(&mut self) {}
}

/// Goes back wherever it must.
#[derive(Clone, Copy, Default, Debug)]
pub struct Everywhere;

impl Guide for Everywhere {
    fn wants(&mut self, _: &Path, _: usize, _: &Pending) -> bool {
        true
    }

    fn is_complete(&self) -> bool {
        true
    }
}

/// What is known of the state before a step.
#[derive(Clone, Default, Debug)]
struct Node {
    /// Names of tasks that must run from here.
    backtrack: Vec<u64>,
    /// Those that have, and those that slept when the search came here.
    asleep: Vec<(u64, Op)>,
    /// Whether all of that is in the journal.
    saved: bool,
}

/// The search.
#[derive(Clone, Default, Debug)]
pub struct Dpor<G = Everywhere> {
    guide: G,
    sleepless: bool,
    /// The last run.
    path: Path,
    /// One for each of its steps that the search has not left for good.
    nodes: Vec<Node>,
    begun: bool,
    /// Name of the task whose step was asked for last.
    asked: u64,
    runs: u64,
    sizes: Sizes,
    /// Runs that were cut since whoever could have gone on was asleep.
    blocked: u64,
}

impl Dpor {
    /// A search that is complete.
    pub fn new() -> Dpor {
        Dpor::guided(Everywhere)
    }
}

impl<G: Guide> Dpor<G> {
    /// A search that asks `guide`.
    pub fn guided(guide: G) -> Dpor<G> {
        Dpor {
            guide,
            sleepless: false,
            path: Path::default(),
            nodes: Vec::new(),
            begun: false,
            asked: 0,
            runs: 0,
            sizes: Sizes::default(),
            blocked: 0,
        }
    }

    /// The same without sleep sets.
    #[must_use]
    pub fn without_sleep(self) -> Dpor<G> {
        Dpor { sleepless: true, ..self }
    }

    /// Runs that were cut because all that could have run was known.
    pub fn blocked(&self) -> u64 {
        self.blocked
    }

    /// Who has a say.
    pub fn guide(&self) -> &G {
        &self.guide
    }

    /// Lets every operation have its chance before the steps that it races with.
    fn go_back(&mut self, new: usize, plan: &Plan, trace: &Trace) {
        // What was done in the steps that led the run was looked at when they were new.
        let done = (new.max(1)..self.path.stops.len()).map(|step| self.path.at(step));
        let all: Vec<Pending> = done.chain(self.path.left()).collect();
        for later in all {
            let mut races: Vec<usize> = Vec::new();
            let mut below = self.path.end(&later);
            while let Some(earlier) = self.path.rival(&later, below) {
                below = earlier;
                let hidden = races.iter().any(|&race| self.path.ordered(earlier, race));
                if hidden || !self.path.is_possible_without(earlier, &later, plan, trace) {
                    continue;
                }
                races.push(earlier);
                if self.guide.wants(&self.path, earlier, &later) {
                    self.request(earlier, &later);
                }
                if self.path.hides(earlier, &later) {
                    break;
                }
            }
        }
    }

    /// `later`, or something that must come before it, must run before the step `earlier`: one of the
    /// tasks with which the steps that do not depend on `earlier`, and then `later`, can begin.
    fn request(&mut self, earlier: usize, later: &Pending) {
        let Path { stops, names, .. } = &self.path;
        let rest: Vec<usize> = self.path.independent_of(earlier).collect();
        let first = rest.iter().enumerate().filter(|&(position, &step)| {
            rest[..position].iter().all(|&other| !self.path.ordered(other, step))
        });
        let mut first: Vec<TaskId> = first.map(|(_, &step)| stops[step].task).collect();
        let follows = |step: usize| self.path.leads_to(step, later) || stops[step].op.conflicts(&later.op);
        if !rest.iter().any(|&step| follows(step)) {
            first.insert(0, later.task);
        }
        let backtrack = &mut self.nodes[earlier].backtrack;
        let known = |task: &TaskId| backtrack.contains(&names[task.index()]);
        if !first.iter().any(known)
            && let Some(task) = first.first()
        {
            backtrack.push(names[task.index()]);
            self.nodes[earlier].saved = false;
        }
    }

    /// The next value of a choice in the last step, as the choices up to there.
    fn next_choices(&self) -> Option<Vec<u32>> {
        let number = self.nodes.len() - 1;
        let choices = if number < self.path.stops.len() { self.path.choices(number) } else { return None };
        let last = choices.iter().rposition(|&(arity, value)| value + 1 < arity)?;
        let mut values: Vec<u32> = choices[..=last].iter().map(|&(_, value)| value).collect();
        values[last] += 1;
        Some(values)
    }

    /// The run that takes another last step.
    fn turn(&mut self, step: Step, request: &mut Request) -> bool {
        self.asked = step.task;
        let last = self.nodes.len() - 1;
        self.nodes[last].saved = false;
        let task = self.path.task(step.task).expect("raddle bug: an unknown task is to run");
        let op = self.path.next_op(task, last);
        let op = op.expect("raddle bug: a task is to run that was about to do nothing");
        let asleep = &self.nodes[last].asleep;
        let sleeps = |&&(name, ref other): &&(u64, Op)| name != step.task && !other.conflicts(&op);
        request.sleep.extend(asleep.iter().filter(sleeps).map(|&(name, _)| name));
        self.path.write_steps(last, &mut request.steps);
        request.steps.push(step);
        true
    }

    /// What to run next; false if nothing is left.
    fn ask(&mut self, request: &mut Request) -> bool {
        if !self.begun {
            self.begun = true;
            return true;
        }
        while let Some(number) = self.nodes.len().checked_sub(1) {
            if let Some(choices) = self.next_choices() {
                let step = Step { choices, ..self.path.step(number) };
                return self.turn(step, request);
            }
            self.sizes.end(number, self.runs);
            // A step that a bound forbids was asked for and not taken.
            let name = match self.path.stops.get(number) {
                Some(stop) => self.path.names[stop.task.index()],
                None => self.asked,
            };
            let op = self.path.task(name).and_then(|task| self.path.next_op(task, number));
            let node = &mut self.nodes[number];
            node.asleep.extend(op.map(|op| (name, op)));
            let awake = |task: &&u64| node.asleep.iter().all(|(name, _)| name != *task);
            if let Some(&task) = node.backtrack.iter().find(awake) {
                self.sizes.begin(number, self.runs);
                return self.turn(Step { task, choices: Vec::new() }, request);
            }
            self.nodes.pop();
        }
        false
    }
}

impl<G: Guide> Search for Dpor<G> {
    fn next(&mut self, _: usize, request: &mut Request) -> Next {
        Next::if_any(self.ask(request))
    }

    fn learn(&mut self, _: usize, plan: &Plan, trace: &Trace, verdict: &Verdict) {
        self.runs += 1;
        let known = self.nodes.len().saturating_sub(1);
        for number in self.nodes.len()..trace.log.picks.len() + 1 {
            self.sizes.begin(number, self.runs - 1);
        }
        self.path.follow(trace, known);
        self.nodes.resize(self.path.stops.len().max(known), Node::default());
        for number in known..self.path.stops.len() {
            let stop = &self.path.stops[number];
            let name = self.path.names[stop.task.index()];
            let node = &mut self.nodes[number];
            if !node.backtrack.contains(&name) {
                node.backtrack.push(name);
            }
            if number + 1 < self.path.stops.len() && !self.sleepless {
                let awake = |other: &(u64, Op)| other.0 == name || other.1.conflicts(&stop.op);
                let rest = node.asleep.iter().filter(|&other| !awake(other)).copied();
                self.nodes[number + 1].asleep = rest.collect();
            }
        }
        self.blocked += u64::from(*verdict == Verdict::Cut);
        self.guide.learn(trace);
        self.go_back(known, plan, trace);
    }

    fn save(&mut self, entry: &mut Entry, all: bool) -> Option<usize> {
        if !self.guide.is_complete() {
            return None;
        }
        for (number, node) in self.nodes.iter_mut().enumerate().filter(|(_, node)| all || !node.saved) {
            node.saved = true;
            let step = (number < self.path.stops.len()).then(|| self.path.step(number));
            entry.part(number, |put| {
                put.list(step.iter(), |put, step| put.step(step));
                put.list(node.backtrack.iter(), |put, &task| put.name(task));
                put.list(node.asleep.iter(), |put, (task, op)| {
                    put.name(*task);
                    put.op(op);
                });
            });
        }
        let mut rest = entry.rest();
        rest.name(self.asked);
        rest.number(self.runs);
        rest.number(self.blocked);
        Some(self.nodes.len())
    }

    fn load(&mut self, parts: &[Vec<u8>], rest: &mut Take<'_>) -> Result<Vec<Step>, Unpack> {
        let mut steps = Vec::new();
        self.nodes.clear();
        for part in parts {
            let mut take = Take::new(part);
            steps.extend(take.list(Take::step)?);
            let backtrack = take.list(Take::name)?;
            let asleep = take.list(|take| Ok((take.name()?, take.op()?)))?;
            self.nodes.push(Node { backtrack, asleep, saved: true });
        }
        self.asked = rest.name()?;
        self.runs = rest.number()?;
        self.blocked = rest.number()?;
        self.begun = true;
        Ok(steps)
    }

    fn recall(&mut self, trace: &Trace) {
        self.path.follow(trace, 0);
    }

    fn outlook(&self) -> Option<Outlook> {
        let waiting = self.nodes.iter().map(|node| {
            let asleep = |task: &u64| node.asleep.iter().any(|(name, _)| name == task);
            // One of them is being taken.
            node.backtrack.iter().filter(|task| !asleep(task)).count().saturating_sub(1)
        });
        Some(self.sizes.outlook(waiting))
    }

    fn restart(&mut self) {
        self.guide.restart();
        self.runs = 0;
        self.sizes = Sizes::default();
        self.path = Path::default();
        self.nodes.clear();
        self.begun = false;
    }
}
