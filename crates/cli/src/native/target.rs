//! A native program as something that explorers can run.

use super::callers::{Callers, is_own};
use super::checkpoints::Checkpoints;
use super::exits::Exits;
use super::hapsets::{Calling, Hapsets};
use super::isolation::{Alone, Isolation};
use super::log::Log;
use super::server::{Addresses, Program, Reply, Server};
use super::trail::{Order, Trail};
use super::{sampling, searching, silent};
use raddle_explore::campaign::Found;
use raddle_explore::explorer::plan_of_run;
use raddle_explore::target::{
    CycleFound, Digest, EdgeFound, Flow, Learned, Place, RaceFound, Run, Searched, Searcher, Sink, Target,
    TargetError,
};
use raddle_model::hash::{Wide, mix};
use raddle_model::plan::Steps;
use raddle_model::{Failure, FailureKind, Pair, Plan, Rng, SiteId, Tail, Trace, Verdict};
use raddle_native::server::{GONE, NO_CHECKPOINT, reply};
use raddle_native::site::OFFSET_BITS;
use raddle_symbols::{Frame, Symbolizer};
use raddle_wire::report::{self, Called, NAMELESS, Recorded, RunReport, Since};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Of the runs that are done in one process, every so many is done in a process of its own, too; and the first ones: a
/// program that keeps something mostly does so from the beginning.
const CHECK_EVERY: u64 = 1_000;
const CHECK_FIRST: u64 = 32;

/// What a reply says of a run besides its digest.
pub(super) struct Told {
    recorded: Option<Recorded>,
    called: Called,
    since: Option<Since>,
}

/// A native program.
///
/// Runs are sampled on some servers and recorded on another: each has drawn an address layout of its own, so a run
/// that depends on addresses does not repeat, and is found out by that.
pub(crate) struct NativeTarget {
    program: Program,
    pub(super) samplers: Vec<Server>,
    recorder: Server,
    /// Files whose code was run, by number.
    modules: Vec<PathBuf>,
    exits: Exits,
    /// Whether any run has hung.
    hangs: bool,
    output: [Vec<u8>; 2],
    symbols: RefCell<Symbolizer>,
    /// Who called what in the runs that were recorded, by fingerprint.
    callers: BTreeMap<u128, Callers>,
    /// Runs that got a process of their own though they were not to.
    alone: Alone,
    /// What all runs were.
    runs_digest: Wide,
    pub(super) log: Option<Log>,
    /// The last run of a search that each of the samplers has done.
    trails: Vec<Trail>,
    /// If HaPSets are wanted: what is known of statements.
    pub(super) hapsets: Option<Hapsets>,
}

impl NativeTarget {
    /// Starts a program.
    pub(crate) fn start(
        mut program: Program,
        expected_exit: Option<i32>,
    ) -> Result<NativeTarget, TargetError> {
        let (isolation, why) = program
            .backend
            .isolation(program.isolation)
            .map_err(|problem| TargetError { message: problem.to_string() })?;
        program.isolation = isolation;
        let (samplers, recorder) = (vec![Server::start(&program)?], Server::start(&program)?);
        let modules = vec![program.path.clone()];
        Ok(NativeTarget {
            program,
            samplers,
            recorder,
            modules,
            exits: Exits::new(expected_exit),
            hangs: false,
            output: Default::default(),
            symbols: RefCell::default(),
            callers: BTreeMap::new(),
            alone: Alone::because(why),
            runs_digest: Wide::START,
            log: None,
            trails: Vec::new(),
            hapsets: None,
        })
    }

    /// The same with HaPSets in what is learned of each run.
    #[must_use]
    pub(crate) fn with_hapsets(mut self, wanted: bool) -> NativeTarget {
        self.hapsets = wanted.then(Hapsets::default);
        if wanted {
            self.samplers.iter_mut().for_each(Server::tell_callers);
        }
        self
    }

    /// What is known of statements, if HaPSets are wanted.
    pub(crate) fn hapsets(&self) -> Option<&Hapsets> {
        self.hapsets.as_ref()
    }

    /// The same with a line in a file for each run.
    pub(crate) fn with_log(mut self, path: Option<&Path>) -> Result<NativeTarget, TargetError> {
        self.log = path.map(Log::create).transpose()?;
        Ok(self)
    }

    /// Who called what in a recorded run.
    pub(crate) fn callers(&self, fingerprint: u128) -> Option<&Callers> {
        self.callers.get(&fingerprint)
    }

