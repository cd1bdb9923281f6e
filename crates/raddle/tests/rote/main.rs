//! Runs of a search repeat by rote what the run before them did: a search must not notice. Random programs are searched
//! that way and once more with every run recorded from its beginning; each run, and all that the search is told of
//! it, must be the same.

mod panics;
mod strays;

use raddle::sync::atomic::{AtomicU64, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::tool::LibraryTarget;
use raddle::{Check, thread};
use raddle_explore::explorer::{Batch, explorer};
use raddle_explore::target::{Ask, Digest, Place, Run, Searcher, Sink, Target, TargetError};
use raddle_model::plan::Steps;
use raddle_model::trace::Picked;
use raddle_model::{Dice, Op, Outcome, Plan, Rng, SiteId, Tail, TaskId, Trace, Verdict};
use std::ops::Range;
use std::sync::atomic::AtomicU64 as RealU64;
use std::time::Duration;

/// What a task of a random program does.
#[derive(Clone, Copy, Debug)]
enum Act {
    Load(usize),
    Store(usize, u64),
    Add(usize),
    /// Takes two reads of the value to be sure that it fails now and then.
    Exchange(usize),
    /// Only if the last value that was read is odd.
    AddIfOdd(usize),
    /// Looks so often that it is taken for spinning.
    Watch(usize),
    Section(usize),
    Nested(usize, usize),
    /// Poisons it, and nobody is told of the panic.
    Poison(usize),
    Panic,
    // What nobody does by rote.
    TryLock(usize),
    Choose,
    Clock,
    Notify,
    Spawn,
    Yield,
}

const ATOMICS: u32 = 3;
const MUTEXES: u32 = 2;

fn act(rng: &mut Rng, plain: bool) -> Act {
    let atomic = |rng: &mut Rng| rng.below(ATOMICS) as usize;
    let mutex = |rng: &mut Rng| rng.below(MUTEXES) as usize;
    match rng.below(if plain { 13 } else { 27 }) {
        0 | 1 => Act::Load(atomic(rng)),
        2 => Act::Store(atomic(rng), u64::from(rng.below(2))),
        3 | 4 => Act::Add(atomic(rng)),
        5 => Act::Exchange(atomic(rng)),
        6 => Act::AddIfOdd(atomic(rng)),
        7 | 8 => Act::Section(mutex(rng)),
        9 => Act::Nested(mutex(rng), mutex(rng)),
        10 | 11 => Act::Watch(atomic(rng)),
        12 => Act::Poison(mutex(rng)),
        13 => Act::Panic,
        14 => Act::TryLock(mutex(rng)),
        15 => Act::Choose,
        16 => Act::Clock,
        17 => Act::Notify,
        18 => Act::Spawn,
        19 => Act::Yield,
        _ => Act::Add(atomic(rng)),
    }
}

/// A program: what main does before it makes the tasks, what they do, and whether each is joined at once.
#[derive(Clone, Debug)]
struct Program {
    first: Vec<Act>,
    tasks: Vec<(Vec<Act>, bool)>,
}

impl Program {
    fn random(number: u64) -> Program {
        let mut rng = Rng::new(number);
        // Half of them do nothing but what is done by rote; the others come to something else sooner or later.
        let plain = number.is_multiple_of(2);
        let first = (0..rng.below(8)).map(|_| act(&mut rng, true)).collect();
        let tasks = (0..2 + rng.below(2)).map(|_| {
            let length = 2 + rng.below(12);
            ((0..length).map(|_| act(&mut rng, plain)).collect(), rng.below(6) == 0)
        });
        Program { first, tasks: tasks.collect() }
    }

    fn run(&self) {
        let shared = Arc::new(Shared::default());
        let mut last = 0;
        self.first.iter().for_each(|act| shared.act(*act, &mut last));
        let mut handles = Vec::new();
        for (acts, at_once) in &self.tasks {
            let (acts, shared) = (acts.clone(), shared.clone());
            let handle = thread::spawn(move || {
                let mut last = 0;
                acts.iter().for_each(|act| shared.act(*act, &mut last));
            });
            if *at_once {
                drop(handle.join());
            } else {
                handles.push(handle);
            }
        }
        handles.into_iter().for_each(|handle| drop(handle.join()));
    }
}

#[derive(Default)]
struct Shared {
    atomics: [AtomicU64; ATOMICS as usize],
    mutexes: [Mutex<u64>; MUTEXES as usize],
    condvar: Condvar,
}

impl Shared {
    fn section(&self, mutex: usize) {
        let mut guard = self.mutexes[mutex].lock().unwrap_or_else(|error| {
            // One of them may have been poisoned, which is to be seen.
            self.atomics[0].fetch_add(1, SeqCst);
            error.into_inner()
        });
        *guard += 1;
    }

    fn poison(&self, mutex: usize) {
        let unwinds = || {
            let _guard = self.mutexes[mutex].lock();
            // Unlike a panic this calls no hook.
            std::panic::resume_unwind(Box::new("poison"));
        };
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(unwinds));
        drop(unwound);
    }

    fn act(&self, act: Act, last: &mut u64) {
        let atomic = |at: usize| &self.atomics[at];
        match act {
            Act::Load(at) => *last = atomic(at).load(SeqCst),
            Act::Store(at, value) => atomic(at).store(value, SeqCst),
            Act::Add(at) => *last = atomic(at).fetch_add(1, SeqCst),
            Act::Exchange(at) => _ = atomic(at).compare_exchange(*last, *last + 1, SeqCst, SeqCst),
            Act::AddIfOdd(at) if *last % 2 == 1 => _ = atomic(at).fetch_add(1, SeqCst),
            Act::AddIfOdd(_) => {}
            Act::Watch(at) => _ = (0..14).find(|_| atomic(at).load(SeqCst) > 1),
            Act::Section(mutex) => self.section(mutex),
            Act::Nested(outer, inner) if outer != inner => {
                let _outer = self.mutexes[outer].lock().unwrap_or_else(|error| error.into_inner());
                self.section(inner);
            }
            Act::Nested(outer, _) => self.section(outer),
            Act::Poison(mutex) => self.poison(mutex),
            Act::Panic => assert!(*last != 1, "one"),
            Act::TryLock(mutex) => drop(self.mutexes[mutex].try_lock()),
            Act::Choose => *last = raddle::choose(2) as u64,
            Act::Clock => _ = raddle::time::Instant::now(),
            Act::Notify => self.condvar.notify_one(),
            Act::Spawn => drop(thread::spawn(|| ())),
            Act::Yield => thread::yield_now(),
        }
    }
}

