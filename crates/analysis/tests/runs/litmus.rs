//! The classic cases of sync order one by one: what is a race, and what is none.

use crate::program::{
    Do, Program, barrier, channel, condvar, feed, mutex, object, once, run, rwlock, semaphore,
};
use crate::races::watch;
use raddle_analysis::Races;
use raddle_analysis::races::{Race, RaceKind};
use raddle_model::objects::State;
use raddle_model::{Kind, Mode, Order, SiteId};

/// Whether any of 300 schedules shows a race on the last object. Main makes the others, and runs
/// its own script beside them.
fn races(mut objects: Vec<State>, main: Vec<Do>, others: Vec<Vec<Do>>) -> Vec<Race> {
    let mut scripts = vec![Vec::new()];
    scripts[0].extend((1..=others.len()).map(Do::Spawn));
    scripts[0].extend(main);
    scripts[0].extend((1..=others.len()).map(Do::Join));
    scripts.extend(others);
    let cell = object(objects.len() as u32);
    objects.push(State::Cell);
    let program = Program { objects, scripts };
    let mut detector = Races::watching_at_once();
    let mut found: Vec<Race> = Vec::new();
    for seed in 0..300 {
        let steps = run(&program, seed);
        feed(&steps, &mut detector);
        for race in detector.findings() {
            assert_eq!(race.object, cell);
            let known = |r: &Race| r.sites() == race.sites();
            if !found.iter().any(known) {
                found.push(*race);
            }
        }
    }
    found
}

fn none(objects: Vec<State>, main: Vec<Do>, others: Vec<Vec<Do>>) {
    assert_eq!(races(objects, main, others), []);
}

fn some(objects: Vec<State>, main: Vec<Do>, others: Vec<Vec<Do>>) {
    assert_ne!(races(objects, main, others), []);
}

use Do::*;
use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};

const FLAG: State = State::Atomic;

#[test]
fn two_writes_race_and_the_report_says_how() {
    let found =
        races(vec![mutex()], vec![Write(1)], vec![vec![On(Kind::Lock, 0), Write(1), On(Kind::Unlock, 0)]]);
    assert_eq!(found.len(), 2, "one for each order: {found:?}");
    for race in found {
        assert_eq!(race.kind, RaceKind::WriteWrite);
        assert_ne!(race.earlier.task, race.later.task);
    }
}

#[test]
fn a_report_names_what_was_released_and_not_acquired() {
    let program = Program {
        objects: vec![mutex(), State::Cell],
        scripts: vec![
            vec![Spawn(1), Write(1), Join(1)],
            vec![Write(1), On(Kind::Lock, 0), On(Kind::Unlock, 0)],
        ],
    };
    let mut detector = Races::watching_at_once();
    let mut messages = Vec::new();
    for seed in 0..100 {
        let steps = run(&program, seed);
        feed(&steps, &mut detector);
        let world = &steps.last().unwrap().world;
        messages.extend(detector.findings().iter().map(|r| r.message(world)));
    }
    messages.sort();
    messages.dedup();
    assert_eq!(
        messages,
        [
            "main writes cell o2, then main/0 writes it, and nothing orders them: \
         main has released nothing in between",
            "main/0 writes cell o2, then main writes it, and nothing orders them: \
         main has acquired nothing that main/0 released in between, last by Unlock of mutex o1",
            "main/0 writes cell o2, then main writes it, and nothing orders them: \
         main/0 has released nothing in between",
        ]
    );
}

#[test]
fn a_pair_of_sites_is_reported_once() {
    let found = races(vec![], vec![Write(0), Yield, Write(0)], vec![vec![Write(0), Write(0)]]);
    let mut pairs: Vec<[SiteId; 2]> = found.iter().map(Race::sites).collect();
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), found.len());
}

#[test]
fn message_passing() {
    let reader = |order| vec![Load(0, order), Need(1), Read(1)];
    let writer = |order| vec![Write(1), Store(0, 1, order)];
    none(vec![FLAG], writer(Release), vec![reader(Acquire)]);
    none(vec![FLAG], writer(SeqCst), vec![reader(SeqCst)]);
    some(vec![FLAG], writer(Relaxed), vec![reader(Acquire)]);
    some(vec![FLAG], writer(Release), vec![reader(Relaxed)]);
    some(vec![FLAG], writer(Relaxed), vec![reader(Relaxed)]);
}

#[test]
fn message_passing_with_fences() {
    let writer = |fence| vec![Write(1), Fence(fence), Store(0, 1, Relaxed)];
    let reader = |fence| vec![Load(0, Relaxed), Need(1), Fence(fence), Read(1)];
    // Fence to fence, fence to atomic, atomic to fence.
    none(vec![FLAG], writer(Release), vec![reader(Acquire)]);
    none(vec![FLAG], writer(SeqCst), vec![reader(SeqCst)]);
    none(vec![FLAG], writer(Release), vec![vec![Load(0, Acquire), Need(1), Read(1)]]);
    none(vec![FLAG], vec![Write(1), Store(0, 1, Release)], vec![reader(Acquire)]);
    some(vec![FLAG], writer(Acquire), vec![reader(Acquire)]);
    some(vec![FLAG], writer(Release), vec![reader(Release)]);
    // On the wrong side of what they should order.
    some(vec![FLAG], vec![Fence(Release), Write(1), Store(0, 1, Relaxed)], vec![reader(Acquire)]);
    some(vec![FLAG], writer(Release), vec![vec![Fence(Acquire), Load(0, Relaxed), Need(1), Read(1)]]);
}

