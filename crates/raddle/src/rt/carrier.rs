//! The carrier: a thread of its own on which the runs of one check happen, and the target that
//! talks to it. The side that waits watches the carrier's heart: a run that reaches no operation
//! for too long is a `hang`; its carrier is abandoned, and another takes its place.

use super::panics;
use super::slot::{CarrierId, Mark};
use super::watch::Watch;
use super::{Heart, Run as Inner, drive, enter, site};
use raddle_analysis::races::Race;
use raddle_engine::{Engine, Next};
use raddle_explore::target::{
    Digest, Flow, Learned, ObjectInfo, Place, RaceFound, Run, Sink, Target, TargetError,
};
use raddle_model::{Failure, FailureKind, Plan, Recorder, Rng, SiteId, Tail, TaskId, Trace, Verdict};
use raddle_policy::Planned;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The program under test.
pub(crate) type Body = Arc<dyn Fn() + Send + Sync>;

/// How often the waiting side looks at the heart.
const LOOK: Duration = Duration::from_millis(50);
/// Runs after which the carrier hands over what it has, and the time after which it does so anyway.
const CHUNK_RUNS: usize = 1024;
const CHUNK_TIME: Duration = Duration::from_millis(20);

enum Command {
    Sample(Box<Plan>, Range<u64>),
    Record(Box<Plan>),
}

enum Reply {
    Chunk(Vec<Digest>),
    BatchDone,
    Recorded(Box<Recorded>),
    /// The carrier can do no more runs; some of the batch may be left.
    Retired,
}

struct Recorded {
    run: Run,
    retired: bool,
}

struct Carrier {
    commands: Sender<Command>,
    replies: Receiver<Reply>,
    heart: Arc<Heart>,
    stop: Arc<AtomicBool>,
}

/// A closure under test.
pub(crate) struct LibraryTarget {
    body: Body,
    hang: Duration,
    carrier: Option<Carrier>,
    weak_orders: Arc<AtomicBool>,
}

impl LibraryTarget {
    pub(crate) fn new(body: Body, hang: Duration) -> LibraryTarget {
        panics::install_hook();
        LibraryTarget { body, hang, carrier: None, weak_orders: Arc::default() }
    }

    /// Whether an atomic weaker than sequentially consistent was executed.
    pub(crate) fn weak_orders(&self) -> bool {
        self.weak_orders.load(Ordering::Relaxed)
    }

    fn carrier(&mut self) -> Result<&Carrier, TargetError> {
        if self.carrier.is_none() {
            self.carrier = Some(start(self.body.clone(), self.weak_orders.clone())?);
        }
        Ok(self.carrier.as_ref().expect("just started"))
    }

