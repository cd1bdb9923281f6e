//! What all systematic searches have in common. A [`Search`] knows nothing but steps: which ones the next
//! run shall take, and what a run that took them looked like. [`Systematic`] makes an explorer of it:
//! it puts plans around the steps, begins anew when a run shows that there must be more scheduling
//! points, and says whether, and within which bounds, everything was run.

use crate::explorer::{Batch, Exhausted, Explorer};
use crate::journal::{Journal, JournalError};
use crate::outlook::Outlook;
use crate::path::closes;
use crate::target::{Ask, Digest, Flow, Run, Searcher, Target};
use alloc::sync::Arc;
use core::any::Any;
use raddle_model::plan::{Step, Steps};
use raddle_model::trace::{Hidden, Log, Reached};
use raddle_model::{FailureKind, Plan, SiteId, Tail, Trace, Verdict};
use raddle_wire::journal::{Entry, State, Take};
use raddle_wire::{JournalHeader, Unpack};
use std::path::Path;

/// What the next run shall do. It is used again for the run after that, for its memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Its first steps; the first one is main before its first scheduling point.
    pub steps: Vec<Step>,
    /// Names of tasks that sleep after them.
    pub sleep: Vec<u64>,
    /// The seed of a random rest; none if it is to be quiet.
    pub random: Option<u64>,
    /// So many of the first steps are those of the worker's run before, as far as that is known.
    pub shared: usize,
}

impl Default for Request {
    /// Quietly from the beginning.
    fn default() -> Request {
        Request { steps: vec![Step::default()], sleep: Vec::new(), random: None, shared: 0 }
    }
}

/// What a search says to a worker that asks what to run next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// What was written into the request.
    Run,
    /// Nothing is known now; what other workers run may bring something.
    Wait,
    /// Nothing is left.
    Over,
}

impl Next {
    /// For one who never has to wait.
    pub(crate) fn if_any(any: bool) -> Next {
        if any { Next::Run } else { Next::Over }
    }
}

/// A search through the runs of a program, or through its partial orders. Workers have numbers from 0 on; each asks,
/// runs and tells, one run at a time, and they may do so in any order. What a worker runs is a matter of that order, what
/// all of them run together is not.
pub trait Search: Clone + Send + 'static {
    /// What a worker is to run next. Before its first run the request is the default one, later its steps are those of
    /// its run before, and nobody sleeps.
    fn next(&mut self, worker: usize, request: &mut Request) -> Next;

    /// The run that the worker was asked for has ended.
    fn learn(&mut self, worker: usize, plan: &Plan, trace: &Trace, verdict: &Verdict);

    /// It has, and nobody knows what it did.
    fn lose(&mut self, worker: usize) {
        let _ = worker;
    }

    /// Whether several workers can work on it.
    fn shares(&self) -> bool {
        false
    }

    /// Writes what has changed since the last time, or all of it, and says how many parts there are. None if it has
    /// no journal. The trace is that of the last run.
    fn save(&mut self, trace: &Trace, entry: &mut Entry, all: bool) -> Option<usize> {
        let _ = (trace, entry, all);
        None
    }

    /// Becomes what was saved, and says which steps its last run took. That run is repeated and handed to
    /// [`Search::recall`] before anything else is asked.
    fn load(&mut self, state: &State, rest: &mut Take<'_>) -> Result<Vec<Step>, Unpack> {
        let _ = (state, rest);
        Err(Unpack::Nonsense("the search keeps no journal"))
    }

    /// The last run before it was interrupted, once more.
    fn recall(&mut self, trace: &Trace) {
        let _ = trace;
    }

    /// Whether nothing is left, while no run is under way. What is asked for next does not change by this.
    fn is_over(&mut self) -> bool {
        self.clone().next(0, &mut Request::default()) == Next::Over
    }

    /// Forgets everything: the program has more scheduling points than was thought.
    fn restart(&mut self);

    /// How much is left, if it can tell.
    fn outlook(&self) -> Option<Outlook> {
        None
    }

    /// Whether it leaves out runs that differ only in the order of what is independent. Such a search relies on being
    /// shown all that is not.
    fn goes_by_dependence(&self) -> bool {
        false
    }

    /// Whether it can do with [`Steps::sections`], as far as it has seen.
    fn joins_sections(&self) -> bool {
        false
    }

    /// The bound that kept it from running everything, if any.
    fn bound(&self) -> Option<String> {
        None
    }
}