    /// An operation and who called it, innermost first, as far as a recorded run has told.
    pub(crate) fn stack(&self, fingerprint: u128, site: SiteId) -> Vec<SiteId> {
        let callers = self.callers(fingerprint).and_then(|callers| callers.above(site)).unwrap_or_default();
        [site].into_iter().chain(callers.iter().copied()).collect()
    }

    /// The same with so many runs at a time.
    pub(crate) fn with_jobs(mut self, jobs: usize) -> Result<NativeTarget, TargetError> {
        while self.samplers.len() < jobs {
            self.samplers.push(Server::start(&self.program)?);
        }
        Ok(self)
    }

    /// Whether a run was given up in the middle, since it was time to end.
    pub(crate) fn has_given_up(&self) -> bool {
        self.samplers.iter().chain([&self.recorder]).any(Server::is_given_up)
    }

    /// What has kept the runs apart.
    pub(crate) fn isolation(&self) -> raddle_report::Isolation {
        self.alone.told(self.program.isolation)
    }

    /// One number for all that the runs were, in their order.
    pub(crate) fn runs_digest(&self) -> u128 {
        self.runs_digest.to_u128()
    }

    /// What is run.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// The exit code that is no failure, once it is known.
    pub(crate) fn expected_exit(&self) -> Option<i32> {
        self.exits.expected()
    }

    /// What the last recorded run wrote to standard output and to standard error.
    pub(crate) fn output(&self) -> &[Vec<u8>; 2] {
        &self.output
    }

    /// The file and the offset in it that a site stands for.
    pub(crate) fn address(&self, site: SiteId) -> Option<(&Path, u64)> {
        let module = self.modules.get((site.0 >> OFFSET_BITS) as usize)?;
        let offset = u64::from(site.0 & ((1 << OFFSET_BITS) - 1));
        (site != SiteId::UNKNOWN).then_some((module, offset))
    }

    /// The functions at a site, the innermost inlined one first.
    pub(super) fn frames(&self, site: SiteId) -> Vec<Frame> {
        let Some((module, offset)) = self.address(site) else { return Vec::new() };
        self.symbols.borrow_mut().frames_of_return(module, offset)
    }

    /// What is told of a site that is in a function.
    fn place_in(&self, site: SiteId, frame: Option<&Frame>) -> Place {
        let Some((module, offset)) = self.address(site) else { return Place::default() };
        match frame.cloned() {
            Some(frame) if frame.has_line() => {
                Place { file: frame.file, line: frame.line, column: frame.column, function: frame.function }
            }
            // Without debug information: the file, and the function or the offset in it.
            frame => {
                let name = frame.map(|frame| frame.function).filter(|name| !name.is_empty());
                let file = module.file_name().unwrap_or_default().to_string_lossy().into_owned();
                Place { file, line: 0, column: 0, function: name.unwrap_or_else(|| format!("+{offset:#x}")) }
            }
        }
    }

    /// Where a site is, and where that was inlined, and so on.
    pub(crate) fn places(&self, site: SiteId) -> Vec<Place> {
        let frames = self.frames(site);
        match frames.is_empty() {
            true => vec![self.place_in(site, None)],
            false => frames.iter().map(|frame| self.place_in(site, Some(frame))).collect(),
        }
    }

    pub(super) fn know(&mut self, modules: &[String]) {
        if modules.len() > self.modules.len() {
            let path = |path: &String| {
                if path.is_empty() { self.program.path.clone() } else { PathBuf::from(path) }
            };
            self.modules = modules.iter().map(path).collect();
        }
    }

    /// What a reply says of a run.
    pub(super) fn digest(
        &mut self,
        reply: &Reply,
        run: u64,
        seed: u64,
    ) -> Result<(Digest, Told), TargetError> {
        let report = match reply.kind {
            reply::REPORT => report::decode(&reply.bytes).map_err(|error| TargetError {
                message: format!(
                    "what came of a run cannot be read: {error}. Build the program again with `raddle cc`"
                ),
            })?,
            reply::HANGS => silent::hangs(self.program.hang, SiteId(reply.status as u32)),
            _ => silent::died(reply.status),
        };
        let verdict = self.judge(&report);
        self.hangs |= matches!(&verdict, Verdict::Failed(failure) if failure.kind == FailureKind::Hang);
        let learned = Learned {
            releases: report.releases,
            weak_orders: report.weak_orders,
            races: report.races.into_iter().map(|race| self.named(race)).collect(),
            shared: report.shared,
            cycles: report.cycles.into_iter().map(cycle).collect(),
            ..Learned::default()
        };
        let digest = Digest {
            run,
            seed,
            verdict,
            fingerprint: report.fingerprint,
            steps: report.steps,
            accesses: report.accesses,
            decisions: report.decisions,
            tasks: report.tasks,
            learned,
        };
        let RunReport { recorded, called, since, .. } = report;
        Ok((digest, Told { recorded, called, since }))
    }