/// What is told of a run: how it ended, and everything that it did.
type Told = (Verdict, u128, [u64; 2], Trace);

/// Writes down what a search is told.
struct Listening {
    search: Box<dyn Searcher>,
    told: Vec<Told>,
    last: Vec<Taken>,
    /// Runs that have not done what they share with the one before them as that did it.
    different: u64,
}

/// A step that a run has taken; nothing if it was cut short there.
type Taken = Option<(TaskId, Op, Outcome)>;

fn taken(trace: &Trace) -> Vec<Taken> {
    let event = |pick: &Picked| trace.events.get(pick.event as usize);
    trace
        .log
        .picks
        .iter()
        .map(|pick| event(pick).map(|event| (event.task, event.op, event.outcome)))
        .collect()
}

impl Searcher for Listening {
    fn next(&mut self, worker: usize) -> Ask {
        self.search.next(worker)
    }

    fn learn(&mut self, worker: usize, plan: &Plan, digest: &Digest, trace: &Trace) {
        // The first step of all is no pick.
        let (now, shared) = (taken(trace), self.search.shared_steps(worker).saturating_sub(1));
        self.different += u64::from(now.get(..shared) != self.last.get(..shared));
        self.last = now;
        // The schedule is told of recorded runs only.
        let trace_alone = Trace { schedule: Default::default(), ..trace.clone() };
        self.told.push((
            digest.verdict.clone(),
            digest.fingerprint,
            [digest.steps, digest.decisions],
            trace_alone,
        ));
        self.search.learn(worker, plan, digest, trace);
    }

    fn shares(&self) -> bool {
        self.search.shares()
    }

    fn shared_steps(&self, worker: usize) -> usize {
        self.search.shared_steps(worker)
    }

    fn asked(&self, worker: usize) -> Arc<Plan> {
        self.search.asked(worker)
    }
}

