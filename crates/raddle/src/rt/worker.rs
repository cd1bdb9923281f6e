//! The carrier's own side: the thread on which runs happen, one after the other.

use super::arrive::Calls;
use super::clock::Clock;
use super::count::PanicCount;
use super::jobs::Share;
use super::searching::{self, Assignment, Shared};
use super::slot::{CarrierId, Mark};
use super::switch::Context;
use super::watch::{Hapsets, Watch};
use super::{CONTEXTS, Ended, Heart, Run as Inner, drive, enter};
use raddle_analysis::lock_order::{Cycle, Edge};
use raddle_analysis::races::Race;
use raddle_engine::Engine;
use raddle_explore::target::{CycleFound, Digest, EdgeFound, Learned, ObjectInfo, RaceFound, Run, SearchRun};
use raddle_explore::told::{Brief, Told};
use raddle_model::{ObjectId, Plan, Recorder, Rng, Tail, TaskId, Trace, Verdict, World};
use raddle_policy::Planned;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SendError, SyncSender};
use std::time::{Duration, Instant};

/// The program under test.
pub type Body = Arc<dyn Fn() + Send + Sync>;

/// Runs after which the carrier hands over what it has, and the time after which it does so anyway. To wake whoever waits for them takes
/// as long as some twenty short runs.
const CHUNK_RUNS: usize = 4096;
pub(super) const CHUNK_TIME: Duration = Duration::from_millis(20);
/// Steps of a run that is not short.
const LONG_STEPS: u64 = 4096;

/// The order of locks is followed in runs whose number is a power of two, and in every so many.
/// Which runs these are must not depend on the carrier, and it is seldom the schedule that decides
/// in which order a task takes its locks.
const CLOSE_EVERY: u64 = 256;
/// The same in a search: its runs are much like those before them, and it comes to whatever a cycle leads to. Such a run is not led.
const CLOSE_IN_SEARCH_EVERY: u64 = 1024;

pub(super) enum Command {
    Sample(Box<Plan>, Share),
    Record(Box<Plan>),
    /// A search, and which of its workers this carrier is.
    Search(Arc<Shared>, usize),
}

pub(super) enum Reply {
    Chunk(Vec<Told>),
    BatchDone,
    Recorded(Box<Recorded>),
    /// Runs of a search that goes on.
    Ran(Vec<SearchRun>),
    /// Whether the carrier does no more runs.
    Searched(bool),
    /// The carrier can do no more runs; some of the batch may be left.
    Retired,
    /// The runs share objects, so no others may go on beside them; some of the batch is left.
    Shared,
}

/// Runs that were led by the one before them, and those of them that strayed.
#[derive(Default, Debug)]
pub(super) struct Led {
    pub(super) runs: AtomicU64,
    pub(super) strayed: AtomicU64,
}

/// What is kept of a run.
enum Kept<'a> {
    /// What came of it. Whether the run before it was one of the same batch.
    Nothing(bool),
    /// What a search wants to know. Here is what it got of the run before, and of how many first steps it is known that
    /// both share them.
    Log(&'a mut Trace, usize),
    /// Everything.
    Record,
}

pub(super) struct Recorded {
    pub(super) run: Run,
    pub(super) retired: bool,
}

pub(super) struct Worker {
    pub(super) id: CarrierId,
    pub(super) body: Body,
    pub(super) heart: Arc<Heart>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) replies: SyncSender<Reply>,
    /// Whether runs were seen to share objects.
    pub(super) shared: Arc<AtomicBool>,
    pub(super) led: Arc<Led>,
    /// Whether HaPSets are wanted.
    pub(super) hapsets: bool,
}

impl Worker {
    pub(super) fn work(self, commands: &Receiver<Command>) {
        let mut state = Inner {
            engine: Engine::new(Planned::new(&Plan::new(0, Tail::None)), Watch::new(self.heart.clone())),
            fibers: Vec::new(),
            contexts: [std::ptr::null_mut(); CONTEXTS],
            running: TaskId::MAIN,
            root: Context::default(),
            maker: None,
            ending: false,
            eventful: false,
            unusual: false,
            calls: &Calls::SEARCHED,
            usual_calls: &Calls::SEARCHED,
            retired: false,
            several: false,
            shared: false,
            mark: Mark(0),
            stamp: 0,
            led_mark: 0,
            stuck: false,
            stacks: Vec::new(),
            rooms: Vec::new(),
            alive: 0,
            ended: Vec::new(),
            moved_stacks: false,
            untidy: false,
            leaked: 0,
            led: 0,
            heart: self.heart.clone(),
            panic_count: PanicCount::find(),
            statics: super::statics::Statics::default(),
        };
        state.engine.analysis_mut().hapsets = self.hapsets.then(Hapsets::default);
        if self.led.strayed.load(Ordering::Relaxed) != 0 {
            // On a carrier before this one.
            state.engine.distrust_rote();
        }
        // What a search was told of the last run.
        let mut trace = Trace::default();
        // A retired carrier ends, and the target starts another: std's counters of this thread are off
        // after a panic that was never finished.
        let mut over = false;
        while !state.retired && !over {
            let Ok(command) = commands.recv() else { break };
            let told = match command {
                Command::Sample(plan, share) => self.batch(&mut state, &plan, &share),
                Command::Record(plan) => {
                    state.several = false;
                    let run = self.record(&mut state, &plan);
                    self.replies.send(Reply::Recorded(Box::new(Recorded { run, retired: state.retired })))
                }
                Command::Search(search, worker) => {
                    self.search(&mut state, &search, worker, &mut trace);
                    // Mostly nothing is asked for after that: so nobody is told to end, and nobody waits for it.
                    over = search.lock().is_over();
                    self.replies.send(Reply::Searched(state.retired || over))
                }
            };
            if told.is_err() {
                break;
            }
        }
        // What lies on stacks that were given up is nobody's any more; but such a carrier has seen enough.
        if !state.retired && state.leaked == 0 {
            state.leave_stacks();
        }
    }

