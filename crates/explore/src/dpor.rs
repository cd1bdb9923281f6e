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
//! - All values of a choice count as one step: who comes later sleeps on all of them.
//!
//! Several workers share the nodes. Whoever takes a step from a node sleeps on those that were taken there before,
//! whether they are done or under way: each node finds by itself what must be run from it, so that is all they need to
//! agree on. How many runs are cut since all that could go on slept depends on the order in which workers work.
//!
//! A [`Guide`] may refuse to go back: that is how coverage-guided search is built on this. It should
//! turn the sleep sets off, since what it refuses is then asleep although nobody ran it.

use crate::forest::{Forest, Given, NodeId, Options};
use crate::outlook::Outlook;
use crate::path::{Path, Pending};
use crate::systematic::{Next, Request, Search};
use raddle_model::plan::Step;
use raddle_model::{Op, Plan, TaskId, Trace, Verdict};
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, Put, State, Take};

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

/// What a task is about to do.
type Letter = (u64, Op);

/// What is known of the state before a step.
#[derive(Clone, Default, Debug)]
struct Node {
    /// Those that slept when the search came here.
    asleep: Vec<Letter>,
    /// Those that must run from here, in the order in which they do.
    backtrack: Vec<Letter>,
    /// What is to be taken: one of them, by position, and the values that it chooses; more may be chosen then.
    options: Vec<(u32, Vec<u32>)>,
}

impl Node {
    /// Who sleeps while one of those that must run does so.
    fn sleepers(&self, of: u32) -> impl Iterator<Item = &Letter> {
        self.asleep.iter().chain(&self.backtrack[..of as usize])
    }

    /// Somebody must run from here.
    fn add(&mut self, letter: Letter) {
        if !self.asleep.iter().any(|(name, _)| *name == letter.0) {
            self.options.push((self.backtrack.len() as u32, Vec::new()));
        }
        self.backtrack.push(letter);
    }

    fn step(&self, option: u32) -> Step {
        let (of, choices) = &self.options[option as usize];
        Step { task: self.backtrack[*of as usize].0, choices: choices.clone() }
    }
}

impl Options for Node {
    fn count(&self) -> usize {
        self.options.len()
    }

    fn save(&self, put: &mut Put<'_>) {
        for letters in [&self.asleep, &self.backtrack] {
            put.list(letters.iter(), |put, (task, op)| {
                put.name(*task);
                put.op(op);
            });
        }
        put.list(self.options.iter(), |put, (of, choices)| {
            put.number(u64::from(*of));
            put.list(choices.iter(), |put, &value| put.number(u64::from(value)));
        });
    }

    fn load(take: &mut Take<'_>) -> Result<Node, Unpack> {
        let letters = |take: &mut Take<'_>| take.list(|take| Ok((take.name()?, take.op()?)));
        let (asleep, backtrack) = (letters(take)?, letters(take)?);
        let options = take.list(|take| Ok((take.small()?, take.list(Take::small)?)))?;
        if options.iter().any(|(of, _)| *of as usize >= backtrack.len()) {
            return Err(Unpack::Nonsense("an option of nobody"));
        }
        Ok(Node { asleep, backtrack, options })
    }
}

/// A worker's last run.
#[derive(Clone, Default, Debug)]
struct Last {
    path: Path,
    /// So many first steps of the run that is under way are those of the last one.
    known: usize,
}

/// The search.
#[derive(Clone, Default, Debug)]
pub struct Dpor<G = Everywhere> {
    guide: G,
    sleepless: bool,
    /// One for each step.
    forest: Forest<Node>,
    workers: Vec<Last>,
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
        Dpor { guide, sleepless: false, forest: Forest::default(), workers: Vec::new(), blocked: 0 }
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
    fn go_back(&mut self, worker: usize, path: &mut Path, new: usize, plan: &Plan, trace: &Trace) {
        // What was done in the steps that led the run was looked at when they were new.
        let done = (new.max(1)..path.stops.len()).map(|step| path.at(step));
        let all: Vec<Pending> = done.chain(path.left()).collect();
        for later in all {
            let mut races: Vec<usize> = Vec::new();
            let mut below = path.end(&later);
            while let Some(earlier) = path.rival(&later, below) {
                below = earlier;
                let hidden = races.iter().any(|&race| path.ordered(earlier, race));
                if hidden || !path.is_possible_without(earlier, &later, plan, trace) {
                    continue;
                }
                races.push(earlier);
                if self.guide.wants(path, earlier, &later) {
                    self.request(worker, path, earlier, &later);
                }
                if path.hides(earlier, &later) {
                    break;
                }
            }
        }
    }

    /// `later`, or something that must come before it, must run before the step `earlier`: one of the
    /// tasks with which the steps that do not depend on `earlier`, and then `later`, can begin.
    fn request(&mut self, worker: usize, path: &Path, earlier: usize, later: &Pending) {
        let Path { stops, names, .. } = path;
        let rest: Vec<usize> = path.independent_of(earlier).collect();
        let first = rest
            .iter()
            .enumerate()
            .filter(|&(position, &step)| rest[..position].iter().all(|&other| !path.ordered(other, step)));
        let mut first: Vec<TaskId> = first.map(|(_, &step)| stops[step].task).collect();
        let follows = |step: usize| path.leads_to(step, later) || stops[step].op.conflicts(&later.op);
        if !rest.iter().any(|&step| follows(step)) {
            first.insert(0, later.task);
        }
        let id = self.forest.way(worker)[earlier].0;
        let node = self.forest.get(id);
        let known = |task: &TaskId| node.backtrack.iter().any(|(name, _)| *name == names[task.index()]);
        if !first.iter().any(known)
            && let Some(&task) = first.first()
        {
            let op = path.next_op(task, earlier);
            let op = op.expect("raddle bug: a task is to run that was about to do nothing");
            self.forest.get_mut(id).add((names[task.index()], op));
        }
    }

