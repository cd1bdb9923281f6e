//! Lock order and locksets, case by case and against what their definitions give.

use crate::generate::{self, CELLS};
use crate::program::{Do, Program, Step, channel, condvar, feed, mutex, object, once, run, rwlock};
use Do::*;
use raddle_analysis::lock_order::Cycle;
use raddle_analysis::locksets::{Class, SiteClasses};
use raddle_analysis::{LockOrder, LockSets};
use raddle_model::objects::State;
use raddle_model::{Dice, Kind, Mode, ObjectId, Rng, SiteId, TaskId, World};
use raddle_tiers::size;

const A: u32 = 0;
const B: u32 = 1;
const C: u32 = 2;

fn lock(number: u32) -> Do {
    On(Kind::Lock, number)
}

fn unlock(number: u32) -> Do {
    On(Kind::Unlock, number)
}

fn nested(outer: u32, inner: u32) -> Vec<Do> {
    vec![lock(outer), lock(inner), unlock(inner), unlock(outer)]
}

fn cycles_of(program: &Program) -> Vec<Cycle> {
    let mut order = LockOrder::default();
    for seed in 0..200 {
        feed(&run(program, seed), &mut order);
        assert!(!order.truncated());
    }
    order.known().to_vec()
}

/// Potential deadlocks over 200 schedules of tasks that main makes and joins. Objects 0 to 2 are
/// mutexes, then a rwlock, a condvar, a channel and a once.
fn cycles(tasks: Vec<Vec<Do>>) -> Vec<Cycle> {
    cycles_of(&beside(tasks))
}

fn beside(tasks: Vec<Vec<Do>>) -> Program {
    let mut main: Vec<Do> = (1..=tasks.len()).map(Spawn).collect();
    main.extend((1..=tasks.len()).map(Join));
    Program {
        objects: vec![mutex(), mutex(), mutex(), rwlock(), condvar(), channel(None, 2), once()],
        scripts: [vec![main], tasks].concat(),
    }
}

const RWLOCK: u32 = 3;
const CONDVAR: u32 = 4;
const CHANNEL: u32 = 5;
const ONCE: u32 = 6;

#[test]
fn opposite_orders_are_a_potential_deadlock() {
    let found = cycles(vec![nested(A, B), nested(B, A)]);
    assert_eq!(found.len(), 1);
    let sites: Vec<_> = found[0].sites().collect();
    assert_eq!(sites, [[SiteId(101), SiteId(102)], [SiteId(201), SiteId(202)]]);
    assert_eq!(found[0].edges[0].held, object(A));
    assert_eq!(found[0].edges[0].wanted, object(B));
    assert_ne!(found[0].edges[0].task, found[0].edges[1].task);
}

#[test]
fn what_cannot_deadlock_is_not_reported() {
    // One order; both orders in one task; a gate around both.
    assert_eq!(cycles(vec![nested(A, B), nested(A, B)]), []);
    assert_eq!(cycles(vec![[nested(A, B), nested(B, A)].concat()]), []);
    let gated = |outer, inner| [vec![lock(C)], nested(outer, inner), vec![unlock(C)]].concat();
    assert_eq!(cycles(vec![gated(A, B), gated(B, A)]), []);
    // A try does not wait.
    let tries = vec![lock(B), Try(Kind::Lock, A), unlock(A), unlock(B)];
    assert_eq!(cycles(vec![nested(A, B), tries]), []);
}