/// The plan that repeats a run of a search as everybody else runs it: a failure ends it, and timers run
/// out whenever they like. None if it is no run of a search, or nobody knows what it did.
pub(crate) fn as_taken(plan: &Plan, trace: &Trace) -> Option<Plan> {
    let Tail::Steps(Steps { run_on: true, sections, .. }) = plan.tail else { return None };
    let Log { picks, chosen, failed_at, .. } = &trace.log;
    if trace.names.is_empty() {
        return None;
    }
    let mut steps = vec![Step::default()];
    // Where the last of a step's own is: giving a mutex back was none of its own where that belonged to taking it.
    let mut ends = vec![0];
    let most = failed_at.map_or(usize::MAX, |picks| picks as usize);
    for (number, picked) in picks.iter().enumerate().take(most) {
        let end = picks.get(number + 1).map_or(trace.events.len(), |next| next.event as usize);
        if let Some(events @ [first, ..]) = trace.events.get(picked.event as usize..end) {
            let step = Step { task: trace.names[first.task.index()], choices: Vec::new() };
            if sections && closes(events) {
                steps.push(step.clone());
            }
            steps.push(step);
            ends.push(steps.len() - 1);
        }
    }
    for choice in chosen {
        if let Some(&end) = ends.get(choice.pick as usize) {
            steps[end].choices.push(choice.value);
        }
    }
    let tail = Tail::Steps(Steps { steps: Arc::new(steps), run_on: false, ..Steps::default() });
    Some(Plan { tail, ..plan.clone() })
}

/// What the orders are of that a search by dependence may have left out, if any.
fn unseen(hidden: Hidden) -> Option<String> {
    let kinds = [
        (Hidden::SIGNALS, "signals"),
        (Hidden::CANCELLATIONS, "cancellations"),
        (Hidden::FILES, "calls on files and streams"),
        (Hidden::PROCESS, "calls that use what the process has one of"),
        (Hidden::NUMBERS, "calls that take or free numbers of files or keys"),
        (Hidden::PARTS, "accesses to several parts of one atomic"),
    ];
    let names: Vec<&str> =
        kinds.into_iter().filter(|(kind, _)| hidden.has(*kind)).map(|(_, name)| name).collect();
    (!names.is_empty()).then(|| format!("but for the order of {}", names.join(" and of ")))
}

/// Time-outs of a task at one site in a row, unless another number is asked for.
pub const TIMEOUTS_MAX: u32 = 1;

/// How searches write their state, first thing in every entry of a journal.
const FORMAT: u64 = 5;

/// A search as an explorer.
#[derive(Debug)]
pub struct Systematic<S> {
    // None while it is away, where the runs happen.
    core: Option<Core<S>>,
    // Plans of runs that failed before an interruption.
    failed: Vec<Plan>,
}

/// What moves.
#[derive(Debug)]
struct Core<S> {
    search: S,
    // The conditions of all runs.
    plan: Plan,
    // What each worker runs, or ran last. Nobody else has it when the worker asks for the next one.
    assigned: Vec<Assigned>,
    // How often the search has begun anew.
    pass: u64,
    timeouts_max: u32,
    // See [`Steps::sections`].
    sections: bool,
    // Whether the last run showed new points.
    grown: bool,
    reached: Reached,
    // Whether some run did not do what it was asked to.
    strayed: bool,
    over: bool,
    journal: Option<Journal>,
    // Plans of runs that failed, one for each kind of failure, for whoever goes on after an interruption.
    failed: Vec<(Identity, Plan)>,
    runs: u64,
    fingerprint: u128,
}

/// A plan with the conditions of a pass, and the steps of a worker's last run.
#[derive(Debug)]
struct Assigned {
    plan: Arc<Plan>,
    pass: u64,
    shared: usize,
}

type Identity = (FailureKind, Vec<SiteId>);

const AWAY: &str = "raddle bug: a search is asked while it is away";

