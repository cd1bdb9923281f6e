//! The tree of all decisions of a program, walked by running it again and again. Nothing is left out but what a
//! bound on preemptions forbids.

use crate::forest::{Forest, Given, Options, Way};
use crate::outlook::Outlook;
use crate::restarts::{LEFT_BEHIND_MAX, Restarts};
use crate::systematic::{Next, Request};
use raddle_model::plan::Step;
use raddle_model::trace::Picked;
use raddle_model::{Dice, Op, Rng, TaskId, Trace};
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, Put, Take};

/// A decision.
#[derive(Clone, Debug)]
struct Decision {
    /// What it was made between.
    between: Between,
    /// The order in which that is taken.
    order: Vec<u32>,
    /// Preemptions before it.
    preemptions: u32,
}

#[derive(Clone, Debug)]
enum Between {
    /// Names of the tasks that may run, and whether running each is a preemption.
    Tasks(Vec<(u64, bool)>),
    /// Values below this.
    Values(u32),
}

impl Decision {
    /// What is taken at a position.
    fn at(&self, place: u32) -> usize {
        self.order[place as usize] as usize
    }

    fn preemptions_after(&self, place: u32) -> u32 {
        match &self.between {
            Between::Tasks(tasks) => self.preemptions + u32::from(tasks[self.at(place)].1),
            Between::Values(_) => self.preemptions,
        }
    }
}

impl Options for Decision {
    fn count(&self) -> usize {
        match &self.between {
            Between::Tasks(tasks) => tasks.len(),
            Between::Values(arity) => *arity as usize,
        }
    }

    fn save(&self, put: &mut Put<'_>) {
        match &self.between {
            Between::Tasks(tasks) => put.list(tasks.iter(), |put, &(name, preempts)| {
                put.name(name);
                put.flag(preempts);
            }),
            // No list of tasks is empty.
            Between::Values(arity) => {
                put.number(0);
                put.number(u64::from(*arity));
            }
        }
        put.number(u64::from(self.preemptions));
        put.list(self.order.iter(), |put, &option| put.number(u64::from(option)));
    }

    fn load(take: &mut Take<'_>) -> Result<Decision, Unpack> {
        let tasks = take.list(|take| Ok((take.name()?, take.flag()?)))?;
        let between = if tasks.is_empty() { Between::Values(take.small()?) } else { Between::Tasks(tasks) };
        let preemptions = take.small()?;
        let decision = Decision { between, order: take.list(Take::small)?, preemptions };
        let sound = decision.order.iter().all(|&option| (option as usize) < decision.count());
        if !sound || decision.order.len() != decision.count() {
            return Err(Unpack::Nonsense("a decision between other options"));
        }
        Ok(decision)
    }
}

/// The walk.
#[derive(Clone, Default, Debug)]
pub(crate) struct Tree {
    forest: Forest<Decision>,
    /// Most preemptions of a run; none is as many as there are.
    preemptions_max: Option<u32>,
    /// Whether the bound has forbidden anything.
    pruned: bool,
    /// Where alternatives are taken in a random order; the search begins anew now and then.
    dice: Option<Rng>,
    restarts: Restarts,
}

impl Tree {
    pub(crate) fn new(preemptions_max: Option<u32>) -> Tree {
        Tree { preemptions_max, ..Tree::default() }
    }

    pub(crate) fn shuffled(seed: u64) -> Tree {
        Tree { dice: Some(Rng::new(seed)), ..Tree::default() }
    }

    pub(crate) fn pruned(&self) -> bool {
        self.pruned
    }

    /// Writes the decisions that have changed, or all.
    pub(crate) fn save(&mut self, entry: &mut Entry, all: bool) -> usize {
        let mut rest = entry.rest();
        rest.flag(self.pruned);
        rest.flag(self.dice.is_some());
        self.dice.iter().flat_map(Rng::state).for_each(|state| rest.name(state));
        self.restarts.save(&mut rest);
        self.forest.save(entry, all)
    }

    /// Becomes what was saved, and says which steps the last run took.
    pub(crate) fn load(&mut self, parts: &[Vec<u8>], rest: &mut Take<'_>) -> Result<Vec<Step>, Unpack> {
        self.pruned = rest.flag()?;
        let random = rest.flag()?;
        self.dice = if random { Some(Rng::from_state([rest.name()?, rest.name()?])) } else { None };
        self.restarts = Restarts::load(rest)?;
        let (forest, last) = Forest::load(parts, rest)?;
        self.forest = forest;
        let mut steps = vec![Step::default()];
        self.write(&last, &mut steps);
        self.forest.settle_all();
        self.forest.resume(last);
        Ok(steps)
    }

    /// How much is left.
    pub(crate) fn outlook(&self) -> Outlook {
        self.forest.outlook()
    }

    /// The next path of a worker.
    pub(crate) fn next(&mut self, worker: usize, request: &mut Request) -> Next {
        if self.dice.is_some() && self.forest.size() < LEFT_BEHIND_MAX && self.restarts.is_due() {
            self.forest.jump(worker);
        }
        match self.forest.next(worker) {
            Given::First | Given::Own | Given::Other => {}
            Given::Nothing => return Next::Wait,
            Given::Over => return Next::Over,
        }
        self.write(self.forest.way(worker), &mut request.steps);
        request.random = self.dice.as_mut().map(Rng::next_u64);
        Next::Run
    }