#[test]
fn what_is_ordered_anyway_is_not_reported() {
    let program = |main: Vec<Do>| Program { scripts: vec![main, nested(B, A)], ..beside(Vec::new()) };
    let first = [nested(A, B), vec![Spawn(1), Join(1)]].concat();
    let last = [vec![Spawn(1), Join(1)], nested(A, B)].concat();
    let beside_each_other = [vec![Spawn(1)], nested(A, B), vec![Join(1)]].concat();
    assert_eq!(cycles_of(&program(first)), []);
    assert_eq!(cycles_of(&program(last)), []);
    assert_eq!(cycles_of(&program(beside_each_other)).len(), 1);
    let sends = [nested(A, B), vec![On(Kind::Send, CHANNEL)]].concat();
    let receives = [vec![On(Kind::Recv, CHANNEL)], nested(B, A)].concat();
    assert_eq!(cycles(vec![sends, receives]), []);
    // That one had a lock before the other is chance.
    let earlier = [nested(A, B), vec![lock(C), unlock(C)]].concat();
    let later = [vec![lock(C), unlock(C)], nested(B, A)].concat();
    assert_eq!(cycles(vec![earlier, later]).len(), 1);
}

#[test]
fn three_philosophers_are_one_cycle() {
    let found = cycles(vec![nested(A, B), nested(B, C), nested(C, A)]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].edges.len(), 3);
}

#[test]
fn readers_do_not_wait_for_each_other() {
    let reads_first = vec![On(Kind::ReadLock, RWLOCK), lock(A), unlock(A), On(Kind::ReadUnlock, RWLOCK)];
    let second = |take, give| vec![lock(A), On(take, RWLOCK), On(give, RWLOCK), unlock(A)];
    let reads = second(Kind::ReadLock, Kind::ReadUnlock);
    let writes = second(Kind::WriteLock, Kind::WriteUnlock);
    assert_eq!(cycles(vec![reads_first.clone(), reads]), []);
    assert_eq!(cycles(vec![reads_first, writes]).len(), 1);
}

#[test]
fn a_wait_takes_its_mutex_again() {
    let waits = vec![lock(A), lock(B), Wait(CONDVAR, A, Mode::Timed), unlock(B), unlock(A)];
    assert_eq!(cycles(vec![waits, nested(A, B)]).len(), 1);
}

#[test]
fn an_initialization_is_waited_for_like_a_lock() {
    let inits = vec![On(Kind::OnceEnter, ONCE), lock(A), unlock(A), On(Kind::OnceDone, ONCE)];
    let uses = vec![lock(A), On(Kind::OnceEnter, ONCE), On(Kind::OnceDone, ONCE), unlock(A)];
    assert_eq!(cycles(vec![inits, uses]).len(), 1);
}

#[test]
fn known_cycles_merge_by_site() {
    let program = beside(vec![nested(A, B), nested(B, A)]);
    let (mut one, mut two) = (LockOrder::default(), LockOrder::default());
    for seed in 0..50 {
        feed(&run(&program, seed), &mut one);
        feed(&run(&program, seed + 50), &mut two);
    }
    let mut all = LockOrder::default();
    all.merge(&one);
    all.merge(&two);
    assert_eq!(all.known().len(), 1);
}

fn brackets(rng: &mut Rng, depth: u32, into: &mut Vec<Do>) {
    let number = rng.below(3);
    if depth == 3 || into.contains(&lock(number)) && !into.contains(&unlock(number)) {
        return;
    }
    into.push(lock(number));
    (0..rng.below(3)).for_each(|_| brackets(rng, depth + 1, into));
    into.push(unlock(number));
}

fn deadlocked(steps: &[Step]) -> bool {
    steps.last().unwrap().event.op.kind != Kind::End
}

/// Two tasks without branches that do nothing but lock: a cycle is a deadlock that some schedule
/// shows. With three tasks a deadlock still is a cycle.
#[test]
fn cycles_are_the_deadlocks_of_simple_programs() {
    let mut with = [0, 0];
    for number in 0..size("lock_programs") {
        let rng = &mut Rng::new(number);
        let tasks = 2 + rng.below(2) as usize;
        let mut scripts = vec![Vec::new(); tasks];
        for script in &mut scripts {
            (0..2).for_each(|_| brackets(rng, 0, script));
        }
        let program = beside(scripts);
        let mut order = LockOrder::default();
        let mut seen = false;
        for seed in 0..400 {
            let steps = run(&program, seed);
            seen |= deadlocked(&steps);
            feed(&steps, &mut order);
        }
        let potential = !order.known().is_empty();
        with[usize::from(seen)] += 1;
        if tasks == 2 {
            assert_eq!(potential, seen, "program {number}: {:?}", program.scripts);
        } else {
            assert!(potential || !seen, "program {number}: {:?}", program.scripts);
        }
    }
    assert!(with.iter().all(|&count| count > 40), "{with:?}");
}

