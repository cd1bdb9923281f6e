//! Random programs over all operation kinds. They need not make sense; they must reach every rule.

use crate::program::{Do, Program, barrier, channel, condvar, mutex, once, rwlock, semaphore};
use raddle_model::objects::State;
use raddle_model::{Dice, Kind, Mode, Order, Rng};

const LOADS: [Order; 3] = [Order::Relaxed, Order::Acquire, Order::SeqCst];
const STORES: [Order; 3] = [Order::Relaxed, Order::Release, Order::SeqCst];
const ALL: [Order; 5] = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
const FENCES: [Order; 4] = [Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

// Numbers of the objects that every program has.
pub(crate) const ATOMICS: [u32; 2] = [0, 1];
pub(crate) const CELLS: [u32; 3] = [2, 3, 4];
const MUTEX: u32 = 5;
const OTHER_MUTEX: u32 = 6;
const RWLOCK: u32 = 7;
const CONDVAR: u32 = 8;
const SEMAPHORE: u32 = 9;
const BARRIER: u32 = 10;
const ONCE: u32 = 11;
const UNBOUNDED: u32 = 12;
const BOUNDED: u32 = 13;
const RENDEZVOUS: u32 = 14;

fn one<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u32) as usize]
}

fn atomic(rng: &mut Rng) -> Do {
    let object = one(rng, &ATOMICS);
    let value = rng.below(2) as i32;
    match rng.below(6) {
        0 | 1 => Do::Load(object, one(rng, &LOADS)),
        2 | 3 => Do::Store(object, value, one(rng, &STORES)),
        4 => Do::Add(object, value, one(rng, &ALL)),
        _ => Do::Exchange(object, value, 1, one(rng, &ALL), one(rng, &LOADS)),
    }
}

fn plain(rng: &mut Rng, mixed: bool) -> Do {
    let object = match mixed && rng.below(3) == 0 {
        true => one(rng, &ATOMICS),
        false => one(rng, &CELLS),
    };
    match rng.coin() {
        true => Do::Read(object),
        false => Do::Write(object),
    }
}

fn statements(rng: &mut Rng, tasks: u32, mixed: bool, into: &mut Vec<Do>) {
    let mutex = one(rng, &[MUTEX, OTHER_MUTEX]);
    let channel = one(rng, &[UNBOUNDED, BOUNDED, RENDEZVOUS, RENDEZVOUS]);
    let other = rng.below(tasks) as usize;
    let inner = plain(rng, mixed);
    match rng.below(30) {
        0..=6 => into.push(inner),
        7..=12 => into.push(atomic(rng)),
        13 => into.push(Do::Fence(one(rng, &FENCES))),
        14 => into.extend([Do::On(Kind::Lock, mutex), inner, Do::On(Kind::Unlock, mutex)]),
        15 => into.extend([Do::Try(Kind::Lock, mutex), inner, Do::On(Kind::Unlock, mutex)]),
        16 => into.extend([
            Do::On(Kind::Lock, MUTEX),
            Do::Wait(CONDVAR, MUTEX, one(rng, &[Mode::Block, Mode::Timed])),
            inner,
            Do::On(Kind::Unlock, MUTEX),
        ]),
        17 => into.push(Do::On(one(rng, &[Kind::NotifyOne, Kind::NotifyAll]), CONDVAR)),
        18 => into.extend([Do::On(Kind::ReadLock, RWLOCK), inner, Do::On(Kind::ReadUnlock, RWLOCK)]),
        19 => into.extend([
            Do::On(Kind::WriteLock, RWLOCK),
            inner,
            Do::On(one(rng, &[Kind::WriteUnlock, Kind::Downgrade]), RWLOCK),
            Do::On(Kind::ReadUnlock, RWLOCK),
        ]),
        20 => into.push(Do::On(Kind::Release, SEMAPHORE)),
        21 => into.push(Do::Try(Kind::Acquire, SEMAPHORE)),
        22 => into.push(Do::Barrier(BARRIER)),
        23 => into.push(Do::Once(ONCE, rng.coin())),
        24 => into.push(Do::On(Kind::OnceGet, ONCE)),
        25 => into.push(Do::On(Kind::Send, channel)),
        26 => into.push(match rng.coin() {
            true => Do::On(Kind::Recv, channel),
            false => Do::Try(Kind::Recv, channel),
        }),
        27 => into.push(match rng.below(6) {
            0 | 1 => Do::On(Kind::DropSender, channel),
            2 => Do::On(Kind::DropReceiver, channel),
            _ => Do::Finished(other),
        }),
        28 => into.push(Do::Unpark(other)),
        _ => into.push(Do::Park(one(rng, &[Mode::Block, Mode::Timed]))),
    }
}

/// A program of 2 to 5 tasks, now and then of up to 20. `mixed` also accesses atomics plainly.
pub(crate) fn program(rng: &mut Rng, mixed: bool) -> Program {
    let most = if rng.below(50) == 0 { 19 } else { 4 };
    let tasks = 2 + rng.below(most);
    let mut scripts = vec![Vec::new(); tasks as usize];
    for (number, script) in scripts.iter_mut().enumerate() {
        for _ in 0..2 + rng.below(8) {
            statements(rng, tasks, mixed, script);
        }
        // A task may be made by any task before it, anywhere in its script.
        if number == 0 {
            script.insert(rng.below(script.len() as u32) as usize, Do::Spawn(1));
        } else {
            script.truncate(90);
        }
    }
    for child in 2..tasks as usize {
        let parent = rng.below(child as u32) as usize;
        let at = rng.below(scripts[parent].len() as u32) as usize;
        scripts[parent].insert(at, Do::Spawn(child));
    }
    for child in 1..tasks as usize {
        let waiter = rng.below(child as u32) as usize;
        if rng.below(3) > 0 {
            scripts[waiter].push(Do::Join(child));
            let more = plain(rng, mixed);
            scripts[waiter].push(more);
        }
    }
    Program { objects: objects(), scripts }
}

fn objects() -> Vec<State> {
    vec![
        State::Atomic,
        State::Atomic,
        State::Cell,
        State::Cell,
        State::Cell,
        mutex(),
        mutex(),
        rwlock(),
        condvar(),
        semaphore(1),
        barrier(2),
        once(),
        channel(None, 2),
        channel(Some(1), 2),
        channel(Some(0), 2),
    ]
}