    /// Waits for the carrier's next word. `Ok(None)`: it hangs, and is abandoned.
    fn wait(&mut self) -> Result<Option<Reply>, TargetError> {
        let hang = self.hang;
        let carrier = self.carrier.as_ref().expect("raddle bug: waiting for no carrier");
        let beats = || carrier.heart.beats.load(Ordering::Relaxed);
        let (mut last, mut since) = (beats(), Instant::now());
        loop {
            match carrier.replies.recv_timeout(LOOK) {
                Ok(reply) => return Ok(Some(reply)),
                Err(RecvTimeoutError::Disconnected) => {
                    self.carrier = None;
                    return Err(TargetError {
                        message: String::from("raddle bug: the carrier ended in the middle of a batch"),
                    });
                }
                Err(RecvTimeoutError::Timeout) => {
                    let now = beats();
                    if now != last {
                        (last, since) = (now, Instant::now());
                    } else if since.elapsed() >= hang {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// What the abandoned carrier was at.
    fn hung(&mut self, plan: &Plan) -> Digest {
        let carrier = self.carrier.take().expect("raddle bug: no carrier hangs");
        let run = carrier.heart.run.load(Ordering::Relaxed);
        let site = SiteId(carrier.heart.site.load(Ordering::Relaxed));
        let task = TaskId(carrier.heart.task.load(Ordering::Relaxed));
        let message = format!(
            "no operation of raddle's was reached for {} ms. A task either computes without end or waits on \
             something that raddle does not see: a std::sync or parking_lot primitive, a channel of another \
             crate, real I/O. Use raddle::sync there, or raise the limit with hang_ms",
            self.hang.as_millis()
        );
        let failure = Failure { kind: FailureKind::Hang, message, tasks: vec![task], sites: vec![site] };
        Digest {
            run,
            seed: Rng::seed_of_run(plan.seed, run),
            verdict: Verdict::Failed(failure),
            fingerprint: 0,
            steps: 0,
            tasks: 0,
            learned: Learned::default(),
        }
    }
}

impl Target for LibraryTarget {
    fn run(&mut self, plan: &Plan) -> Result<Run, TargetError> {
        let command = Command::Record(Box::new(plan.clone()));
        self.carrier()?.commands.send(command).map_err(|_| gone())?;
        match self.wait()? {
            Some(Reply::Recorded(run)) => {
                if run.retired {
                    self.carrier = None;
                }
                Ok(run.run)
            }
            Some(_) => Err(TargetError { message: String::from("raddle bug: another reply was expected") }),
            None => {
                let digest = Digest { seed: plan.seed, ..self.hung(plan) };
                Ok(Run { digest, trace: Trace::default(), objects: Vec::new(), tasks: Vec::new() })
            }
        }
    }

    fn sample(&mut self, plan: &Plan, runs: Range<u64>, sink: &mut dyn Sink) -> Result<(), TargetError> {
        let mut runs = runs;
        // A carrier that hangs or retires leaves the rest of the batch to the next one.
        while !runs.is_empty() {
            let carrier = self.carrier()?;
            carrier.stop.store(false, Ordering::Relaxed);
            let command = Command::Sample(Box::new(plan.clone()), runs.clone());
            carrier.commands.send(command).map_err(|_| gone())?;
            loop {
                let chunk = match self.wait()? {
                    Some(Reply::BatchDone) => return Ok(()),
                    Some(Reply::Retired) => {
                        self.carrier = None;
                        break;
                    }
                    Some(Reply::Chunk(chunk)) => chunk,
                    Some(_) => {
                        return Err(TargetError { message: String::from("raddle bug: a stray reply") });
                    }
                    None => vec![self.hung(plan)],
                };
                let hung = self.carrier.is_none();
                for digest in chunk {
                    runs.start = digest.run + 1;
                    if sink.run(&digest) == Flow::Stop {
                        return self.stop();
                    }
                }
                if hung {
                    break;
                }
            }
        }
        Ok(())
    }

    fn place(&self, site: SiteId) -> Place {
        // SAFETY: explorers hand back sites that came from this process's own runs.
        unsafe { site::location(site) }.map_or_else(Place::default, |location| Place {
            file: location.file().to_owned(),
            line: location.line(),
            column: location.column(),
            function: String::new(),
        })
    }
}

impl LibraryTarget {
    /// The rest of the batch is not wanted.
    fn stop(&mut self) -> Result<(), TargetError> {
        if let Some(carrier) = &self.carrier {
            carrier.stop.store(true, Ordering::Relaxed);
            loop {
                match self.wait()? {
                    Some(Reply::BatchDone) => break,
                    None | Some(Reply::Retired) => {
                        self.carrier = None;
                        break;
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }
}

fn gone() -> TargetError {
    TargetError { message: String::from("raddle bug: the carrier is gone") }
}

fn start(body: Body, weak_orders: Arc<AtomicBool>) -> Result<Carrier, TargetError> {
    let id = CarrierId::take().ok_or_else(|| TargetError {
        message: String::from(
            "256 carriers are in use: too many checks at once, or too many of them hang. Fix the hanging ones first",
        ),
    })?;
    let (command_sender, commands) = channel();
    let (replies_sender, replies) = channel();
    let heart = Arc::new(Heart::default());
    let stop = Arc::new(AtomicBool::new(false));
    let worker =
        Worker { id, body, heart: heart.clone(), stop: stop.clone(), replies: replies_sender, weak_orders };
    std::thread::Builder::new().name(String::from("raddle")).spawn(move || worker.work(&commands)).map_err(
        |error| TargetError { message: format!("no thread for the runs could be started: {error}") },
    )?;
    Ok(Carrier { commands: command_sender, replies, heart, stop })
}

/// The carrier's own side.
struct Worker {
    id: CarrierId,
    body: Body,
    heart: Arc<Heart>,
    stop: Arc<AtomicBool>,
    replies: Sender<Reply>,
    weak_orders: Arc<AtomicBool>,
}

impl Worker {
    fn work(self, commands: &Receiver<Command>) {
        let mut state = Inner {
            engine: Engine::new(Planned::new(&Plan::new(0, Tail::None)), Watch::default()),
            fibers: vec![Box::default()],
            running: TaskId::MAIN,
            starting: false,
            ending: false,
            retired: false,
            mark: Mark(0),
            next: Next::Over,
            stacks: Vec::new(),
            leaked: 0,
            heart: self.heart.clone(),
            beats: 0,
            statics: super::statics::Statics::default(),
        };
        // A retired carrier ends, and the target starts another: std's counters of this thread are off
        // after a panic that was never finished.
        while let (false, Ok(command)) = (state.retired, commands.recv()) {
            let told = match command {
                Command::Sample(plan, runs) => self.batch(&mut state, &plan, runs),
                Command::Record(plan) => {
                    let run = self.record(&mut state, &plan);
                    self.replies.send(Reply::Recorded(Box::new(Recorded { run, retired: state.retired })))
                }
            };
            if told.is_err() {
                return;
            }
        }
    }

    fn batch(
        &self,
        state: &mut Inner,
        plan: &Plan,
        runs: Range<u64>,
    ) -> Result<(), std::sync::mpsc::SendError<Reply>> {
        *state.engine.policy_mut() = Planned::new(plan);
        state.engine.analysis_mut().recorder = None;
        let (mut chunk, mut since) = (Vec::new(), Instant::now());
        for run in runs {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            chunk.push(self.one(state, plan, run, Rng::seed_of_run(plan.seed, run), false));
            let due = chunk.len() >= CHUNK_RUNS || (run % 16 == 0 && since.elapsed() > CHUNK_TIME);
            if due || matches!(chunk.last(), Some(Digest { verdict: Verdict::Failed(_), .. })) {
                self.replies.send(Reply::Chunk(std::mem::take(&mut chunk)))?;
                since = Instant::now();
            }
            if state.retired {
                break;
            }
        }
        if state.engine.analysis().weak_orders {
            self.weak_orders.store(true, Ordering::Relaxed);
        }
        self.replies.send(Reply::Chunk(chunk))?;
        self.replies.send(if state.retired { Reply::Retired } else { Reply::BatchDone })
    }

    fn one(&self, state: &mut Inner, plan: &Plan, run: u64, seed: u64, record: bool) -> Digest {
        self.heart.run.store(run, Ordering::Relaxed);
        let verdict = loop {
            raddle_model::Policy::restart(state.engine.policy_mut(), seed);
            state.engine.begin(plan, record);
            state.mark = self.id.next_run();
            let verdict = enter(state, |rt| drive(rt, &*self.body));
            self.id.end_run();
            state.statics.release();
            // The first plain access of the campaign turns race detection on: that run is run again.
            if !state.engine.analysis().races.missed() || state.retired {
                break verdict;
            }
        };
        let races = races(state);
        let world = state.engine.world();
        Digest {
            run,
            seed,
            verdict,
            fingerprint: state.engine.analysis().fingerprint.value(),
            steps: state.engine.steps(),
            tasks: world.tasks().len() as u32,
            learned: Learned { releases: state.engine.saw_try() && !plan.points.releases, races },
        }
    }

    fn record(&self, state: &mut Inner, plan: &Plan) -> Run {
        *state.engine.policy_mut() = Planned::new(plan);
        state.engine.analysis_mut().recorder = Some(Recorder::default());
        let digest = self.one(state, plan, 0, plan.seed, true);
        let recorder = state.engine.analysis_mut().recorder.take().unwrap_or_default();
        let mut trace = state.engine.trace(recorder.events);
        trace.schedule.fingerprint = digest.fingerprint;
        let world = state.engine.world();
        let objects = world.objects().iter().enumerate().map(|(i, object)| ObjectInfo {
            id: raddle_model::ObjectId(i as u32),
            noun: object.state.noun().to_owned(),
            site: object.site,
        });
        let name = |i: usize| {
            let path = world.path(TaskId(i as u32));
            match &state.fibers[i].name {
                Some(name) => format!("{path} ({name})"),
                None => path,
            }
        };
        let tasks = (0..world.tasks().len()).map(name).collect();
        Run { objects: objects.collect(), tasks, digest, trace }
    }
}

/// The races of the run that has just ended.
fn races(state: &mut Inner) -> Vec<RaceFound> {
    let findings = state.engine.analysis_mut().races.findings().to_vec();
    let world = state.engine.world();
    let found = |race: &Race| RaceFound { sites: race.sites(), message: race.message(world) };
    findings.iter().map(found).collect()
}