impl<S: Search> Systematic<S> {
    /// Searches under the conditions of `plan`, whose prefix and tail do not matter, but for [`Steps::sections`]. Else giving a
    /// lock back is a scheduling point: a search reasons about each operation on its own, and it adds no
    /// partial order.
    pub fn new(search: S, mut plan: Plan) -> Systematic<S> {
        let wanted = matches!(plan.tail, Tail::Steps(Steps { sections: true, .. }));
        let sections = wanted && search.joins_sections();
        plan.prefix = Default::default();
        plan.points.releases = true;
        plan.tail = Tail::Steps(Steps::default());
        let core = Core {
            search,
            plan,
            assigned: Vec::new(),
            pass: 0,
            timeouts_max: TIMEOUTS_MAX,
            sections,
            grown: false,
            reached: Reached::default(),
            strayed: false,
            over: false,
            journal: None,
            failed: Vec::new(),
            runs: 0,
            fingerprint: 0,
        };
        Systematic { core: Some(core), failed: Vec::new() }
    }

    /// The same with another number of time-outs in a row.
    #[must_use]
    pub fn with_timeouts_max(mut self, timeouts_max: u32) -> Systematic<S> {
        self.core.as_mut().expect(AWAY).timeouts_max = timeouts_max;
        self
    }

    /// The search itself.
    pub fn search(&self) -> &S {
        &self.core.as_ref().expect(AWAY).search
    }
}

impl<S: Search> Core<S> {
    /// Sites that must be points from now on.
    fn add_points(&mut self, sites: impl IntoIterator<Item = SiteId>) {
        for site in sites {
            if let Err(at) = self.plan.points.accesses.binary_search(&site) {
                self.plan.points.accesses.insert(at, site);
                self.grown = true;
            }
        }
    }
}

impl<S: Search> Core<S> {
    /// Writes the run into the journal.
    fn note(&mut self, plan: &Plan, digest: &Digest, trace: &Trace) {
        self.fingerprint = digest.fingerprint;
        if let Verdict::Failed(failure) = &digest.verdict {
            let identity = failure.identity();
            if self.failed.iter().all(|(known, _)| *known != identity) {
                let again = as_taken(plan, trace).unwrap_or_else(|| plan.clone());
                self.failed.push((identity, again));
            }
        }
        let Some(mut journal) = self.journal.take() else { return };
        journal.keep(|entry, all| {
            let mut rest = entry.rest();
            rest.name(FORMAT);
            rest.number(self.runs);
            rest.name(self.fingerprint as u64);
            rest.name((self.fingerprint >> 64) as u64);
            let Reached { cut, spin, timeouts, hidden } = self.reached;
            [cut, spin, timeouts, self.strayed, self.grown, self.sections]
                .into_iter()
                .for_each(|flag| rest.flag(flag));
            rest.number(u64::from(hidden.0));
            rest.list(self.plan.points.accesses.iter(), |rest, site| rest.number(u64::from(site.0)));
            rest.list(self.failed.iter(), |rest, (_, plan)| rest.bytes(&raddle_wire::plan::encode(plan)));
            // A search that will begin anew need not be kept.
            if self.grown { 0 } else { self.search.save(trace, entry, all).unwrap_or(0) }
        });
        self.journal = Some(journal);
    }

    /// Repeats the last run before the interruption: a search knows the steps that it took, and not all that they did.
    fn repeat(&mut self, steps: Vec<Step>, target: &mut dyn Target) -> Result<(), JournalError> {
        let count = steps.len();
        let (timeouts_max, sections) = (self.timeouts_max, self.sections);
        let tail = Steps { steps: Arc::new(steps), timeouts_max, sections, ..Steps::default() };
        let plan = Plan { tail: Tail::Steps(tail), ..self.plan.clone() };
        let run = target.run(&plan).map_err(|error| JournalError(error.message))?;
        let strayed = matches!(run.digest.verdict, Verdict::Diverged(_)) || run.trace.names.is_empty();
        // Where the search had already left some of its last steps, what comes after them may be another run.
        let whole = run.trace.log.picks.len() + 1 == count;
        if strayed || whole && run.digest.fingerprint != self.fingerprint {
            return Err(JournalError(String::from(
                "the last run of the journal does not repeat: the program, or what it reads, has changed since. Delete \
                 the journal to begin anew",
            )));
        }
        self.search.recall(&run.trace);
        Ok(())
    }

