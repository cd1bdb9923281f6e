//! A run that is only sampled goes the short ways, and keeps little; one that is recorded goes the whole way. Random programs
//! are sampled, and each run once more recorded from its seed: both must be the same.

use raddle::cell::UnsafeCell;
use raddle::sync::atomic::{AtomicU64, Ordering};
use raddle::sync::{Arc, Mutex, MutexGuard, RwLock};
use raddle::thread;
use raddle::tool::LibraryTarget;
use raddle_explore::target::{Digest, Flow, Learned, Sink, Target};
use raddle_model::{Dice, Plan, Rng, Tail};
use std::time::Duration;

const ORDERS: [Ordering; 3] = [Ordering::SeqCst, Ordering::AcqRel, Ordering::Relaxed];

/// What a task does, on the first or second object of a kind.
#[derive(Clone, Copy, Debug)]
enum Act {
    Add(usize, Ordering),
    Load(usize),
    Section(usize),
    Nested(usize),
    Wait(usize),
    /// A section that ends in a panic, and one of a destructor meanwhile; nobody is told of the panic.
    Poison(usize),
    // What is seldom on the short ways.
    Read(usize),
    TryLock(usize),
    Write(usize),
    Spawn,
    Yield,
}

/// What each task does.
#[derive(Clone, Debug)]
struct Program(Vec<Vec<Act>>);

impl Program {
    fn random(number: u64) -> Program {
        let mut rng = Rng::new(number);
        // Some have nothing but the most frequent operations, some a cell, some everything; and some have many tasks.
        let kinds = [6, 6, 8, 11][(number % 4) as usize];
        let tasks = if number % 8 == 5 { 9 + rng.below(4) } else { 1 + rng.below(4) };
        // Even those with many operations are of one order mostly, since one is enough to be seen.
        let weak = number % 3 == 1;
        let mut act = || {
            let at = rng.below(2) as usize;
            match rng.below(kinds) {
                0 => Act::Add(at, if weak { ORDERS[rng.below(3) as usize] } else { Ordering::SeqCst }),
                1 => Act::Load(at),
                2 => Act::Section(at),
                3 => Act::Nested(at),
                4 => Act::Wait(at),
                5 => Act::Poison(at),
                6 => Act::Read(at),
                7 => Act::Write(at),
                8 => Act::TryLock(at),
                9 => Act::Spawn,
                _ => Act::Yield,
            }
        };
        let acts: Vec<Vec<Act>> = (0..tasks).map(|task| (0..2 + task % 7).map(|_| act()).collect()).collect();
        // Programs have loops: in every other one each act comes several times.
        let mut rounds = || if number % 2 == 1 { 1 + rng.below(6) as usize } else { 1 };
        let mut often = |acts: Vec<Act>| acts.into_iter().flat_map(|act| vec![act; rounds()]).collect();
        Program(acts.into_iter().map(&mut often).collect())
    }

    fn run(&self) {
        let shared = Arc::new(Shared::default());
        let start = |acts: &Vec<Act>| {
            let (acts, shared) = (acts.clone(), shared.clone());
            thread::spawn(move || acts.iter().for_each(|act| shared.act(*act)))
        };
        let handles: Vec<_> = self.0.iter().map(start).collect();
        handles.into_iter().for_each(|handle| drop(handle.join()));
    }
}

#[derive(Default)]
struct Shared {
    atomics: [AtomicU64; 2],
    mutexes: [Mutex<u64>; 2],
    rwlock: RwLock<u64>,
    cells: [Plain; 2],
}

/// Takes a mutex several times when it is dropped.
struct Late<'a>(&'a Shared, usize);

impl Drop for Late<'_> {
    fn drop(&mut self) {
        (0..3).for_each(|_| *self.0.lock(self.1) += 1);
    }
}

#[derive(Default)]
struct Plain(UnsafeCell<u64>);

// SAFETY: one task of a run goes at a time; that it is a race is what is to be found.
unsafe impl Sync for Plain {}

