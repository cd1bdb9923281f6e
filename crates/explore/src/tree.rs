//! The tree of all decisions of a program, walked depth first by running it again and again. Nothing
//! is left out but what a bound on preemptions forbids.

use crate::outlook::{Outlook, Sizes};
use crate::systematic::Request;
use raddle_model::plan::Step;
use raddle_model::trace::Picked;
use raddle_model::{Dice, Op, Rng, TaskId, Trace};
use raddle_wire::Unpack;
use raddle_wire::journal::{Entry, Put, Take};

/// A decision of the current run.
#[derive(Clone, Debug)]
struct Branch {
    /// What it was made between.
    options: Options,
    /// Which one is taken: a position in `order`.
    taken: usize,
    /// The order in which the options are taken.
    order: Vec<u32>,
    /// Preemptions before it.
    preemptions: u32,
}

#[derive(Clone, Debug)]
enum Options {
    /// Names of the tasks that may run, and whether running each is a preemption.
    Tasks(Vec<(u64, bool)>),
    /// Values below this.
    Values(u32),
}

impl Branch {
    fn count(&self) -> usize {
        match &self.options {
            Options::Tasks(tasks) => tasks.len(),
            Options::Values(arity) => *arity as usize,
        }
    }

    fn save(&self, put: &mut Put<'_>) {
        match &self.options {
            Options::Tasks(tasks) => put.list(tasks.iter(), |put, &(name, preempts)| {
                put.name(name);
                put.flag(preempts);
            }),
            // No list of tasks is empty.
            Options::Values(arity) => {
                put.number(0);
                put.number(u64::from(*arity));
            }
        }
        put.number(self.taken as u64);
        put.number(u64::from(self.preemptions));
        put.list(self.order.iter(), |put, &option| put.number(u64::from(option)));
    }

    fn load(take: &mut Take<'_>) -> Result<Branch, Unpack> {
        let tasks = take.list(|take| Ok((take.name()?, take.flag()?)))?;
        let options = if tasks.is_empty() { Options::Values(take.small()?) } else { Options::Tasks(tasks) };
        let (taken, preemptions) = (take.size()?, take.small()?);
        Ok(Branch { options, taken, order: take.list(Take::small)?, preemptions })
    }

    /// The option that is taken.
    fn option(&self) -> usize {
        self.order[self.taken] as usize
    }

    fn preemptions_after(&self) -> u32 {
        match &self.options {
            Options::Tasks(tasks) => self.preemptions + u32::from(tasks[self.option()].1),
            Options::Values(_) => self.preemptions,
        }
    }
}

