//! Carriers: threads of their own on which the runs of one check happen, and the target that talks
//! to them. The side that waits watches a carrier's heart: a run that reaches no operation for too
//! long is a `hang`; its carrier is abandoned, and another takes its place.
//!
//! With several jobs there are several carriers. One run is a pure function of the body and its
//! plan, and what came of the runs is told in their order, so the number of jobs changes nothing
//! but the time it takes. Runs that share objects (a static, something that the closure captures)
//! cannot go on beside each other: once that is seen, one carrier does all.

use super::jobs::{Deal, Pending};
use super::searching::Shared;
use super::slot::CarrierId;
pub use super::worker::Body;
use super::worker::{Command, Led, Reply, Worker};
use super::{Heart, panics, site};
use raddle_explore::target::{
    Digest, Flow, Hear, Place, Run, SearchRun, Searched, Searcher, Sink, Target, TargetError,
};
use raddle_model::{Failure, FailureKind, Plan, Rng, SiteId, Verdict};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

/// Replies of a carrier that nobody has heard yet, before it waits: memory must not grow with how much quicker runs are than
/// whoever counts them.
const UNHEARD_MAX: usize = 4;
/// How often the waiting side looks at the heart, and at the clock.
const LOOK: Duration = Duration::from_millis(50);
/// How long a run that is recorded may take even if the time is over: it is about something that was found.
const RECORD: Duration = Duration::from_secs(1);
/// How long any other may: most end by themselves, and machines are busy.
const GRACE: Duration = Duration::from_millis(250);

/// What the waiting side gets to know of a carrier.
enum Word {
    Says(Reply),
    /// It reaches no operation any more.
    Hangs,
    /// The time is over, and it says nothing.
    Due,
}

struct Carrier {
    commands: Sender<Command>,
    replies: Receiver<Reply>,
    heart: Arc<Heart>,
    stop: Arc<AtomicBool>,
}

/// A closure under test.
pub struct LibraryTarget {
    body: Body,
    hang: Duration,
    jobs: usize,
    hapsets: bool,
    /// The first one also does what is recorded in full.
    carriers: Vec<Option<Carrier>>,
    /// Whether runs were seen to share objects.
    shared: Arc<AtomicBool>,
    /// Counts runs that were led by the one before them.
    led: Arc<Led>,
    /// When runs are given up wherever they are.
    end: Option<Instant>,
    /// Whether that was seen to be over.
    due: Arc<AtomicBool>,
    /// Whether a run was given up for that.
    given_up: bool,
}

impl std::fmt::Debug for LibraryTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LibraryTarget").field("jobs", &self.jobs).finish_non_exhaustive()
    }
}

impl LibraryTarget {
    /// Runs that reach no operation for the time `hang` count as hanging.
    pub fn new(body: Body, hang: Duration) -> LibraryTarget {
        panics::install_hook();
        LibraryTarget {
            body,
            hang,
            jobs: 1,
            hapsets: false,
            carriers: Vec::new(),
            shared: Arc::default(),
            led: Arc::default(),
            end: None,
            due: Arc::default(),
            given_up: false,
        }
    }

    /// No run goes on much longer than until then. What is given back becomes true when that is seen to be over.
    pub(crate) fn until(&mut self, end: Option<Instant>) -> Arc<AtomicBool> {
        self.end = end;
        self.due.clone()
    }

    /// Whether a run was given up in the middle, since the time was over.
    pub(crate) fn has_given_up(&self) -> bool {
        self.given_up
    }

    fn is_due(&self) -> bool {
        let due = self.end.is_some_and(|end| Instant::now() >= end);
        self.due.store(due, Ordering::Relaxed);
        due
    }

    /// Leaves a carrier to itself: should it ever come back, it shall not go on.
    fn give_up(&mut self, index: usize) {
        if let Some(carrier) = self.carriers[index].take() {
            carrier.stop.store(true, Ordering::Relaxed);
        }
        self.given_up = true;
    }

    /// The same with so many runs at a time.
    #[must_use]
    pub fn with_jobs(self, jobs: usize) -> LibraryTarget {
        LibraryTarget { jobs: jobs.max(1), ..self }
    }

