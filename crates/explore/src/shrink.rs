//! Shrinks a failing schedule to few preemptions: delta debugging (Zeller and Hildebrandt, 2002) over
//! the context switches of the run.
//!
//! The recorded run is turned into wishes ([`raddle_policy::wishes`]): after this much of this task,
//! that one. Without any wish nobody is preempted. Sets of wishes are left out, larger ones first, as
//! long as the run fails in the same way; in the end no single wish can be left out. Wishes that the
//! shorter run no longer gets to are dropped for nothing.
//!
//! That is a local optimum: a preemption may be needless if another is made a little later, or if
//! another task begins. So the runs that are left over are spent on a search from the other end: all
//! schedules without preemptions, then with one, and so on (context bounding, Musuvathi and Qadeer
//! 2007), preempting only before operations that conflict with another task's, until one fails in the
//! same way or there would be as many preemptions as there are already.

use crate::target::{Run, Target, TargetError};
use core::fmt;
use raddle_model::plan::{Switch, Wishes};
use raddle_model::{FailureKind, Op, Plan, SiteId, Tail, TaskId, Trace, Verdict};
use raddle_policy::wishes::{of_trace, picks};

/// How much [`minimize`] does at most, apart from what it is in when that is over. By runs alone, a program with long ones
/// would take forever; by time, it would not be the same twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// So many runs.
    pub runs: u64,
    /// So many events in them.
    pub events: u64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { runs: 10_000, events: 10_000_000 }
    }
}

/// A shrunk failure.
#[derive(Clone, PartialEq, Debug)]
pub struct Minimized {
    /// Repeats it exactly: a full schedule.
    pub plan: Plan,
    /// The recorded run.
    pub run: Run,
    /// Its preemptions (DESIGN §5).
    pub preemptions: u32,
    /// How many runs it took.
    pub runs: u64,
}

/// Why nothing was shrunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShrinkError {
    /// The plan does not fail: how it ends instead.
    DoesNotFail(String),
    /// The target could not do it.
    Target(TargetError),
}

impl fmt::Display for ShrinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShrinkError::DoesNotFail(how) => write!(f, "there is nothing to minimize: the run {how}"),
            ShrinkError::Target(error) => f.write_str(&error.message),
        }
    }
}

impl std::error::Error for ShrinkError {}

impl From<TargetError> for ShrinkError {
    fn from(error: TargetError) -> ShrinkError {
        ShrinkError::Target(error)
    }
}

/// The fewest preemptions that are found with this effort and still give the failure of `plan`, of the
/// same kind at the same sites. Never worse than `plan`, and never something that does not fail.
/// `goes_on` is told how far the work is, from 0 to 1 at most, and says whether more of it may follow.
pub fn minimize<T: Target + ?Sized>(
    target: &mut T,
    plan: &Plan,
    effort: Effort,
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> Result<Minimized, ShrinkError> {
    let original = target.run(plan)?;
    let Some(identity) = identity(&original) else {
        return Err(ShrinkError::DoesNotFail(ended(&original.digest.verdict)));
    };
    // Some failures are told by who called.
    let bare = self::identity(&target.run_bare(plan)?).as_ref() == Some(&identity);
    let wishes = of_trace(&original.trace, &plan.points);
    let trace = original.trace.clone();
    let mut shrinker = Shrinker {
        target,
        plan,
        bare,
        identity,
        original: trace,
        choices: wishes.choices,
        effort,
        spent: Effort { runs: 2, events: original.trace.events.len() as u64 },
        goes_on,
        stopped: false,
    };
    // Each of them may be a preemption until it is known better.
    let preemptions = wishes.switches.len() as u32;
    let mut best = Candidate { preemptions, switches: wishes.switches, run: original };
    if let Some(run) = shrinker.fails(&best.switches)? {
        best.run = run;
        shrinker.shrink(&mut best)?;
        best.preemptions = shrinker.preempting(&best)?;
        shrinker.search(&mut best)?;
    }
    let plan = plan.replaying(best.run.trace.schedule.clone());
    let (preemptions, runs) = (best.preemptions, shrinker.spent.runs + 1);
    let (stopped, identity) = (shrinker.stopped, shrinker.identity);
    let mut run = target.run(&plan)?;
    // Whoever wants no more runs may get none.
    if stopped && self::identity(&run).as_ref() != Some(&identity) {
        run = best.run;
    }
    Ok(Minimized { plan, run, preemptions, runs })
}

type Identity = (FailureKind, Vec<SiteId>);

fn identity(run: &Run) -> Option<Identity> {
    match &run.digest.verdict {
        Verdict::Failed(failure) => Some(failure.identity()),
        _ => None,
    }
}

fn ended(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Finished => String::from("finished"),
        Verdict::Cut => String::from("was cut"),
        Verdict::Diverged(divergence) => format!(
            "left its schedule at step {}: expected {}, found {}",
            divergence.step, divergence.expected, divergence.found
        ),
        Verdict::Failed(failure) => format!("failed: {}", failure.message),
    }
}