#[test]
fn a_release_sequence_goes_on_through_read_modify_writes() {
    let writer = vec![Write(1), Store(0, 1, Release)];
    let reader = vec![Load(0, Acquire), Need(2), Read(1)];
    let link = |order| vec![Exchange(0, 1, 2, order, Relaxed)];
    none(vec![FLAG], writer.clone(), vec![link(Relaxed), reader.clone()]);
    none(vec![FLAG], writer.clone(), vec![link(AcqRel), reader.clone()]);
    // A store of the same value ends it, whoever stores.
    let breaks = vec![Load(0, Relaxed), Need(1), Store(0, 2, Relaxed)];
    some(vec![FLAG], writer.clone(), vec![breaks, reader.clone()]);
    some(vec![FLAG], vec![Write(1), Store(0, 1, Release), Store(0, 2, Relaxed)], vec![reader]);
}

#[test]
fn a_failed_exchange_stores_nothing_and_has_its_own_order() {
    // It reads 1 and expects 7, so it never succeeds.
    let reader = |failure| vec![Exchange(0, 7, 8, AcqRel, failure), Need(1), Read(1)];
    let writer = vec![Write(1), Store(0, 1, Release)];
    let program = |failure| Program {
        objects: vec![FLAG, State::Cell],
        scripts: vec![[vec![Spawn(1)], writer.clone()].concat(), reader(failure)],
    };
    for (failure, expected) in [(Acquire, false), (Relaxed, true)] {
        let mut detector = Races::watching_at_once();
        let found = (0..300).any(|seed| {
            watch(&mut detector, &run(&program(failure), seed));
            !detector.findings().is_empty()
        });
        assert_eq!(found, expected, "{failure:?}");
    }
}

#[test]
fn a_mutex_protects() {
    let section = |mutex| vec![On(Kind::Lock, mutex), Read(2), Write(2), On(Kind::Unlock, mutex)];
    let two = || vec![mutex(), mutex()];
    none(two(), section(0), vec![section(0), section(0)]);
    some(two(), section(0), vec![section(1)]);
    let tries = vec![Try(Kind::Lock, 0), Need(1), Write(2), On(Kind::Unlock, 0)];
    none(two(), section(0), vec![tries]);
    // A try that fails has synchronized with nobody.
    let pries = vec![Try(Kind::Lock, 0), Need(0), Read(2)];
    some(two(), section(0), vec![pries]);
}

#[test]
fn a_condvar_hands_over_through_its_mutex_only() {
    let waiter = vec![
        On(Kind::Lock, 0),
        Wait(1, 0, Mode::Block),
        Load(2, Relaxed),
        Need(1),
        Read(3),
        On(Kind::Unlock, 0),
    ];
    let inside =
        vec![On(Kind::Lock, 0), Write(3), Store(2, 1, Relaxed), On(Kind::NotifyOne, 1), On(Kind::Unlock, 0)];
    let objects = || vec![mutex(), condvar(), FLAG];
    none(objects(), inside, vec![waiter.clone()]);
    let outside = vec![Write(3), Store(2, 1, Relaxed), On(Kind::NotifyOne, 1)];
    some(objects(), outside, vec![waiter]);
}

#[test]
fn spawn_and_join_order() {
    let program = |main: Vec<Do>| Program { objects: vec![State::Cell], scripts: vec![main, vec![Write(0)]] };
    let mut detector = Races::watching_at_once();
    let mut any = |main: Vec<Do>| {
        (0..100).any(|seed| {
            feed(&run(&program(main.clone()), seed), &mut detector);
            !detector.findings().is_empty()
        })
    };
    assert!(!any(vec![Write(0), Spawn(1), Join(1), Read(0)]));
    assert!(any(vec![Spawn(1), Write(0), Join(1)]));
    assert!(any(vec![Spawn(1), Read(0)]));
    assert!(!any(vec![Spawn(1), Finished(1), Need(1), Read(0)]));
    assert!(any(vec![Spawn(1), Finished(1), Need(0), Read(0)]));
}