impl Shared {
    /// One of them may have been poisoned, which is to be seen.
    fn lock(&self, mutex: usize) -> MutexGuard<'_, u64> {
        self.mutexes[mutex].lock().unwrap_or_else(|error| {
            self.atomics[0].fetch_add(1, Ordering::SeqCst);
            error.into_inner()
        })
    }

    fn act(&self, act: Act) {
        match act {
            // At one place, where only the last may have another order.
            Act::Add(at, order) => {
                for order in [Ordering::SeqCst, Ordering::SeqCst, order] {
                    self.atomics[at].fetch_add(1, order);
                }
            }
            Act::Load(at) => _ = self.atomics[at].load(Ordering::SeqCst),
            Act::Section(at) => *self.lock(at) += 1,
            Act::Nested(at) => {
                // In both orders, so that they wait for each other in a circle now and then.
                let _outer = self.lock(at);
                *self.lock(1 - at) += 1;
            }
            Act::Poison(at) => {
                let unwinds = || {
                    let _late = Late(self, 1 - at);
                    let _guard = self.lock(at);
                    // Unlike a panic this calls no hook.
                    std::panic::resume_unwind(Box::new("poison"));
                };
                drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(unwinds)));
            }
            Act::Wait(at) => _ = (0..12).find(|_| self.atomics[at].load(Ordering::SeqCst) > 1),
            Act::Read(at) => _ = (*self.rwlock.read().unwrap(), at),
            Act::TryLock(at) => drop(self.mutexes[at].try_lock()),
            // SAFETY: as above.
            Act::Write(at) => self.cells[at].0.with_mut(|value| unsafe { *value += 1 }),
            Act::Spawn => drop(thread::spawn(|| ())),
            Act::Yield => thread::yield_now(),
        }
    }
}

#[derive(Default)]
struct Digests(Vec<Digest>);

impl Sink for Digests {
    fn run(&mut self, digest: &Digest) -> Flow {
        self.0.push(digest.clone());
        Flow::Continue
    }
}

#[test]
fn a_sampled_run_is_the_recorded_one() {
    let (mut compared, mut failed) = (0, 0);
    for number in 0..raddle_tiers::size("rote_programs") {
        let program = Program::random(number);
        let body = program.clone();
        let mut target = LibraryTarget::new(Arc::new(move || body.run()), Duration::from_secs(5));
        for tail in [Tail::Random, Tail::Pct { depth: 3, length: 30 }, Tail::Pos] {
            let mut plan = Plan { steps_max: 400, ..Plan::new(number, tail) };
            // Some with all points there are.
            plan.points.releases = number % 5 == 2;
            let mut digests = Digests::default();
            target.sample(&plan, 0..12, &mut digests).expect("runs");
            for sampled in digests.0 {
                let run = target.run(&Plan { seed: sampled.seed, ..plan.clone() }).expect("a run");
                let decisions = run.trace.schedule.decisions.len() as u64;
                let Digest { verdict, fingerprint, steps, tasks, learned, .. } = run.digest;
                // Cycles of locks are not looked for in every sampled run.
                let learned = Learned { cycles: sampled.learned.cycles.clone(), ..learned };
                let expected =
                    Digest { verdict, fingerprint, steps, decisions, tasks, learned, ..sampled.clone() };
                assert_eq!(sampled, expected, "{:?} on {number}: {program:?}", plan.tail);
                failed += u32::from(sampled.verdict != raddle_model::Verdict::Finished);
                compared += 1;
            }
        }
    }
    // A test of nothing would pass as well.
    assert!(
        compared > 100 && failed > compared / 50 && failed < compared / 2,
        "{failed} of {compared} failed"
    );
}

/// A run begins with what the one before it has left of itself, but for its names and panics.
#[test]
fn what_a_run_leaves_is_gone_in_the_next() {
    let body = || {
        let value = Arc::new(AtomicU64::new(0));
        let other = value.clone();
        let adder = thread::spawn(move || (0..2).for_each(|_| _ = other.fetch_add(1, Ordering::SeqCst)));
        // Nobody waits for it: its panic is the run's.
        let looks = move || assert_ne!(value.load(Ordering::SeqCst), 1, "looked in between");
        let looker = thread::Builder::new().name(String::from("looker")).spawn(looks).expect("a thread");
        adder.join().expect("no panic");
        while !looker.is_finished() {
            thread::yield_now();
        }
    };
    let mut target = LibraryTarget::new(Arc::new(body), Duration::from_secs(5));
    for tail in [Tail::Random, Tail::Pct { depth: 3, length: 10 }] {
        let plan = Plan::new(7, tail);
        let mut digests = Digests::default();
        target.sample(&plan, 0..60, &mut digests).expect("runs");
        let failed = |digest: &Digest| digest.verdict != raddle_model::Verdict::Finished;
        let followed = |pair: &[Digest]| failed(&pair[0]) && !failed(&pair[1]);
        assert!(digests.0.windows(2).any(followed), "{:?}", plan.tail);
        for sampled in digests.0 {
            let run = target.run(&Plan { seed: sampled.seed, ..plan.clone() }).expect("a run");
            assert_eq!(run.digest.verdict, sampled.verdict);
            assert_eq!(run.digest.fingerprint, sampled.fingerprint);
            assert_eq!(run.tasks[2], "main/1 (looker)");
        }
    }
}
