//! The guided search: Flanagan and Godefroid's, or one bounded by preemptions, that goes back only for an order
//! of two statements that no run has shown.
//!
//! Deviations from algorithms 4 and 5. Runs are looked at when they have ended, with all that they taught; and
//! what is still to be tried is asked about again when its turn comes, since another run may have shown it
//! meanwhile. Both only leave out what the paper would leave out if it had come a little later. An order that was
//! tried and did not come about, since the run went on in another way, is not tried again before every other had
//! its turn: what cannot happen would be tried at every step otherwise. The rule of which
//! steps an operation is held against is DPOR's own, happens-before included (see [`crate::dpor`]). There are no
//! sleep sets: they would count on runs that the guide refuses. A value of a choice (which waiter is woken, what
//! `choose` gives) is tried where no run has taken it at that statement yet.

use super::known::Known;
use crate::path::{Path, Pending};
use crate::systematic::{Next, Request, Search};
use raddle_analysis::hapset::pair;
use raddle_model::plan::Step;
use raddle_model::{Dice, Kind, Op, Pair, Plan, Rng, StatementId, TaskId, TaskSet, Trace, Verdict};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Runs that are put off for one order of two statements; more are left out.
const PUT_OFF_MAX: u32 = 8;

/// Values that are tried of a choice at one statement: a random number has too many.
const VALUES_MAX: usize = 8;

/// Who is to run where the search goes back.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Under {
    /// The later operation, or something that leads to it (algorithm 3).
    #[default]
    Dpor,
    /// Whoever can without exceeding so many preemptions (§4.2.1).
    Pcb {
        /// Preemptions.
        bound: u32,
    },
}

/// Somebody is to run from a node.
#[derive(Clone, Debug)]
struct Wish {
    /// Stable name.
    task: u64,
    /// The orders of statements that it is for.
    why: Vec<Pair>,
}

/// What is known of the state before a step.
#[derive(Clone, Default, Debug)]
struct Node {
    wishes: Vec<Wish>,
    /// Names of tasks that have run from here.
    done: Vec<u64>,
    /// Preemptions on the way here.
    preemptions: u32,
}

/// A run that is put off, since what it is for was tried in vain elsewhere.
#[derive(Clone, Debug)]
struct PutOff {
    steps: Vec<Step>,
    why: Vec<Pair>,
}

/// The search.
#[derive(Clone, Debug)]

pub struct Guided {
    known: Known,
    under: Under,
    /// Of training runs.
    seed: u64,
    /// Breaks ties: which of several wishes at a node comes first. The first one, if there is none.
    dice: Option<Rng>,
    /// The last run, and one node for each of its steps that the search has not left for good.
    path: Path,
    nodes: Vec<Node>,
    /// Who could be picked at each of its steps.
    able: Vec<TaskSet>,
    /// Training runs that are left.
    training: u64,
    begun: bool,
    /// Nodes before this one belong to another part of the search.
    floor: usize,
    /// How often each order was tried, and how often it was put off.
    tried: BTreeMap<Pair, u32>,
    put_off: VecDeque<PutOff>,
    /// Values that were chosen: the statement at which the step began, which choice of it, the value.
    values: BTreeSet<(StatementId, usize, u32)>,
}

impl Guided {
    /// A search that begins with what is known. The seed breaks ties; 0 takes them in order.
    pub fn new(known: Known, under: Under, seed: u64) -> Guided {
        Guided {
            known,
            under,
            seed,
            dice: (seed != 0).then(|| Rng::new(seed)),
            path: Path::default(),
            nodes: Vec::new(),
            able: Vec::new(),
            training: 0,
            begun: false,
            floor: 0,
            tried: BTreeMap::new(),
            put_off: VecDeque::new(),
            values: BTreeSet::new(),
        }
    }

    /// The same with so many random runs to learn from first.
    #[must_use]
    pub fn after_training(self, runs: u64) -> Guided {
        Guided { training: runs, ..self }
    }