    /// A run in full, and who called what in it if somebody wants to know. None if it is time to end.
    fn record(&mut self, plan: &Plan, callers: bool) -> Result<Option<(Run, Callers)>, TargetError> {
        let Some((reply, output)) = self.recorder.record(plan, self.hangs, callers)? else {
            self.output = Default::default();
            return Ok(None);
        };
        self.output = output;
        self.recorded(&reply, plan).map(Some)
    }

    /// What a reply says of a run that was recorded, and who called what in it.
    pub(super) fn recorded(&mut self, reply: &Reply, plan: &Plan) -> Result<(Run, Callers), TargetError> {
        let (digest, told) = self.digest(reply, 0, plan.seed)?;
        self.exits.remember(0, || plan.clone());
        let Some(mut recorded) = told.recorded else {
            return Ok((Run::untold(digest), Callers::default()));
        };
        self.know(&recorded.modules);
        let callers = Callers::of(&mut recorded);
        let Recorded { trace, mut objects, tasks, places, .. } = recorded;
        for (id, module, offset) in places {
            // They are told in the order of their numbers.
            if let Some(object) = objects.get_mut(id.index()).filter(|object| object.id == id) {
                let variable = self.variable(module, offset);
                object.name = variable.map(|path| if object.noun == "cell" { path } else { own_part(path) });
            }
        }
        Ok((Run { digest, trace, objects, tasks }, callers))
    }

    /// The status is a hash of what the run wrote, if that was asked for.
    pub(super) fn digest_more(&mut self, digest: &Digest, status: i32) {
        let mut label = mix(digest.run, digest.steps);
        if let Verdict::Failed(failure) = &digest.verdict {
            let mixed = mix(label, failure.kind as u64);
            label = failure.message.bytes().fold(mixed, |hash, byte| mix(hash, byte.into()));
        }
        let written = if self.program.isolation.is_checked() { status as u64 } else { 0 };
        let words = [digest.fingerprint as u64, (digest.fingerprint >> 64) as u64, written];
        let label = words.into_iter().fold(label, mix);
        self.runs_digest = self.runs_digest.chain(label, Wide::START);
    }

    /// Asks a server for a run of a search.
    pub(super) fn ask(
        &mut self,
        server: &mut Server,
        worker: usize,
        plan: &Plan,
        number: u64,
    ) -> Result<(), TargetError> {
        let how = (self.program.isolation, self.program.checkpoints);
        self.trails.resize_with(self.trails.len().max(worker + 1), Trail::default);
        let trail = &mut self.trails[worker];
        let Order { since, plan: rest } = trail.order(plan, how.1);
        // Where nearly every run is refused, to try is wasted.
        let hopeless = trail.tried >= 16 && trail.refused * 4 > trail.tried * 3;
        trail.tried += u64::from(!hopeless);
        server.search(rest.as_ref().unwrap_or(plan), number, since, how, hopeless)
    }

    /// Hears what came of it; what happened in it is its `trace`. None if it is time to end before.
    pub(super) fn hear(
        &mut self,
        server: &mut Server,
        worker: usize,
        plan: &Plan,
        number: u64,
    ) -> Result<Option<Digest>, TargetError> {
        let how = (self.program.isolation, self.program.checkpoints);
        let trail = &mut self.trails[worker];
        let reply = loop {
            let Some(reply) = server.receive_unless_due()? else { return Ok(None) };
            match reply.kind {
                reply::CHECKPOINTS => trail.know(&reply.bytes),
                reply::ALONE => self.alone.note(&reply),
                reply::LOST => {
                    let why = reply.status as u32;
                    trail.forget();
                    if why != NO_CHECKPOINT {
                        trail.refused += 1;
                        self.alone.note_call(if why == GONE { -1 } else { why as i32 });
                    }
                    server.search(plan, number, None, how, why != NO_CHECKPOINT)?;
                }
                _ => break reply,
            }
        };
        if reply.kind != reply::REPORT {
            trail.forget();
        }
        let (mut digest, Told { recorded, called, since }) = self.digest(&reply, number, plan.seed)?;
        self.exits.remember(number, || plan.clone());
        let trace = self.happened(recorded);
        let mut trail = std::mem::take(&mut self.trails[worker]);
        trail.learn(plan, trace, called, since.as_ref());
        digest.learned.pairs = self.pairs(&mut trail.calling, &mut trail.trace, since.as_ref());
        self.trails[worker] = trail;
        self.digest_more(&digest, reply.status);
        if self.program.isolation.is_checked() {
            // Everything that the search learns from is compared, too.
            let told = format!("{:?}", self.trails[worker].trace);
            let label = told.bytes().fold(0, |hash, byte| mix(hash, byte.into()));
            self.runs_digest = self.runs_digest.chain(label, Wide::START);
        }
        if let Some(log) = &mut self.log {
            log.run(&digest)?;
        }
        Ok(Some(digest))
    }