    /// Makes `steps`, of which there is at least one, those of a path.
    fn write(&self, way: &Way, steps: &mut Vec<Step>) {
        steps[0].choices.clear();
        let mut last = 0;
        for &(id, place) in way {
            let decision = self.forest.get(id);
            match &decision.between {
                Between::Tasks(tasks) => {
                    last += 1;
                    if last == steps.len() {
                        steps.push(Step::default());
                    }
                    steps[last].task = tasks[decision.at(place)].0;
                    steps[last].choices.clear();
                }
                Between::Values(_) => steps[last].choices.push(decision.at(place) as u32),
            }
        }
        steps.truncate(last + 1);
    }

    /// Nobody knows what the run of a worker did.
    pub(crate) fn lose(&mut self, worker: usize) {
        self.forest.end(worker);
    }

    /// The run of a worker took its path: appends the decisions that it made by itself.
    pub(crate) fn learn(&mut self, worker: usize, trace: &Trace) {
        self.restarts.run();
        self.forest.end(worker);
        let led = self.forest.way(worker).len();
        let taken = |picked: &Picked| trace.events.get(picked.event as usize);
        let picks = trace.log.picks.partition_point(|picked| taken(picked).is_some());
        let picks = &trace.log.picks[..picks];
        // Most runs are long and new at their end: from the last pick on before which all decisions were given.
        let values = |at: usize| trace.log.chosen.partition_point(|choice| (choice.pick as usize) < at);
        let first = last_pick_before(picks.len(), |at| at + values(at) <= led);
        let mut number = first + values(first);
        let mut current: Option<TaskId> =
            first.checked_sub(1).and_then(|at| taken(&picks[at])).map(|event| event.task);
        let mut chosen = trace.log.chosen[values(first)..].iter().peekable();
        let ops = pending(trace, first);
        for at in first..=picks.len() {
            while let Some(choice) = chosen.next_if(|choice| choice.pick as usize == at) {
                if number >= led {
                    self.push(worker, Between::Values(choice.arity), choice.value as usize);
                }
                number += 1;
            }
            let Some((picked, event)) = picks.get(at).and_then(|picked| Some((picked, taken(picked)?)))
            else {
                break;
            };
            if number >= led {
                self.push_tasks(worker, trace, picked, event.task, current, &ops);
            }
            number += 1;
            current = Some(event.task);
        }
    }

    fn push_tasks(
        &mut self,
        worker: usize,
        trace: &Trace,
        picked: &Picked,
        ran: TaskId,
        current: Option<TaskId>,
        ops: &[Vec<(u32, Op)>],
    ) {
        // What the last task is about to do is what it did next, or would have done.
        let next = |task: TaskId| {
            let own = &ops[task.index()];
            own.get(own.partition_point(|(event, _)| *event < picked.event))
        };
        let goes_on = current.filter(|&task| {
            picked.enabled.contains(task) && next(task).is_some_and(|(_, op)| !op.offers_processor())
        });
        // The one that ran comes first: the walk is in it already.
        let others = picked.enabled.iter().filter(|&task| task != ran);
        let all = std::iter::once(ran).chain(others);
        let preempts = |task: TaskId| goes_on.is_some_and(|last| last != task);
        let mut tasks: Vec<(u64, bool)> =
            all.map(|task| (trace.names[task.index()], preempts(task))).collect();
        if self.preemptions_max.is_some_and(|most| self.preemptions(worker) >= most) {
            let before = tasks.len();
            tasks.retain(|&(_, preempts)| !preempts);
            self.pruned |= tasks.len() < before;
        }
        self.push(worker, Between::Tasks(tasks), 0);
    }

    /// Preemptions of the run of a worker so far.
    fn preemptions(&self, worker: usize) -> u32 {
        let last = self.forest.way(worker).last();
        last.map_or(0, |&(id, place)| self.forest.get(id).preemptions_after(place))
    }

    fn push(&mut self, worker: usize, between: Between, taken: usize) {
        let preemptions = self.preemptions(worker);
        let mut decision = Decision { between, order: Vec::new(), preemptions };
        // The one that is taken comes first, the others in turn or at random.
        decision.order = (0..decision.count() as u32).collect();
        decision.order.swap(0, taken);
        if let Some(dice) = &mut self.dice {
            for last in (2..decision.order.len()).rev() {
                decision.order.swap(last, 1 + dice.below(last as u32) as usize);
            }
        }
        self.forest.push(worker, decision);
    }
}

/// The greatest number up to `most` for which something holds that holds for 0 and up to a point.
fn last_pick_before(most: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = high - (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// What each task was about to do after the first picks: the number of events before it did, and the operation.
fn pending(trace: &Trace, first: usize) -> Vec<Vec<(u32, Op)>> {
    let mut ops = vec![Vec::new(); trace.names.len()];
    for picked in &trace.log.picks[first..] {
        if let Some(event) = trace.events.get(picked.event as usize) {
            ops[event.task.index()].push((picked.event, event.op));
        }
    }
    for &(task, op) in &trace.pending {
        ops[task.index()].push((u32::MAX, op));
    }
    ops
}