    /// What is known.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// Goes back for what was never seen: each operation is held against the steps that it races with.
    fn go_back(&mut self, new: usize, plan: &Plan, trace: &Trace) {
        let done = (new..self.path.stops.len()).map(|step| self.path.at(step));
        let all: Vec<Pending> = done.chain(self.path.left()).collect();
        for later in all {
            let since = self.path.last_own(&later);
            let mut below = self.path.end(&later);
            while let Some(earlier) = self.path.rival(&later, below) {
                below = earlier;
                let stop = &self.path.stops[earlier];
                // The end of the process is no access; but it cuts off whatever was left to do.
                let end = (stop.op.kind == Kind::End).then_some(Pair {
                    of: stop.op.site.into(),
                    older: stop.task < later.task,
                    before: later.op.site.into(),
                });
                let rivals = accesses(trace, earlier, &stop.op);
                let own = match later.step {
                    Some(step) => accesses(trace, step, &later.op),
                    None => vec![later.op],
                };
                let mut pairs = rivals.iter().flat_map(|a| own.iter().map(move |b| (a, b)));
                let seen = pairs.find_map(|(a, b)| pair(stop.task, a, later.task, b));
                let Some(pair) = seen.or(end) else { continue };
                if !self.known.contains(&pair)
                    && earlier >= self.floor
                    && self.path.is_possible_without(earlier, &later, plan, trace)
                {
                    self.wish(earlier, &later, pair);
                    if earlier < since {
                        break;
                    }
                }
            }
        }
    }

    /// `later` is to come before the step `earlier`.
    fn wish(&mut self, earlier: usize, later: &Pending, pair: Pair) {
        let able: Vec<TaskId> = self.able[earlier].iter().collect();
        let tasks = match self.under {
            Under::Dpor => match self.leading(earlier, later, &able) {
                Some(task) => vec![task],
                None => able,
            },
            Under::Pcb { bound } => {
                let most = bound.saturating_sub(self.nodes[earlier].preemptions);
                able.into_iter().filter(|&task| u32::from(self.preempts(earlier, task)) <= most).collect()
            }
        };
        for task in tasks {
            let name = self.path.names[task.index()];
            let node = &mut self.nodes[earlier];
            if node.done.contains(&name) {
                continue;
            }
            match node.wishes.iter_mut().find(|wish| wish.task == name) {
                Some(wish) if wish.why.contains(&pair) => {}
                Some(wish) => wish.why.push(pair),
                None => node.wishes.push(Wish { task: name, why: vec![pair] }),
            }
        }
    }

    /// The task of `later` if it can run before the step `earlier`; else one that can, and leads to it.
    fn leading(&self, earlier: usize, later: &Pending, able: &[TaskId]) -> Option<TaskId> {
        let end = later.step.unwrap_or(self.path.stops.len());
        let leads = |task: TaskId| {
            let mut steps = earlier + 1..end;
            steps.any(|step| self.path.stops[step].task == task && self.path.leads_to(step, later))
        };
        let own = able.iter().find(|&&task| task == later.task);
        own.or_else(|| able.iter().find(|&&task| leads(task))).copied()
    }

    /// Whether running `task` at a step instead is a preemption.
    fn preempts(&self, number: usize, task: TaskId) -> bool {
        let Some(last) = number.checked_sub(1).map(|last| self.path.stops[last].task) else { return false };
        let op = self.path.next_op(last, number);
        let goes_on = op.is_some_and(|op| !op.offers_processor());
        task != last && goes_on && self.able[number].contains(last)
    }

    /// A value that nobody has chosen there, as the choices of the last step up to it.
    fn new_value(&mut self) -> Option<Vec<u32>> {
        let number = self.nodes.len() - 1;
        let (stop, choices) = (&self.path.stops[number], self.path.choices(number));
        for (at, &(arity, _)) in choices.iter().enumerate().rev() {
            let statement = stop.op.site.into();
            let tried = self.values.range((statement, at, 0)..=(statement, at, u32::MAX)).count();
            for value in (0..arity).take(if tried < VALUES_MAX { VALUES_MAX } else { 0 }) {
                if self.values.insert((statement, at, value)) {
                    let before = choices[..at].iter().map(|&(_, value)| value);
                    return Some(before.chain([value]).collect());
                }
            }
        }
        None
    }

    /// Who runs from the last node next; nobody if all that was wished for was seen or tried meanwhile.
    fn fulfil(&mut self) -> Option<u64> {
        let node = self.nodes.last_mut().expect("raddle bug: no node is left");
        let (known, tried) = (&self.known, &self.tried);
        node.wishes.retain_mut(|wish| {
            wish.why.retain(|pair| !known.contains(pair));
            !wish.why.is_empty()
        });
        let fresh = |wish: &Wish| wish.why.iter().any(|pair| !tried.contains_key(pair));
        let fresh: Vec<usize> = (0..node.wishes.len()).filter(|&at| fresh(&node.wishes[at])).collect();
        if fresh.is_empty() {
            self.put_off();
            return None;
        }
        let first = self.dice.as_mut().map_or(0, |dice| dice.below(fresh.len() as u32) as usize);
        let Wish { task, why } = node.wishes.remove(fresh[first]);
        node.done.push(task);
        for pair in why {
            self.tried.entry(pair).or_insert(0);
        }
        Some(task)
    }