#[test]
fn a_channel_hands_over() {
    for capacity in [None, Some(1), Some(0)] {
        let sender = vec![Write(1), On(Kind::Send, 0)];
        none(vec![channel(capacity, 1)], sender, vec![vec![On(Kind::Recv, 0), Read(1)]]);
        // What is done after the send is not handed over.
        let late = vec![On(Kind::Send, 0), Write(1)];
        let takes = vec![On(Kind::Recv, 0), Read(1)];
        some(vec![channel(capacity, 1)], late, vec![takes]);
        let closes = vec![Write(1), On(Kind::DropSender, 0)];
        none(vec![channel(capacity, 1)], closes, vec![vec![On(Kind::Recv, 0), Read(1)]]);
    }
    // Whose message it is matters: the second receive is of the second sender's.
    let first = vec![On(Kind::Send, 0), On(Kind::Send, 0)];
    let second = vec![Write(1), On(Kind::Send, 0)];
    some(vec![channel(None, 2)], vec![On(Kind::Recv, 0), Read(1)], vec![first, second]);
    // A rendezvous goes both ways, a place that became free does not.
    let takes = vec![Write(1), On(Kind::Recv, 0)];
    let twice = vec![On(Kind::Send, 0), On(Kind::Send, 0), Read(1)];
    none(vec![channel(Some(0), 1)], vec![On(Kind::Send, 0), Read(1)], vec![takes.clone()]);
    some(vec![channel(Some(1), 1)], twice, vec![takes]);
}

#[test]
fn a_barrier_separates_rounds() {
    let before = vec![Write(1), Barrier(0), Barrier(0)];
    let after = vec![Barrier(0), Read(1), Barrier(0)];
    none(vec![barrier(2)], before.clone(), vec![after.clone()]);
    some(vec![barrier(2)], vec![Barrier(0), Write(1), Barrier(0)], vec![after]);
    // Three tasks at a barrier for two: one round says nothing about the next.
    some(vec![barrier(2)], before, vec![vec![Barrier(0), Read(1)], vec![Barrier(0)]]);
}

#[test]
fn a_once_publishes() {
    let uses = vec![Once(0, true), On(Kind::OnceGet, 0), Need(1), Read(1)];
    let init = |inside: bool| match inside {
        true => vec![Write(1), Once(0, true)],
        false => vec![Once(0, true), Write(1)],
    };
    let gets = vec![On(Kind::OnceGet, 0), Need(1), Read(1)];
    none(vec![once()], init(true), vec![gets.clone(), gets.clone()]);
    some(vec![once()], init(false), vec![gets]);
    // Who finds it complete has not published.
    some(vec![once()], init(true), vec![uses]);
}

#[test]
fn a_token_orders() {
    let program = |main: Vec<Do>| Program {
        objects: vec![State::Cell],
        scripts: vec![main, vec![Park(Mode::Block), Read(0)]],
    };
    let mut detector = Races::watching_at_once();
    let mut any = |main: Vec<Do>| {
        (0..100).any(|seed| {
            feed(&run(&program(main.clone()), seed), &mut detector);
            !detector.findings().is_empty()
        })
    };
    assert!(!any(vec![Spawn(1), Write(0), Unpark(1), Join(1)]));
    assert!(any(vec![Spawn(1), Unpark(1), Write(0), Join(1)]));
}

#[test]
fn a_semaphore_orders_release_before_acquire() {
    let gives = vec![Write(1), On(Kind::Release, 0)];
    none(vec![semaphore(0)], gives.clone(), vec![vec![On(Kind::Acquire, 0), Read(1)]]);
    some(vec![semaphore(1)], vec![On(Kind::Acquire, 0), Write(1)], vec![vec![On(Kind::Release, 0), Read(1)]]);
}

#[test]
fn a_rwlock_orders_readers_with_writers_and_not_with_each_other() {
    let reads = vec![On(Kind::ReadLock, 0), Read(1), On(Kind::ReadUnlock, 0)];
    let writes = vec![On(Kind::WriteLock, 0), Write(1), On(Kind::WriteUnlock, 0)];
    let downgrades =
        vec![On(Kind::WriteLock, 0), Write(1), On(Kind::Downgrade, 0), Read(1), On(Kind::ReadUnlock, 0)];
    let all = vec![reads.clone(), reads.clone(), downgrades];
    none(vec![rwlock()], writes, all);
    let wrongly = vec![On(Kind::ReadLock, 0), Write(1), On(Kind::ReadUnlock, 0)];
    some(vec![rwlock()], wrongly, vec![reads]);
}

#[test]
fn atomic_and_plain_accesses_of_one_object_race() {
    let program = |main: Vec<Do>, other: Vec<Do>| Program {
        objects: vec![FLAG],
        scripts: vec![[vec![Spawn(1)], main].concat(), other],
    };
    let mut detector = Races::watching_at_once();
    let mut any = |main: Vec<Do>, other: Vec<Do>| {
        (0..100).any(|seed| {
            feed(&run(&program(main.clone(), other.clone()), seed), &mut detector);
            detector.findings().iter().any(|r| r.earlier.atomic != r.later.atomic)
        })
    };
    assert!(any(vec![Write(0)], vec![Load(0, SeqCst)]));
    assert!(any(vec![Read(0)], vec![Store(0, 1, SeqCst)]));
    assert!(!any(vec![Read(0)], vec![Load(0, SeqCst)]));
    assert!(!any(vec![Store(0, 1, Relaxed)], vec![Add(0, 1, Relaxed)]));
}