    fn batch(&self, state: &mut Inner, plan: &Plan, share: &Share) -> Result<(), SendError<Reply>> {
        *state.engine.policy_mut() = Planned::new(plan);
        state.engine.analysis_mut().recorder = None;
        state.several = share.is_one_of_several();
        let (mut chunk, mut since) = (Vec::new(), Instant::now());
        let (mut again, mut end) = (false, Reply::BatchDone);
        for run in share.blocks().flatten() {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let told = self.sample(state, plan, run, again);
            again = true;
            if state.shared && state.several {
                end = Reply::Shared;
                break;
            }
            // To ask for the time takes as long as a short run.
            let asks = run % 16 == 0 || state.engine.steps() > LONG_STEPS;
            let due = chunk.len() + 1 >= CHUNK_RUNS || (asks && since.elapsed() > CHUNK_TIME);
            let due = due || told.fails();
            chunk.push(told);
            if due {
                // The next one will most likely be as long.
                let next = Vec::with_capacity(chunk.len());
                self.replies.send(Reply::Chunk(std::mem::replace(&mut chunk, next)))?;
                since = Instant::now();
            }
            if state.retired {
                end = Reply::Retired;
                break;
            }
        }
        self.replies.send(Reply::Chunk(chunk))?;
        self.replies.send(end)
    }

    /// Runs of a search, until there is something to look at or some time has passed.
    fn search(&self, state: &mut Inner, search: &Shared, me: usize, trace: &mut Trace) {
        state.engine.analysis_mut().recorder = None;
        let mut clock = Clock::new();
        let mut begun = clock.begun();
        // Whose run the last one was, if that is known.
        let mut last = None;
        let mut next = search.next(me, begun);
        while let Some(Assignment { worker, plan, number, several, shared }) = next {
            // The run is all that is done for it here, until what happened in it is written down: what the search does is the rest.
            let run_began = clock.looks();
            state.several = several;
            let shared = if last.replace(worker) == Some(worker) { shared } else { 0 };
            state.engine.policy_mut().renew(&plan);
            let ended = self.one(state, &plan, number, plan.seed, Kept::Log(trace, shared));
            let digest = digest(state, &plan, number, plan.seed, ended);
            state.engine.policy_mut().let_go();
            if state.shared && several {
                search.give_back(Assignment { worker, plan, number, several, shared });
                break;
            }
            state.engine.write_search_trace(trace);
            if state.engine.has_strayed() {
                // It could not be done again: nobody knows what it would have done.
                *trace = Trace::default();
                state.engine.forget_rote();
            }
            if let Some(hapsets) = &mut state.engine.analysis_mut().hapsets {
                hapsets.callers.put_statements(trace);
            }
            let now = clock.ran_since(run_began);
            let due = now.is_some_and(|now| now - begun > CHUNK_TIME);
            let learned = search.learn((worker, &plan), (&digest, trace), due, &self.stop);
            // Nobody else has it when the search changes its steps.
            drop(plan);
            next = match learned {
                searching::Learned::GoOn(searching) if !state.retired => search.next_of(searching, me, begun),
                searching::Learned::Tell(runs) => {
                    // Whoever is not there any more has given this carrier up.
                    let heard = self.replies.send(Reply::Ran(runs)).is_ok();
                    begun = now.unwrap_or(begun);
                    if heard && !state.retired { search.next(me, begun) } else { None }
                }
                _ => None,
            };
        }
        self.led.runs.fetch_add(std::mem::take(&mut state.led), Ordering::Relaxed);
        search.lock().spent += clock.searched();
    }

    /// One run of a batch.
    #[inline]
    fn sample(&self, state: &mut Inner, plan: &Plan, run: u64, again: bool) -> Told {
        let seed = Rng::seed_of_run(plan.seed, run);
        let ended = self.one(state, plan, run, seed, Kept::Nothing(again));
        if ended.is_err() || needs_releases(state, plan) || teaches_more(state) {
            return Told::Whole(Box::new(digest(state, plan, run, seed, ended)));
        }
        Told::Brief(Brief {
            run,
            seed,
            fingerprint: state.engine.analysis().fingerprint.value(),
            steps: state.engine.steps(),
            decisions: state.engine.decisions() as u64,
            tasks: state.engine.world().tasks().len() as u32,
            weak_orders: state.engine.analysis().weak_orders,
        })
    }