/// What a task holds, read off the world: alone, or at least for reading.
fn holds(world: &World, task: TaskId, lock: ObjectId, alone: bool) -> bool {
    match &world.object(lock).state {
        State::Mutex(mutex) => mutex.owner == Some(task),
        State::RwLock(lock) => lock.writer == Some(task) || !alone && lock.readers.contains(&task),
        _ => false,
    }
}

/// Class and locks by the definition.
fn definition(steps: &[Step], cell: ObjectId) -> Option<(Class, Vec<ObjectId>)> {
    let accesses: Vec<&Step> = steps.iter().filter(|step| step.event.op.object == cell).collect();
    let owner = accesses.first()?.event.task;
    let Some(second) = accesses.iter().position(|step| step.event.task != owner) else {
        return Some((Class::Unshared, vec![]));
    };
    let shared = &accesses[second..];
    let write = |step: &Step| step.event.op.kind == Kind::CellWrite;
    let objects = (0..steps.last().unwrap().world.objects().len() as u32).map(ObjectId);
    let common = |&lock: &ObjectId| {
        shared.iter().all(|step| {
            lock.index() < step.world.objects().len()
                && holds(&step.world, step.event.task, lock, write(step))
        })
    };
    let locks: Vec<ObjectId> = objects.filter(common).collect();
    let class = match (shared.iter().any(|step| write(step)), locks.is_empty()) {
        (false, _) => Class::ReadOnly,
        (true, false) => Class::Protected,
        (true, true) => Class::Unprotected,
    };
    Some((class, locks))
}

#[test]
fn classes_are_those_of_the_definition() {
    let mut sets = LockSets::default();
    let mut seen = [0u32; 4];
    for number in 0..size("sync_programs") {
        let program = generate::program(&mut Rng::new(number), false);
        let steps = run(&program, number);
        feed(&steps, &mut sets);
        for cell in CELLS.map(object) {
            let expected = definition(&steps, cell);
            let class = sets.class(cell);
            assert_eq!(class, expected.as_ref().map(|(class, _)| *class), "program {number}");
            if let Some((class, locks)) = expected {
                seen[class as usize] += 1;
                let mut found = sets.locks(cell).to_vec();
                found.sort();
                assert_eq!(found, locks, "program {number}");
                for step in steps.iter().filter(|step| step.event.op.object == cell) {
                    assert!(sets.sites().get(step.event.op.site).unwrap() >= class);
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

#[test]
fn sites_keep_their_worst_class_over_runs() {
    let program = Program {
        objects: vec![mutex(), State::Cell],
        scripts: vec![vec![Write(1), Spawn(1), Join(1)], vec![lock(A), Write(1), unlock(A)]],
    };
    let mut sets = LockSets::default();
    let mut all = SiteClasses::default();
    feed(&run(&program, 0), &mut sets);
    assert!(all.merge(&sets.sites()));
    assert!(!all.merge(&sets.sites()));
    assert_eq!(all.get(SiteId(1)), Some(Class::Protected));
    assert_eq!(all.get(SiteId(102)), Some(Class::Protected));
    let careless = Program { scripts: vec![program.scripts[0].clone(), vec![Yield, Write(1)]], ..program };
    feed(&run(&careless, 0), &mut sets);
    assert!(all.merge(&sets.sites()));
    assert_eq!(all.get(SiteId(1)), Some(Class::Unprotected));
    assert_eq!(all.get(SiteId(102)), Some(Class::Unprotected));
    assert_eq!(all.get(SiteId(7)), None);
}