    /// The same with HaPSets in what is learned of each run.
    #[must_use]
    pub fn with_hapsets(self, hapsets: bool) -> LibraryTarget {
        LibraryTarget { hapsets, ..self }
    }

    /// Whether there were to be several jobs, and the runs did not allow it.
    pub fn fell_back(&self) -> bool {
        self.jobs > 1 && self.shared.load(Ordering::Relaxed)
    }

    /// How many runs of searches began by rote with what the run before had done.
    pub fn led_runs(&self) -> u64 {
        self.led.runs.load(Ordering::Relaxed)
    }

    /// How many of these did something else, and had to be done again with care.
    pub fn strayed_runs(&self) -> u64 {
        self.led.strayed.load(Ordering::Relaxed)
    }

    fn carrier(&mut self, index: usize) -> Result<&Carrier, TargetError> {
        if self.carriers.len() <= index {
            self.carriers.resize_with(index + 1, || None);
        }
        let carrier = &mut self.carriers[index];
        if carrier.is_none() {
            let (shared, led) = (self.shared.clone(), self.led.clone());
            *carrier = Some(start(self.body.clone(), shared, led, self.hapsets)?);
        }
        Ok(carrier.as_ref().expect("just started"))
    }

    /// Waits for a carrier's next word, so long in any case.
    fn wait(&mut self, index: usize, least: Duration) -> Result<Word, TargetError> {
        let began = Instant::now();
        let carrier = self.carriers[index].as_ref().expect("raddle bug: waiting for no carrier");
        let (mut last, mut since) = (carrier.heart.pulse(), Instant::now());
        loop {
            match carrier.replies.recv_timeout(LOOK) {
                Ok(reply) => {
                    self.is_due();
                    return Ok(Word::Says(reply));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.carriers[index] = None;
                    return Err(bug("the carrier ended in the middle of a batch"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let now = carrier.heart.pulse();
                    if began.elapsed() >= least && self.is_due() {
                        return Ok(Word::Due);
                    }
                    if now != last {
                        (last, since) = (now, Instant::now());
                    } else if since.elapsed() >= self.hang {
                        return Ok(Word::Hangs);
                    }
                }
            }
        }
    }

    /// Abandons a carrier that hangs. What it was at, which is not before the run `waited_for`.
    fn hung(&mut self, index: usize, plan: &Plan, waited_for: u64) -> Digest {
        let carrier = self.carriers[index].take().expect("raddle bug: no carrier hangs");
        // Should it ever come back, it shall not go on.
        carrier.stop.store(true, Ordering::Relaxed);
        let run = carrier.heart.run.load(Ordering::Relaxed).max(waited_for);
        let (task, site) = carrier.heart.running();
        let message = format!(
            "no operation of raddle's was reached for {} ms. A task either computes without end or waits on \
             something that raddle does not see: a std::sync or parking_lot primitive, a channel of another \
             crate, real I/O. Use raddle::sync there, or raise the limit with hang_ms",
            self.hang.as_millis()
        );
        let failure = Failure { kind: FailureKind::Hang, message, tasks: vec![task], sites: vec![site] };
        Digest::unknown(run, Rng::seed_of_run(plan.seed, run), Verdict::Failed(failure))
    }
}

impl Target for LibraryTarget {
    fn run(&mut self, plan: &Plan) -> Result<Run, TargetError> {
        let command = Command::Record(Box::new(plan.clone()));
        self.carrier(0)?.commands.send(command).map_err(|_| gone())?;
        match self.wait(0, RECORD)? {
            Word::Says(Reply::Recorded(run)) => {
                if run.retired {
                    self.carriers[0] = None;
                }
                Ok(run.run)
            }
            Word::Says(_) => Err(bug("another reply was expected")),
            Word::Hangs => Ok(Run::untold(Digest { run: 0, seed: plan.seed, ..self.hung(0, plan, 0) })),
            Word::Due => {
                self.give_up(0);
                Ok(Run::given_up(plan))
            }
        }
    }

    fn sample(&mut self, plan: &Plan, runs: Range<u64>, sink: &mut dyn Sink) -> Result<(), TargetError> {
        let mut left = Some(runs);
        while let Some(runs) = left.filter(|runs| !runs.is_empty()) {
            let jobs = if self.shared.load(Ordering::Relaxed) { 1 } else { self.jobs };
            left = self.deal(plan, runs, jobs, sink)?;
        }
        Ok(())
    }

    fn search(&mut self, search: Box<dyn Searcher>, runs: Range<u64>) -> Result<Searched, TargetError> {
        self.search_with(search, runs, None)
    }

    fn search_aloud(
        &mut self,
        search: Box<dyn Searcher>,
        runs: Range<u64>,
        hear: Hear<'_>,
    ) -> Result<Searched, TargetError> {
        self.search_with(search, runs, Some(hear))
    }

    fn place(&self, site: SiteId) -> Place {
        place(site)
    }
}

/// Where a site of this process is.
pub(crate) fn place(site: SiteId) -> Place {
    // SAFETY: explorers hand back sites that came from this process's own runs.
    unsafe { site::location(site) }.map_or_else(Place::default, |location| Place {
        file: location.file().to_owned(),
        line: location.line(),
        column: location.column(),
        function: String::new(),
    })
}

impl LibraryTarget {
    fn search_with(
        &mut self,
        search: Box<dyn Searcher>,
        runs: Range<u64>,
        mut hear: Option<Hear<'_>>,
    ) -> Result<Searched, TargetError> {
        let alone = self.shared.load(Ordering::Relaxed) || !search.shares();
        let workers = if alone { 1 } else { self.jobs };
        let shared = Arc::new(Shared::new(search, workers, runs, hear.is_some()));
        let mut hear = |runs: &[SearchRun]| hear.as_mut().map_or(Flow::Continue, |hear| hear(runs));
        self.search_on(&shared, workers, &mut hear)?;
        while !self.given_up && shared.lock().goes_on_alone() {
            self.search_on(&shared, 1, &mut hear)?;
        }
        shared.lock().take().ok_or_else(|| bug("the search is lost"))
    }

    /// Lets so many carriers work on a search until all have stopped.
    fn search_on(&mut self, search: &Arc<Shared>, workers: usize, hear: Hear<'_>) -> Result<(), TargetError> {
        for index in 0..workers {
            let carrier = self.carrier(index)?;
            carrier.stop.store(false, Ordering::Relaxed);
            carrier.commands.send(Command::Search(search.clone(), index)).map_err(|_| gone())?;
        }
        for index in 0..workers {
            let mut word = self.wait(index, GRACE)?;
            while let Word::Says(Reply::Ran(runs)) = &word {
                if hear(runs) == Flow::Stop {
                    search.stop();
                }
                word = self.wait(index, GRACE)?;
            }
            match word {
                Word::Says(Reply::Searched(false)) => {}
                Word::Says(Reply::Searched(true)) => self.carriers[index] = None,
                Word::Says(_) => return Err(bug("another reply was expected")),
                Word::Due => {
                    // Nothing of its run is told, nor of one that it would begin.
                    let searching = search.lock();
                    self.give_up(index);
                    drop(searching);
                }
                Word::Hangs => {
                    let mut searching = search.lock();
                    let told = searching.hangs(index, |plan, number| Digest {
                        seed: plan.seed,
                        ..self.hung(index, plan, number)
                    });
                    if !told {
                        return Err(bug("nothing hangs"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Lets carriers do `runs` and tells what comes of them, in order. The runs that are left if
    /// they must not go on beside each other.
    fn deal(
        &mut self,
        plan: &Plan,
        runs: Range<u64>,
        jobs: usize,
        sink: &mut dyn Sink,
    ) -> Result<Option<Range<u64>>, TargetError> {
        let deal = Deal::new(runs.clone(), jobs);
        let mut pending: Vec<Pending> = Vec::new();
        for index in 0..deal.carriers() {
            self.send(index, plan, &deal, runs.clone())?;
            pending.push(Pending::default());
        }
        for (index, block) in deal.blocks() {
            for run in block {
                let flow = loop {
                    if let Some(digest) = pending[index].next() {
                        assert_eq!(digest.run, run, "raddle bug: a run is told out of turn");
                        break sink.run(digest);
                    }
                    match self.wait(index, GRACE)? {
                        Word::Says(Reply::Chunk(chunk)) => pending[index].refill(chunk),
                        Word::Says(Reply::Retired) => {
                            self.carriers[index] = None;
                            self.send(index, plan, &deal, run..runs.end)?;
                        }
                        Word::Says(Reply::Shared) => {
                            self.stop(deal.carriers(), Some(index))?;
                            return Ok(Some(run..runs.end));
                        }
                        Word::Says(Reply::BatchDone) => {
                            // Everything before the run that hung has been told.
                            let digest = pending[index].hung.take().ok_or_else(|| bug("a run is missing"))?;
                            let flow = sink.run(&digest);
                            self.send(index, plan, &deal, run + 1..runs.end)?;
                            break flow;
                        }
                        Word::Says(Reply::Recorded(_) | Reply::Ran(_) | Reply::Searched(..)) => {
                            return Err(bug("a stray reply"));
                        }
                        Word::Due => {
                            self.give_up(index);
                            self.stop(deal.carriers(), Some(index))?;
                            return Ok(None);
                        }
                        Word::Hangs => {
                            let digest = self.hung(index, plan, run);
                            // What the carrier had not told yet is lost with it, and run again.
                            self.send(index, plan, &deal, run..digest.run)?;
                            pending[index].hung = Some(digest);
                        }
                    }
                };
                if flow == Flow::Stop {
                    self.stop(deal.carriers(), None)?;
                    return Ok(None);
                }
            }
        }
        self.drain(deal.carriers(), None)?;
        Ok(None)
    }

    /// Has a carrier do its share of the batch, as far as it lies in `within`.
    fn send(
        &mut self,
        index: usize,
        plan: &Plan,
        deal: &Deal,
        within: Range<u64>,
    ) -> Result<(), TargetError> {
        let command = Command::Sample(Box::new(plan.clone()), deal.share(index, within));
        let carrier = self.carrier(index)?;
        carrier.stop.store(false, Ordering::Relaxed);
        carrier.commands.send(command).map_err(|_| gone())
    }

    /// The rest of the batch is not wanted.
    fn stop(&mut self, carriers: usize, done: Option<usize>) -> Result<(), TargetError> {
        for carrier in self.carriers.iter().flatten() {
            carrier.stop.store(true, Ordering::Relaxed);
        }
        self.drain(carriers, done)
    }

    /// Waits until every carrier but `done` has finished the batch.
    fn drain(&mut self, carriers: usize, done: Option<usize>) -> Result<(), TargetError> {
        for index in (0..carriers).filter(|&index| Some(index) != done) {
            loop {
                match self.wait(index, GRACE)? {
                    Word::Says(Reply::BatchDone | Reply::Shared) => break,
                    Word::Hangs | Word::Says(Reply::Retired) => {
                        self.carriers[index] = None;
                        break;
                    }
                    Word::Due => {
                        self.give_up(index);
                        break;
                    }
                    Word::Says(_) => {}
                }
            }
        }
        Ok(())
    }
}

fn bug(what: &str) -> TargetError {
    TargetError { message: format!("raddle bug: {what}") }
}

fn gone() -> TargetError {
    bug("the carrier is gone")
}

fn start(body: Body, shared: Arc<AtomicBool>, led: Arc<Led>, hapsets: bool) -> Result<Carrier, TargetError> {
    let id = CarrierId::take().ok_or_else(|| TargetError {
        message: String::from(
            "256 carriers are in use: too many checks or jobs at once, or too many of them hang. Fix the \
             hanging ones first",
        ),
    })?;
    let (command_sender, commands) = channel();
    let (replies_sender, replies) = sync_channel(UNHEARD_MAX);
    let heart = Arc::new(Heart::default());
    let stop = Arc::new(AtomicBool::new(false));
    let worker = Worker {
        id,
        body,
        heart: heart.clone(),
        stop: stop.clone(),
        replies: replies_sender,
        shared,
        led,
        hapsets,
    };
    std::thread::Builder::new().name(String::from("raddle")).spawn(move || worker.work(&commands)).map_err(
        |error| TargetError { message: format!("no thread for the runs could be started: {error}") },
    )?;
    Ok(Carrier { commands: command_sender, replies, heart, stop })
}