/// A target that records every run from its beginning: it has no way of its own to search.
struct Whole(LibraryTarget);

impl Target for Whole {
    fn run(&mut self, plan: &Plan) -> Result<Run, TargetError> {
        self.0.run(plan)
    }

    fn sample(&mut self, plan: &Plan, runs: Range<u64>, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.0.sample(plan, runs, sink)
    }

    fn place(&self, site: SiteId) -> Place {
        self.0.place(site)
    }
}

/// The first runs of a search of a program that does the same whenever it is led the same way.
fn search(target: &mut dyn Target, strategy: &str, runs: u64) -> Vec<Told> {
    let searched = searched(target, strategy, runs);
    assert_eq!(searched.different, 0, "{strategy}: what runs share they do in the same way");
    searched.told
}

/// The same of any program.
fn searched(target: &mut dyn Target, strategy: &str, runs: u64) -> Listening {
    // As checks do it: those who cannot have that do without.
    let steps = Steps { sections: true, ..Steps::default() };
    let plan = Plan { steps_max: 10_000, ..Plan::new(0, Tail::Steps(steps)) };
    let mut explorer = explorer(raddle_policy::parse(strategy).expect("a strategy"), plan);
    let Some(Batch::Search(search)) = explorer.next() else { panic!("{strategy} is no search") };
    let mut listening: Box<dyn Searcher> =
        Box::new(Listening { search, told: Vec::new(), last: Vec::new(), different: 0 });
    let mut numbers = 0..runs;
    while !numbers.is_empty() {
        let searched = target.search(listening, numbers.clone()).expect("runs");
        numbers.start += searched.runs.len() as u64;
        listening = searched.search;
        if searched.over {
            break;
        }
    }
    let listening: Box<dyn std::any::Any> = listening;
    *listening.downcast::<Listening>().expect("what was given")
}

fn target(body: impl Fn() + Send + Sync + 'static) -> LibraryTarget {
    LibraryTarget::new(Arc::new(body), Duration::from_secs(5))
}

#[test]
fn a_search_is_told_the_same_by_rote() {
    let mut led = 0;
    // In the last one runs end while a task unwinds.
    for number in (0..raddle_tiers::size("rote_programs")).chain([1157]) {
        let program = Program::random(number);
        for strategy in ["odpor", "dpor", "dfs", "pcb:bound=2", "random-dfs"] {
            let bodies = [program.clone(), program.clone()];
            let [by_rote, whole] = bodies.map(|program| target(move || program.run()));
            let (mut by_rote, mut whole) = (by_rote, Whole(whole));
            let (found, expected) = (search(&mut by_rote, strategy, 120), search(&mut whole, strategy, 120));
            led += by_rote.led_runs();
            assert_eq!(by_rote.strayed_runs(), 0, "{strategy} on {number}: {program:?}");
            assert_eq!(found.len(), expected.len(), "{strategy} on {number}: {program:?}");
            for (run, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert!(
                    found == expected,
                    "{strategy} on {number}, run {run}: {program:?}\n{found:?}\n{expected:?}"
                );
            }
        }
    }
    // A test of nothing would pass as well.
    assert!(led > 20 * raddle_tiers::size("rote_programs"), "only {led} runs were led");
}

/// Long runs of little but sections, of which states are kept in between.
#[test]
fn sections_are_told_the_same_by_rote() {
    for (tasks, sections, runs) in [(4, 5, 3_000), (2, 40, 600), (3, 12, 1_000)] {
        let body = move || {
            let shared = Arc::new(Mutex::new(0));
            let work = |_| {
                let shared = shared.clone();
                thread::spawn(move || (0..sections).for_each(|_| *shared.lock().unwrap() += 1))
            };
            let tasks: Vec<_> = (0..tasks).map(work).collect();
            tasks.into_iter().for_each(|task| task.join().unwrap());
        };
        let (mut by_rote, mut whole) = (target(body), Whole(target(body)));
        let (found, expected) = (search(&mut by_rote, "odpor", runs), search(&mut whole, "odpor", runs));
        assert_eq!((by_rote.strayed_runs(), found.len()), (0, expected.len()));
        for (run, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(found == expected, "run {run}\n{found:?}\n{expected:?}");
        }
        assert!(by_rote.led_runs() > runs / 2, "only {} runs were led", by_rote.led_runs());
    }
}