    /// Becomes what a journal holds. The steps of its last run, and the plans of those that failed.
    fn load(&mut self, state: &State) -> Result<(Vec<Step>, Vec<Plan>), Unpack> {
        let mut rest = Take::new(&state.rest);
        if rest.name()? != FORMAT {
            return Err(Unpack::Nonsense("another version of raddle has written it"));
        }
        self.runs = rest.number()?;
        self.fingerprint = u128::from(rest.name()?) | u128::from(rest.name()?) << 64;
        let mut flags = [false; 6];
        for flag in &mut flags {
            *flag = rest.flag()?;
        }
        let [cut, spin, timeouts, strayed, grown, sections] = flags;
        let hidden = Hidden(rest.number()? as u8);
        self.reached = Reached { cut, spin, timeouts, hidden };
        (self.strayed, self.grown, self.sections) = (strayed, grown, sections);
        let accesses = rest.list(|rest| Ok(SiteId(rest.small()?)))?;
        self.plan.points.accesses = accesses;
        let nonsense = |_| Unpack::Nonsense("a plan that is none");
        let failed = rest.list(|rest| raddle_wire::plan::decode(rest.bytes()?).map_err(nonsense))?;
        let steps = if self.grown { Vec::new() } else { self.search.load(state, &mut rest)? };
        Ok((steps, failed))
    }
}

impl<S: Search> Core<S> {
    /// Whatever was run so far had fewer points: only a pass in which none is learned counts.
    fn begin_anew(&mut self) {
        self.search.restart();
        self.reached = Reached::default();
        self.pass += 1;
    }

    /// A worker has a plan with the conditions of this pass.
    fn assign(&mut self, worker: usize) {
        while self.assigned.len() <= worker {
            self.assigned.push(Assigned { plan: Arc::new(self.plan.clone()), pass: self.pass, shared: 0 });
        }
        let Assigned { plan, pass, .. } = &mut self.assigned[worker];
        if *pass != self.pass {
            *pass = self.pass;
            *plan = Arc::new(self.plan.clone());
        }
    }
}

impl<S: Search> Searcher for Core<S> {
    fn next(&mut self, worker: usize) -> Ask {
        if core::mem::take(&mut self.grown) {
            self.begin_anew();
        }
        self.assign(worker);
        let Core { search, assigned, timeouts_max, sections, plan, .. } = self;
        let seed = plan.seed;
        let Assigned { plan: shared_plan, shared, .. } = &mut assigned[worker];
        // Nobody else has it any more, nor its steps, unless a run hangs.
        let plan = Arc::make_mut(shared_plan);
        let Tail::Steps(tail) = &mut plan.tail else { unreachable!("raddle bug: a search without steps") };
        let steps = Arc::make_mut(&mut tail.steps);
        if steps.is_empty() {
            steps.push(Step::default());
        }
        tail.sleep.clear();
        let (lent, sleep) = (core::mem::take(steps), core::mem::take(&mut tail.sleep));
        let mut request = Request { steps: lent, sleep, random: None, shared: 0 };
        let next = search.next(worker, &mut request);
        *shared = request.shared;
        (*steps, tail.sleep, tail.random) = (request.steps, request.sleep, request.random.is_some());
        (tail.run_on, tail.timeouts_max, tail.sections) = (true, *timeouts_max, *sections);
        plan.seed = request.random.unwrap_or(seed);
        match next {
            Next::Run => Ask::Run(shared_plan.clone()),
            Next::Wait => Ask::Wait,
            Next::Over => {
                self.over = true;
                if let Some(journal) = &mut self.journal {
                    journal.remove();
                }
                Ask::Over
            }
        }
    }