    /// Keeps what is left to wish for at the last node, for later.
    fn put_off(&mut self) {
        let last = self.nodes.len() - 1;
        for Wish { task, why } in std::mem::take(&mut self.nodes[last].wishes) {
            let often =
                why.iter().all(|pair| self.tried.get(pair).is_some_and(|&times| times >= PUT_OFF_MAX));
            if often {
                continue;
            }
            for pair in &why {
                *self.tried.entry(*pair).or_insert(0) += 1;
            }
            let mut request = Request::default();
            self.turn(Step { task, choices: Vec::new() }, &mut request);
            self.put_off.push_back(PutOff { steps: request.steps, why });
        }
    }

    /// The next run that was put off, if nobody has seen meanwhile what it is for.
    fn resume(&mut self, request: &mut Request) -> bool {
        while let Some(PutOff { steps, why }) = self.put_off.pop_front() {
            if why.iter().any(|pair| !self.known.contains(pair)) {
                self.floor = steps.len();
                request.steps = steps;
                return true;
            }
        }
        false
    }

    /// The run that takes another last step.
    fn turn(&self, step: Step, request: &mut Request) -> bool {
        self.path.write_steps(self.nodes.len() - 1, &mut request.steps);
        request.steps.push(step);
        true
    }

    /// What to run next; false if nothing is left.
    fn ask(&mut self, request: &mut Request) -> bool {
        if self.training > 0 {
            request.random = Some(Rng::seed_of_run(self.seed, self.training));
            return true;
        }
        if !self.begun {
            self.begun = true;
            return true;
        }
        while let Some(number) = self.nodes.len().checked_sub(1) {
            if let Some(choices) = self.new_value() {
                let step = Step { choices, ..self.path.step(number) };
                return self.turn(step, request);
            }
            if let Some(task) = self.fulfil() {
                return self.turn(Step { task, choices: Vec::new() }, request);
            }
            self.nodes.pop();
            if self.nodes.len() <= self.floor {
                self.nodes.clear();
            }
        }
        self.resume(request)
    }
}

/// What a step has accessed: of an access to any memory, the words that it was.
fn accesses(trace: &Trace, step: usize, op: &Op) -> Vec<Op> {
    if !op.is_wide() {
        return vec![*op];
    }
    let picks = &trace.log.picks;
    let begin = picks[step - 1].event as usize;
    let end = picks.get(step).map_or(trace.events.len(), |next| next.event as usize);
    let words = trace.events[begin..end].iter().map(|event| event.op);
    words.filter(|word| word.is_memory() && !word.is_wide() && word.site == op.site).collect()
}

impl Search for Guided {
    fn next(&mut self, _: usize, request: &mut Request) -> Next {
        Next::if_any(self.ask(request))
    }

    fn learn(&mut self, _: usize, plan: &Plan, trace: &Trace, verdict: &Verdict) {
        self.known.look(trace);
        if *verdict == Verdict::Finished {
            self.known.learn(trace);
        }
        if self.training > 0 {
            self.training -= 1;
            return;
        }
        let old = self.nodes.len().saturating_sub(1);
        self.path.follow(trace, old);
        self.able.clear();
        self.able.push([TaskId::MAIN].into_iter().collect());
        self.able.extend(trace.log.picks.iter().map(|picked| picked.enabled.clone()));
        self.nodes.resize(self.path.stops.len().max(old), Node::default());
        for number in old..self.path.stops.len() {
            let stop = &self.path.stops[number];
            for (at, &(_, value)) in self.path.choices(number).iter().enumerate() {
                self.values.insert((stop.op.site.into(), at, value));
            }
            let name = self.path.names[stop.task.index()];
            let before = number.checked_sub(1);
            let preempted = before.is_some_and(|last| self.preempts(last, self.path.stops[last].task));
            let preemptions = before.map_or(0, |last| self.nodes[last].preemptions) + u32::from(preempted);
            let node = &mut self.nodes[number];
            node.preemptions = preemptions;
            if !node.done.contains(&name) {
                node.done.push(name);
            }
        }
        self.go_back(old, plan, trace);
    }

    fn restart(&mut self) {
        self.path = Path::default();
        self.nodes.clear();
        self.begun = false;
        self.floor = 0;
        self.tried.clear();
        self.put_off.clear();
    }

    fn bound(&self) -> Option<String> {
        Some(String::from("as far as HaPSets tell them apart"))
    }
}