/// Loops over one object and over several, of what is counted in one line and what is not.
#[test]
fn loops_are_told_the_same_by_rote() {
    let works: [Work; 6] = [
        |shared, _| (0..12).for_each(|_| _ = shared.atomics[0].fetch_add(1, SeqCst)),
        |shared, _| (0..6).for_each(|round| shared.section(round % 2)),
        |shared, task| {
            (0..4).for_each(|_| shared.section(0));
            (0..3).for_each(|_| _ = shared.atomics[task as usize].load(SeqCst));
            (0..4).for_each(|_| shared.section(0));
        },
        // A store that changes nothing is told of, and one that does is not.
        |shared, _| (0..10).for_each(|round| shared.atomics[0].store(round / 4, SeqCst)),
        // One that unwinds with a section open.
        |shared, task| {
            (0..3).for_each(|_| shared.section(0));
            if task == 1 {
                shared.poison(0);
            }
            (0..3).for_each(|_| shared.section(0));
        },
        |shared, _| {
            for _ in 0..3 {
                let _outer = shared.mutexes[0].lock();
                (0..2).for_each(|_| shared.section(1));
            }
        },
    ];
    for (number, work) in works.into_iter().enumerate() {
        for strategy in ["odpor", "random-dfs"] {
            let (led, runs) = assert_told_the_same(work, strategy, 400, number);
            assert!(led > runs / 4, "{strategy} of {number}: only {led} of {runs} runs were led");
        }
    }
}

/// What two tasks do, each of which knows its number.
type Work = fn(&Arc<Shared>, u64);

/// The first runs of a search are told the same whether they are led or not. How many were, and how many there are.
fn assert_told_the_same(work: Work, strategy: &str, most: u64, number: usize) -> (u64, u64) {
    let body = move || {
        let shared = Arc::new(Shared::default());
        let begin = |task| {
            let shared = shared.clone();
            thread::spawn(move || work(&shared, task))
        };
        let tasks: Vec<_> = (0..2).map(begin).collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
    };
    let (mut by_rote, mut whole) = (target(body), Whole(target(body)));
    let (found, expected) = (search(&mut by_rote, strategy, most), search(&mut whole, strategy, most));
    assert_eq!((by_rote.strayed_runs(), found.len()), (0, expected.len()), "{strategy} of {number}");
    for (run, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!(found == expected, "{strategy} of {number}, run {run}\n{found:?}\n{expected:?}");
    }
    (by_rote.led_runs(), found.len() as u64)
}

/// A run in which the order of locks is followed is not led, and leads the next one.
#[test]
fn nearly_all_runs_are_led() {
    let body = || {
        let shared = Arc::new(Shared::default());
        let begin = |_| {
            let shared = shared.clone();
            thread::spawn(move || (0..30).for_each(|_| shared.section(0)))
        };
        let tasks: Vec<_> = (0..2).map(begin).collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
    };
    let (mut by_rote, mut whole) = (target(body), Whole(target(body)));
    let (found, expected) = (search(&mut by_rote, "odpor", 3100), search(&mut whole, "odpor", 3100));
    assert_eq!((by_rote.strayed_runs(), found.len()), (0, 3100));
    assert!(found == expected, "not all runs are told the same");
    let closely = (0..3100u64).filter(|run| run.is_power_of_two() || run % 1024 == 0).count() as u64;
    assert_eq!(by_rote.led_runs(), 3100 - closely);
}

#[test]
fn searches_end_with_the_same_counts_over_many_batches() {
    let body = || {
        let x = Arc::new(AtomicU64::new(0));
        (0..40).for_each(|_| _ = x.fetch_add(1, SeqCst));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let x = x.clone();
                thread::spawn(move || (0..7).for_each(|_| _ = x.fetch_add(1, SeqCst)))
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
    };
    for jobs in [1, 2] {
        let report = Check::new().strategy("odpor").runs(100_000).jobs(jobs).explore(body).unwrap();
        // Fourteen steps, seven of them of the one task.
        assert_eq!((report.runs(), report.distinct_partial_orders()), (3_432, 3_432));
        assert!(report.exhausted(), "{}", report.text());
    }
}