    /// The other values of the choices in the last step of a worker's way, which was asked for with some of them.
    fn add_choices(&mut self, worker: usize, chosen: &[(u32, u32)]) {
        let &(id, place) = self.forest.way(worker).last().expect("raddle bug: a step from nowhere");
        if chosen.is_empty() {
            return;
        }
        let node = self.forest.get_mut(id);
        let (of, asked) = &mut node.options[place as usize];
        let (of, first) = (*of, asked.len());
        *asked = chosen.iter().map(|&(_, value)| value).collect();
        for (position, &(arity, taken)) in chosen.iter().enumerate().skip(first) {
            for value in (0..arity).filter(|&value| value != taken) {
                let before = chosen[..position].iter().map(|&(_, value)| value);
                node.options.push((of, before.chain([value]).collect()));
            }
        }
    }

    /// The steps of a path.
    fn steps<'a>(&'a self, way: &'a [(NodeId, u32)]) -> impl Iterator<Item = Step> + 'a {
        way.iter().map(|&(id, place)| self.forest.get(id).step(place))
    }
}

impl<G: Guide> Search for Dpor<G> {
    fn goes_by_dependence(&self) -> bool {
        true
    }

    fn next(&mut self, worker: usize, request: &mut Request) -> Next {
        if self.workers.len() <= worker {
            self.workers.resize(worker + 1, Last::default());
        }
        let given = self.forest.next(worker);
        let way = self.forest.way(worker);
        let last = way.len().wrapping_sub(1);
        self.workers[worker].known = if given == Given::Own { last } else { 0 };
        request.shared = self.workers[worker].known;
        match given {
            Given::First => return Next::Run,
            Given::Own => self.workers[worker].path.write_steps(last, &mut request.steps),
            Given::Other => {
                request.steps.clear();
                request.steps.extend(self.steps(&way[..last]));
            }
            Given::Nothing => return Next::Wait,
            Given::Over => return Next::Over,
        }
        let (id, place) = way[last];
        let node = self.forest.get(id);
        let of = node.options[place as usize].0;
        let (task, op) = &node.backtrack[of as usize];
        request.steps.push(node.step(place));
        if !self.sleepless {
            let sleeps = |other: &&Letter| other.0 != *task && !other.1.conflicts(op);
            request.sleep.extend(node.sleepers(of).filter(sleeps).map(|&(name, _)| name));
        }
        Next::Run
    }

    fn learn(&mut self, worker: usize, plan: &Plan, trace: &Trace, verdict: &Verdict) {
        self.forest.end(worker);
        let Last { mut path, known } = core::mem::take(&mut self.workers[worker]);
        path.follow(trace, known);
        let led = self.forest.way(worker).len();
        // A step that a bound forbids was asked for and not taken.
        if let Some(last) = led.checked_sub(1).filter(|&last| last < path.stops.len()) {
            self.add_choices(worker, path.choices(last));
        }
        for number in led..path.stops.len() {
            let stop = &path.stops[number];
            let mut node = Node::default();
            if let (Some(before), false) = (number.checked_sub(1), self.sleepless) {
                let (id, place) = self.forest.way(worker)[before];
                let (parent, stop) = (self.forest.get(id), &path.stops[before]);
                let of = parent.options[place as usize].0;
                let name = path.names[stop.task.index()];
                let sleeps = |other: &&Letter| other.0 != name && !other.1.conflicts(&stop.op);
                node.asleep.extend(parent.sleepers(of).filter(sleeps).copied());
            }
            // It runs, though it slept.
            node.options.push((0, Vec::new()));
            node.backtrack.push((path.names[stop.task.index()], stop.op));
            self.forest.push(worker, node);
            self.add_choices(worker, path.choices(number));
        }
        self.blocked += u64::from(*verdict == Verdict::Cut);
        self.guide.learn(trace);
        self.go_back(worker, &mut path, known, plan, trace);
        self.workers[worker] = Last { path, known };
    }

    fn lose(&mut self, worker: usize) {
        self.forest.end(worker);
    }

    fn shares(&self) -> bool {
        self.guide.is_complete()
    }

    fn save(&mut self, _: &Trace, entry: &mut Entry, all: bool) -> Option<usize> {
        if !self.guide.is_complete() {
            return None;
        }
        entry.rest().number(self.blocked);
        Some(self.forest.save(entry, all))
    }

    fn load(&mut self, state: &State, rest: &mut Take<'_>) -> Result<Vec<Step>, Unpack> {
        self.blocked = rest.number()?;
        let (forest, last) = Forest::load(&state.parts, rest)?;
        self.forest = forest;
        self.workers.clear();
        let steps = self.steps(&last).collect();
        self.forest.settle_all();
        Ok(steps)
    }

    fn outlook(&self) -> Option<Outlook> {
        Some(self.forest.outlook())
    }

    fn restart(&mut self) {
        self.guide.restart();
        self.forest = Forest::default();
        self.workers.clear();
    }
}