    fn learn(&mut self, worker: usize, plan: &Plan, digest: &Digest, trace: &Trace) {
        if digest.may_contest() && !self.plan.points.all_accesses {
            self.add_points(digest.contested());
        }
        // Without a trace nobody knows what the run did: it hung.
        let lost = trace.names.is_empty();
        self.strayed |= lost || matches!(digest.verdict, Verdict::Diverged(_));
        // What another worker was at when the search began anew was no part of it.
        if self.assigned[worker].pass == self.pass {
            self.reached.add(trace.log.reached);
            if lost {
                self.search.lose(worker);
            } else if !self.grown {
                self.search.learn(worker, plan, trace, &digest.verdict);
                if self.sections && !self.search.joins_sections() {
                    (self.sections, self.grown) = (false, true);
                }
            }
        }
        self.runs += 1;
        if self.journal.is_some() {
            self.note(plan, digest, trace);
        }
    }

    fn shares(&self) -> bool {
        self.search.shares()
    }

    fn shared_steps(&self, worker: usize) -> usize {
        self.assigned[worker].shared
    }

    fn asked(&self, worker: usize) -> Arc<Plan> {
        self.assigned[worker].plan.clone()
    }
}

impl<S: Search> Explorer for Systematic<S> {
    fn next(&mut self) -> Option<Batch> {
        if let Some(plan) = self.failed.pop() {
            // What the interrupted search has found is found again first.
            return Some(Batch::Record { plan, run: 0 });
        }
        let core = self.core.take().expect(AWAY);
        if core.over {
            self.core = Some(core);
            return None;
        }
        Some(Batch::Search(Box::new(core)))
    }

    fn learn(&mut self, _: &Digest) -> Flow {
        Flow::Continue
    }

    fn learn_run(&mut self, _: &Plan, _: &Run) {}

    fn keep(
        &mut self,
        path: &Path,
        header: JournalHeader,
        target: &mut dyn Target,
    ) -> Result<u64, JournalError> {
        let core = self.core.as_mut().expect(AWAY);
        if core.search.clone().save(&Trace::default(), &mut Entry::default(), false).is_none() {
            let message =
                "this strategy keeps no journal: what it learns can be saved, its place in the search not";
            return Err(JournalError(String::from(message)));
        }
        let (journal, state) = Journal::open(path, header)?;
        let mut runs = 0;
        if let Some(state) = state {
            let damaged = |error: Unpack| {
                JournalError(format!("the journal is damaged: {}. Delete it to begin anew", error.why()))
            };
            let (steps, failed) = core.load(&state).map_err(damaged)?;
            self.failed = failed;
            runs = core.runs;
            if !core.grown {
                core.repeat(steps, target)?;
            }
        }
        core.journal = Some(journal);
        Ok(runs)
    }

    fn trouble(&self) -> Option<String> {
        let core = self.core.as_ref().expect(AWAY);
        core.journal.as_ref().and_then(Journal::trouble).map(String::from)
    }

    fn take_back(&mut self, search: Box<dyn Searcher>) {
        let search: Box<dyn Any> = search;
        let core = search.downcast::<Core<S>>();
        self.core = Some(*core.expect("raddle bug: another search came back"));
    }

    fn outlook(&self) -> Option<Outlook> {
        let core = self.core.as_ref().expect(AWAY);
        // More points, and everything begins anew.
        if core.over || core.grown { None } else { core.search.outlook() }
    }

    fn has_nothing_left(&mut self) -> bool {
        let core = self.core.as_mut().expect(AWAY);
        if !core.over && !core.grown && self.failed.is_empty() && core.runs > 0 {
            core.over = core.search.is_over();
            if let (true, Some(journal)) = (core.over, &mut core.journal) {
                journal.remove();
            }
        }
        core.over
    }

    fn exhausted(&self) -> Exhausted {
        let core = self.core.as_ref().expect(AWAY);
        if !core.over || core.strayed || core.reached.cut {
            return Exhausted::No;
        }
        let spin = core.reached.spin.then(|| String::from("modulo spin iterations"));
        let timeouts = core.reached.timeouts.then(|| match core.timeouts_max {
            1 => String::from("with at most 1 time-out in a row"),
            most => format!("with at most {most} time-outs in a row"),
        });
        let hidden = core.reached.hidden;
        let hidden = if core.search.goes_by_dependence() { unseen(hidden) } else { None };
        let bounds: Vec<String> =
            core.search.bound().into_iter().chain(timeouts).chain(spin).chain(hidden).collect();
        if bounds.is_empty() { Exhausted::Yes } else { Exhausted::Within(bounds.join(", ")) }
    }
}