/// A set of switches under which the run fails.
struct Candidate {
    switches: Vec<Switch>,
    run: Run,
    // Of the run, or more.
    preemptions: u32,
}

struct Shrinker<'a, T: ?Sized> {
    target: &'a mut T,
    plan: &'a Plan,
    // Whether the failure is the same if nobody asks who called.
    bare: bool,
    identity: Identity,
    original: Trace,
    choices: Vec<u32>,
    effort: Effort,
    spent: Effort,
    goes_on: &'a mut dyn FnMut(f64) -> bool,
    // Nobody wants to wait for more.
    stopped: bool,
}

impl<T: Target + ?Sized> Shrinker<'_, T> {
    /// Whether there are no more runs to make.
    fn spent(&mut self) -> bool {
        let share = |spent: u64, all: u64| spent as f64 / all.max(1) as f64;
        let done = share(self.spent.runs, self.effort.runs)
            .max(share(self.spent.events, self.effort.events))
            .min(1.0);
        self.stopped |= !(self.goes_on)(done);
        self.stopped || done == 1.0
    }

    fn run(&mut self, switches: &[Switch]) -> Result<Run, TargetError> {
        let mut switches = switches.to_vec();
        switches.sort_unstable();
        let wishes = Wishes { switches, choices: self.choices.clone() };
        let plan = Plan { prefix: Default::default(), tail: Tail::Wishes(wishes), ..self.plan.clone() };
        let run = if self.bare { self.target.run_bare(&plan)? } else { self.target.run(&plan)? };
        self.spent.runs += 1;
        self.spent.events += run.trace.events.len() as u64;
        Ok(run)
    }

    /// The run under these switches, if it fails in the same way.
    fn fails(&mut self, switches: &[Switch]) -> Result<Option<Run>, TargetError> {
        let run = self.run(switches)?;
        Ok(Some(run).filter(|run| identity(run).as_ref() == Some(&self.identity)))
    }

    /// Leaves out sets of switches, halves first, until no single one can be left out.
    fn shrink(&mut self, best: &mut Candidate) -> Result<(), TargetError> {
        self.drop_unused(best);
        let mut size = best.switches.len().div_ceil(2);
        while size > 0 && !self.spent() {
            let mut smaller = false;
            let mut at = 0;
            while at < best.switches.len() && !self.spent() {
                let end = (at + size).min(best.switches.len());
                let mut rest = best.switches.clone();
                rest.drain(at..end);
                if let Some(run) = self.fails(&rest)? {
                    *best = Candidate { preemptions: rest.len() as u32, switches: rest, run };
                    self.drop_unused(best);
                    smaller = true;
                } else {
                    at = end;
                }
            }
            size = match (size, smaller) {
                (1, true) => 1,
                _ => size / 2,
            };
        }
        Ok(())
    }

    /// Switches that did not happen in the run have no part in it. The others come in the order in which they happened: it is
    /// often the end of a run that matters, and how it came there does not.
    fn drop_unused(&self, best: &mut Candidate) {
        best.switches.sort_unstable();
        let happened = picks(&best.run.trace, &self.plan.points).into_iter().map(|picked| picked.switch);
        best.switches = happened.filter(|switch| best.switches.binary_search(switch).is_ok()).collect();
    }

    /// How many of the switches are preemptions: without one, its task would have gone on. Those that there are no runs left
    /// to look at may all be.
    fn preempting(&mut self, best: &Candidate) -> Result<u32, TargetError> {
        let mut count = 0;
        for (seen, &Switch { from, events, to }) in best.switches.iter().enumerate() {
            if self.spent() {
                return Ok(count + (best.switches.len() - seen) as u32);
            }
            let other = |switch: &&Switch| **switch != Switch { from, events, to };
            let rest: Vec<Switch> = best.switches.iter().filter(other).copied().collect();
            let run = self.run(&rest)?;
            let mut picks = picks(&run.trace, &self.plan.points).into_iter();
            let here = picks.find(|picked| (picked.switch.from, picked.switch.events) == (from, events));
            count += u32::from(here.is_some_and(|picked| picked.went_on && !picked.op.offers_processor()));
        }
        Ok(count)
    }

    /// Looks for a failing run with fewer preemptions than `best` has, the fewest first.
    fn search(&mut self, best: &mut Candidate) -> Result<(), TargetError> {
        let mut layer = vec![Node { switches: Vec::new(), settled: 0 }];
        for preemptions in 0..best.preemptions {
            let mut more = Vec::new();
            while let Some(node) = layer.pop() {
                if self.spent() {
                    return Ok(());
                }
                let run = self.run(&node.switches)?;
                if identity(&run).as_ref() == Some(&self.identity) {
                    *best = Candidate { switches: node.switches, run, preemptions };
                    return Ok(());
                }
                self.expand(&node, &run, &mut layer, &mut more);
            }
            // Last in, first out: those that were found first are tried first.
            more.reverse();
            layer = more;
        }
        Ok(())
    }

    /// All ways to decide otherwise at one place of a run, after those that are settled: without
    /// another preemption, and with one.
    fn expand(&self, node: &Node, run: &Run, same: &mut Vec<Node>, more: &mut Vec<Node>) {
        let picks = picks(&run.trace, &self.plan.points);
        let fulfilled = |wish: &Switch| picks.iter().any(|picked| picked.switch == *wish);
        if !node.switches.last().is_none_or(fulfilled) {
            return;
        }
        for (at, picked) in picks.iter().enumerate().skip(node.settled) {
            let preempts = picked.went_on && !picked.op.offers_processor();
            let matters = |trace| conflicts(&picked.op, picked.switch.to, trace);
            if preempts && !matters(&run.trace) && !matters(&self.original) {
                continue;
            }
            // A run that ends early leaves tasks behind that could have gone on.
            let left = run.trace.pending.iter().map(|(task, _)| run.trace.names[task.index()]);
            let mut others: Vec<u64> =
                picks[at + 1..].iter().map(|later| later.switch.to).chain(left).collect();
            others.sort_unstable();
            others.dedup();
            for to in others.into_iter().filter(|&to| to != picked.switch.to) {
                let mut switches = node.switches.clone();
                switches.push(Switch { to, ..picked.switch });
                let child = Node { switches, settled: at + 1 };
                if preempts { more.push(child) } else { same.push(child) }
            }
        }
    }
}

/// A schedule of the search: what it decides otherwise than staying, in order, and the number of
/// picks that are settled.
struct Node {
    switches: Vec<Switch>,
    settled: usize,
}

/// Whether an operation conflicts with one that another task did, or was about to do. Preempting its
/// task before any other operation is the same as preempting it later. Objects are compared by the ids
/// of one run: across runs that is a guess, which can cost a preemption and nothing else.
fn conflicts(op: &Op, name: u64, trace: &Trace) -> bool {
    let other = |task: TaskId| trace.names[task.index()] != name;
    trace.events.iter().any(|event| other(event.task) && event.op.conflicts(op))
        || trace.pending.iter().any(|(task, pending)| other(*task) && pending.conflicts(op))
}