    /// HaPSets of a run that was sampled.
    fn sampled_pairs(&mut self, Told { recorded, called, .. }: Told) -> Vec<Pair> {
        let (mut calling, mut trace) = (Calling::default(), self.happened(recorded));
        calling.learn(called, None);
        self.pairs(&mut calling, &mut trace, None)
    }

    /// What is told of a run's events.
    fn happened(&mut self, recorded: Option<Recorded>) -> Trace {
        recorded.map_or_else(Trace::default, |recorded| {
            self.know(&recorded.modules);
            recorded.trace
        })
    }

    /// What happened in the last run of a search that this worker has done.
    pub(super) fn trace(&self, worker: usize) -> &Trace {
        &self.trails[worker].trace
    }

    /// Runs of a search that went on from a checkpoint, and events that they did not execute again.
    pub(crate) fn checkpoints(&self) -> raddle_report::Checkpoints {
        let sum = |count: fn(&Trail) -> u64| self.trails.iter().map(count).sum();
        raddle_report::Checkpoints { hits: sum(|trail| trail.hits), events: sum(|trail| trail.events) }
    }

    /// What the program calls a static variable, or a part of one.
    fn variable(&self, module: u32, offset: u64) -> Option<String> {
        let module = self.modules.get(module as usize)?;
        self.symbols.borrow_mut().variable(module, offset).map(|variable| variable.path)
    }

    /// A race, with the name of its variable if that is a static one.
    fn named(&self, race: report::Race) -> RaceFound {
        let variable = race.place.and_then(|(module, offset)| self.variable(module, offset));
        let message = match variable {
            Some(variable) => race.message.replacen(NAMELESS, &format!("`{variable}`"), 1),
            None => race.message,
        };
        RaceFound { sites: race.sites, message }
    }

    /// What comes of a run on the other server, in a process of its own.
    fn again(&mut self, plan: &Plan, digest: &Digest) -> Result<Digest, TargetError> {
        self.recorder.sample(plan, digest.run..digest.run + 1, (Isolation::Fork, Checkpoints::Off))?;
        // When it is time to end it is believed.
        let Some(reply) = self.recorder.receive_unless_due()? else { return Ok(digest.clone()) };
        let (again, _) = self.digest(&reply, digest.run, digest.seed)?;
        let done = self.recorder.receive()?;
        assert!(done.kind == reply::DONE, "raddle bug: one run was asked for and there is more");
        Ok(again)
    }

    /// A run that was one of many in its process is done in a process of its own: the two must agree.
    fn check(&mut self, plan: &Plan, digest: &mut Digest) -> Result<(), TargetError> {
        let alone = self.again(plan, digest)?;
        let differ = alone.fingerprint != digest.fingerprint
            || alone.steps != digest.steps
            || alone.verdict != digest.verdict;
        if differ {
            digest.verdict = Verdict::Failed(Failure {
                kind: FailureKind::Nondeterminism,
                message: format!(
                    "run {} is another one in a process of its own: {} steps there, {} here. The program keeps \
                     something from one call to the next; run it with --isolation fork",
                    digest.run, alone.steps, digest.steps
                ),
                tasks: Vec::new(),
                sites: Vec::new(),
            });
        }
        Ok(())
    }

    /// The first run of a campaign is done on the other server, too, whether it fails or not: the two must agree.
    fn compare(&mut self, plan: &Plan, digest: &mut Digest) -> Result<(), TargetError> {
        let hangs = |verdict: &Verdict| matches!(verdict, Verdict::Failed(f) if f.kind == FailureKind::Hang);
        // That takes long, and will be recorded anyway.
        if hangs(&digest.verdict) {
            return Ok(());
        }
        let again = self.again(plan, digest)?;
        let differ = again.fingerprint != digest.fingerprint || again.steps != digest.steps;
        if differ && !hangs(&again.verdict) {
            let helps = match self.program().addresses {
                Addresses::Random => " (then `--addresses fixed` helps)",
                Addresses::Fixed => "",
            };
            digest.verdict = Verdict::Failed(Failure {
                kind: FailureKind::Nondeterminism,
                message: format!(
                    "the same plan gives another run in another process: {} steps there, {} here. Does the program \
                     depend on addresses{helps}, on the process's number, or on something outside of it?",
                    digest.steps, again.steps
                ),
                tasks: Vec::new(),
                sites: Vec::new(),
            });
        }
        Ok(())
    }