/// The walk.
#[derive(Clone, Default, Debug)]
pub(crate) struct Tree {
    stack: Vec<Branch>,
    /// Most preemptions of a run; none is as many as there are.
    preemptions_max: Option<u32>,
    begun: bool,
    /// Whether the bound has forbidden anything.
    pruned: bool,
    /// Where alternatives are taken in a random order.
    dice: Option<Rng>,
    runs: u64,
    sizes: Sizes,
    /// Decisions before this one are as they were when the journal was last written.
    saved: usize,
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
        let from = if all { 0 } else { self.saved.min(self.stack.len()) };
        for (number, branch) in self.stack.iter().enumerate().skip(from) {
            entry.part(number, |put| branch.save(put));
        }
        self.saved = self.stack.len();
        let mut rest = entry.rest();
        rest.flag(self.pruned);
        rest.number(self.runs);
        rest.flag(self.dice.is_some());
        self.dice.iter().flat_map(Rng::state).for_each(|state| rest.name(state));
        self.stack.len()
    }

    /// Becomes what was saved; nothing has to be run again to know it.
    pub(crate) fn load(&mut self, parts: &[Vec<u8>], rest: &mut Take<'_>) -> Result<(), Unpack> {
        self.stack = parts.iter().map(|part| Branch::load(&mut Take::new(part))).collect::<Result<_, _>>()?;
        self.saved = 0;
        self.begun = true;
        self.pruned = rest.flag()?;
        self.runs = rest.number()?;
        let random = rest.flag()?;
        self.dice = if random { Some(Rng::from_state([rest.name()?, rest.name()?])) } else { None };
        Ok(())
    }

    /// The steps that it took.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let mut request = Request::default();
        self.write(&mut request.steps);
        request.steps
    }

    /// How much is left.
    pub(crate) fn outlook(&self) -> Outlook {
        self.sizes.outlook(self.stack.iter().map(|branch| branch.count() - 1 - branch.taken))
    }

    /// The next path; false if all have been walked.
    pub(crate) fn next(&mut self, request: &mut Request) -> bool {
        if self.begun && !self.advance() {
            return false;
        }
        self.begun = true;
        self.write(&mut request.steps);
        request.random = self.dice.as_mut().map(Rng::next_u64);
        true
    }

    /// Makes `steps`, of which there is at least one, those of the path.
    fn write(&self, steps: &mut Vec<Step>) {
        steps[0].choices.clear();
        let mut last = 0;
        for branch in &self.stack {
            match &branch.options {
                Options::Tasks(tasks) => {
                    last += 1;
                    if last == steps.len() {
                        steps.push(Step::default());
                    }
                    steps[last].task = tasks[branch.option()].0;
                    steps[last].choices.clear();
                }
                Options::Values(_) => steps[last].choices.push(branch.option() as u32),
            }
        }
        steps.truncate(last + 1);
    }

    fn advance(&mut self) -> bool {
        while let Some(last) = self.stack.last_mut() {
            last.taken += 1;
            let more = last.taken < last.count();
            let depth = self.stack.len() - 1;
            self.saved = self.saved.min(depth);
            self.sizes.end(depth, self.runs);
            if more {
                self.sizes.begin(depth, self.runs);
                return true;
            }
            self.stack.pop();
        }
        false
    }

    /// The run took the path: appends the decisions that it made by itself.
    pub(crate) fn learn(&mut self, trace: &Trace) {
        self.runs += 1;
        let led = self.stack.len();
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
                    self.push(Options::Values(choice.arity), choice.value as usize);
                }
                number += 1;
            }
            let Some((picked, event)) = picks.get(at).and_then(|picked| Some((picked, taken(picked)?)))
            else {
                break;
            };
            if number >= led {
                self.push_tasks(trace, picked, event.task, current, &ops);
            }
            number += 1;
            current = Some(event.task);
        }
    }

    fn push_tasks(
        &mut self,
        trace: &Trace,
        picked: &Picked,
        ran: TaskId,
        current: Option<TaskId>,
        ops: &[Vec<(u32, Op)>],
    ) {
        // What the last task is about to do is what it did next, or would have done.
        let next = |task: TaskId| ops[task.index()].iter().find(|(event, _)| *event >= picked.event);
        let goes_on = current.filter(|&task| {
            picked.enabled.contains(task) && next(task).is_some_and(|(_, op)| !op.offers_processor())
        });
        // The one that ran comes first: the walk is in it already.
        let others = picked.enabled.iter().filter(|&task| task != ran);
        let all = std::iter::once(ran).chain(others);
        let preempts = |task: TaskId| goes_on.is_some_and(|last| last != task);
        let mut tasks: Vec<(u64, bool)> =
            all.map(|task| (trace.names[task.index()], preempts(task))).collect();
        if self.preemptions_max.is_some_and(|most| self.preemptions() >= most) {
            let before = tasks.len();
            tasks.retain(|&(_, preempts)| !preempts);
            self.pruned |= tasks.len() < before;
        }
        self.push(Options::Tasks(tasks), 0);
    }

    /// Preemptions of the run so far.
    fn preemptions(&self) -> u32 {
        self.stack.last().map_or(0, Branch::preemptions_after)
    }

    fn push(&mut self, options: Options, taken: usize) {
        let preemptions = self.preemptions();
        let mut branch = Branch { options, taken: 0, order: Vec::new(), preemptions };
        // The one that is taken comes first, the others in turn or at random.
        branch.order = (0..branch.count() as u32).collect();
        branch.order.swap(0, taken);
        if let Some(dice) = &mut self.dice {
            for last in (2..branch.order.len()).rev() {
                branch.order.swap(last, 1 + dice.below(last as u32) as usize);
            }
        }
        self.sizes.begin(self.stack.len(), self.runs - 1);
        self.stack.push(branch);
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