    /// One run, until it has ended and nothing of it is left.
    fn one(&self, state: &mut Inner, plan: &Plan, run: u64, seed: u64, mut kept: Kept<'_>) -> Ended {
        self.heart.run.store(run, Ordering::Relaxed);
        let record = matches!(kept, Kept::Record);
        let searched = matches!(kept, Kept::Log(..));
        let every = if searched { CLOSE_IN_SEARCH_EVERY } else { CLOSE_EVERY };
        let closely = record || run.is_power_of_two() || run.is_multiple_of(every);
        state.engine.analysis_mut().closely = closely;
        // What is worth more than its numbers is run again, and recorded.
        state.engine.only_count_decisions(!record);
        let ended = loop {
            raddle_model::Policy::restart(state.engine.policy_mut(), seed);
            let begun = match &mut kept {
                Kept::Nothing(again) => *again && state.engine.begin_again(),
                Kept::Log(trace, shared) if !closely => {
                    let led = state.engine.begin_by_rote(plan, trace, *shared);
                    state.led += u64::from(led);
                    led
                }
                _ => false,
            };
            if !begun {
                state.engine.begin(plan, record);
            }
            state.mark = self.id.next_run();
            state.stamp = state.mark.stamp();
            state.led_mark = crate::sync::led_mark(state.mark);
            let ended = enter(state, |rt| drive(rt, &*self.body));
            self.id.end_run();
            state.statics.release();
            // What strayed from the run before it is done again with care.
            if state.engine.has_strayed() && !state.retired {
                self.led.strayed.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            // The first plain access of the campaign turns race detection on: that run is run again.
            if !state.engine.analysis().races.missed() || state.retired {
                break ended;
            }
        };
        if state.shared {
            self.shared.store(true, Ordering::Relaxed);
        }
        ended
    }

    fn record(&self, state: &mut Inner, plan: &Plan) -> Run {
        *state.engine.policy_mut() = Planned::new(plan);
        state.engine.analysis_mut().recorder = Some(Recorder::default());
        let ended = self.one(state, plan, 0, plan.seed, Kept::Record);
        let digest = digest(state, plan, 0, plan.seed, ended);
        let recorder = state.engine.analysis_mut().recorder.take().unwrap_or_default();
        let mut trace = state.engine.trace(recorder.events);
        trace.schedule.fingerprint = digest.fingerprint;
        let world = state.engine.world();
        let objects = world.objects().iter().enumerate().map(|(i, object)| ObjectInfo {
            id: ObjectId(i as u32),
            noun: object.state.noun().to_owned(),
            name: None,
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

/// All that there is to say of the run that has just ended.
fn digest(state: &mut Inner, plan: &Plan, run: u64, seed: u64, ended: Ended) -> Digest {
    let weak_orders = state.engine.analysis().weak_orders;
    let learned = Learned { releases: needs_releases(state, plan), weak_orders, ..Learned::default() };
    let learned = if teaches_more(state) { more_learned(state, learned) } else { learned };
    Digest {
        run,
        seed,
        verdict: ended.err().map_or(Verdict::Finished, |verdict| *verdict),
        fingerprint: state.engine.analysis().fingerprint.value(),
        steps: state.engine.steps(),
        accesses: 0,
        decisions: state.engine.decisions() as u64,
        tasks: state.engine.world().tasks().len() as u32,
        learned,
    }
}

/// Whether the run that has just ended taught that giving back locks must be a point.
#[inline]
fn needs_releases(state: &Inner, plan: &Plan) -> bool {
    state.engine.saw_try() && !plan.points.releases
}

/// Whether it taught anything else.
#[inline]
fn teaches_more(state: &mut Inner) -> bool {
    let analysis = state.engine.analysis_mut();
    analysis.hapsets.is_some()
        || !analysis.cycles().is_empty()
        || (analysis.races.watching() && !analysis.races.findings().is_empty())
}

#[cold]
fn more_learned(state: &mut Inner, learned: Learned) -> Learned {
    let races = state.engine.analysis_mut().races.findings().to_vec();
    let world = state.engine.world();
    let race = |race: &Race| RaceFound { sites: race.sites(), message: race.message(world) };
    let cycles = state.engine.analysis().cycles();
    let cycles = cycles.iter().map(|found| cycle(found, world)).collect();
    let races = races.iter().map(race).collect();
    let pairs = state.engine.analysis_mut().hapsets.as_mut().map_or(Vec::new(), Hapsets::pairs);
    Learned { races, cycles, pairs, ..learned }
}

/// A potential deadlock in words.
fn cycle(found: &Cycle, world: &World) -> CycleFound {
    let edge = |edge: &Edge| EdgeFound {
        task: world.path(edge.task),
        held: world.object(edge.held).state.noun().to_owned(),
        sites: edge.sites,
    };
    CycleFound { edges: found.edges.iter().map(edge).collect() }
}