    /// An exit code is a failure if it is not the one that was expected.
    fn judge(&mut self, report: &RunReport) -> Verdict {
        let (Verdict::Finished, Some(code)) = (&report.verdict, report.exit_code) else {
            return report.verdict.clone();
        };
        self.exits.judge(code)
    }
}

fn cycle(edges: Vec<report::Edge>) -> CycleFound {
    let edge = |edge: report::Edge| EdgeFound { task: edge.task, held: edge.held, sites: edge.sites };
    CycleFound { edges: edges.into_iter().map(edge).collect() }
}

impl Target for NativeTarget {
    fn run(&mut self, plan: &Plan) -> Result<Run, TargetError> {
        let Some((run, callers)) = self.record(plan, true)? else { return Ok(Run::given_up(plan)) };
        // A run of a search that is worth a report is run again for it.
        if !matches!(plan.tail, Tail::Steps(Steps { run_on: true, .. })) {
            self.callers.insert(run.digest.fingerprint, callers);
        }
        Ok(run)
    }

    fn run_bare(&mut self, plan: &Plan) -> Result<Run, TargetError> {
        Ok(self.record(plan, false)?.map_or_else(|| Run::given_up(plan), |(run, _)| run))
    }

    fn told(&self, run: &Run, mut sites: [SiteId; 2]) -> [SiteId; 2] {
        if let Some(callers) = self.callers(run.digest.fingerprint) {
            callers.place(self, &mut sites, &[]);
        }
        sites
    }

    fn sample(&mut self, plan: &Plan, runs: Range<u64>, sink: &mut dyn Sink) -> Result<(), TargetError> {
        let mut samplers = std::mem::take(&mut self.samplers);
        let own = self.program.isolation;
        // What happened is not kept from one call of main to the next.
        let isolation = if self.hapsets.is_some() { own.of_search() } else { own };
        let how = (isolation, self.program.checkpoints);
        let result = sampling::sample(&mut samplers, plan, runs, how, |reply| {
            if reply.is_aside() {
                self.alone.note(reply);
                return Ok(Flow::Continue);
            }
            let seed = Rng::seed_of_run(plan.seed, reply.run);
            let (mut digest, told) = self.digest(reply, reply.run, seed)?;
            self.exits.remember(reply.run, || plan_of_run(plan, reply.run));
            if self.hapsets.is_some() {
                digest.learned.pairs = self.sampled_pairs(told);
            }
            self.digest_more(&digest, reply.status);
            if reply.run == 0 {
                self.compare(plan, &mut digest)?;
            } else if isolation == Isolation::InProcess
                && (reply.run < CHECK_FIRST || reply.run.is_multiple_of(CHECK_EVERY))
            {
                self.check(plan, &mut digest)?;
            }
            if let Some(log) = &mut self.log {
                log.run(&digest)?;
            }
            Ok(sink.run(&digest))
        });
        self.samplers = samplers;
        result
    }

    fn search(&mut self, search: Box<dyn Searcher>, runs: Range<u64>) -> Result<Searched, TargetError> {
        let mut samplers = std::mem::take(&mut self.samplers);
        let workers = if search.shares() { samplers.len() } else { 1 };
        let result = searching::search(self, &mut samplers[..workers], search, runs);
        self.samplers = samplers;
        result
    }

    fn in_hindsight(&mut self, found: Found) -> Result<Found, TargetError> {
        let turned = if found.failure.kind == FailureKind::Exit { self.exits.turn() } else { None };
        let Some((first_run, plan)) = turned else { return Ok(found) };
        let run = self.run(&plan)?;
        let Verdict::Failed(failure) = &run.digest.verdict else { return Ok(found) };
        let plan = plan.replaying(run.trace.schedule.clone());
        Ok(Found { failure: failure.clone(), original: None, plan, run, first_run })
    }

    /// What is inlined from a header of the system stands where it was inlined.
    fn place(&self, site: SiteId) -> Place {
        let frames = self.frames(site);
        let own = frames.iter().find(|frame| is_own(&frame.file, frame.line));
        self.place_in(site, own.or(frames.first()))
    }
}

/// The part of a variable's path that is the program's own: what follows is how the library has made its lock or atomic.
fn own_part(mut path: String) -> String {
    let reserved = ["._", "::_"].into_iter().filter_map(|mark| path.find(mark)).min();
    if let Some(end) = reserved.filter(|&end| end > 0) {
        path.truncate(end);
    }
    path
}
