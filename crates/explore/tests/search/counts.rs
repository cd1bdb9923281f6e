//! Numbers of partial orders that the literature gives: `odpor` must make exactly so many runs. Main only
//! spawns and joins; spawns, exits and joins add none.

use crate::common::{everywhere, search};
use raddle_explore::{Dpor, Exhausted, Odpor};
use raddle_model::Verdict;
use raddle_toy::Instr::{
    Add, AssertNot, Cas, Jump, JumpIf, JumpUnless, Let, Load, Lock, Read, Store, Unlock, Write,
};
use raddle_toy::{How, Instr, Object, Program, Val};

const ONE: Val = Val::Const(1);

/// Runs of `odpor`; each must be whole.
fn runs(objects: Vec<Object>, tasks: Vec<Vec<Instr>>) -> u64 {
    let program = Program::flat(objects, tasks);
    let (runs, exhausted) = search(&program, &everywhere(), Odpor::new(), 1_000_000);
    assert_eq!(exhausted, Exhausted::Yes);
    assert!(runs.iter().all(|run| run.digest.verdict == Verdict::Finished));
    runs.len() as u64
}

fn largest(name: &str) -> usize {
    raddle_tiers::size(name) as usize
}

pub(crate) fn readers(count: usize) -> (Vec<Object>, Vec<Vec<Instr>>) {
    let mut tasks = vec![vec![Store(0, ONE)]];
    tasks.extend(vec![vec![Load(0, 0)]; count]);
    (vec![Object::Atomic(0)], tasks)
}

#[test]
fn readers_and_one_writer() {
    for count in 2..=largest("count_readers") {
        let (objects, tasks) = readers(count);
        assert_eq!(runs(objects, tasks), 1 << count, "{count} readers");
    }
}

#[test]
fn the_last_zero_of_an_array() {
    for n in 2..=largest("count_lastzero") {
        // Task 0 reads a[n], a[n-1], … until it finds a zero; task i does a[i] = a[i-1] + 1.
        let reads = (0..=n).rev().flat_map(|i| [Load(i, 0), JumpIf(0, 0, 2 * n + 2)]);
        let writer = |i: usize| vec![Load(i - 1, 0), Let(0, Val::Reg(0), ONE), Store(i, Val::Reg(0))];
        let tasks = core::iter::once(reads.collect()).chain((1..=n).map(writer)).collect();
        assert_eq!(runs(vec![Object::Atomic(0); n + 1], tasks), (n as u64 + 3) << (n - 2), "n = {n}");
    }
}

/// A hash table of 128; each task puts four messages in, at the first free place.
#[test]
fn indexer() {
    const SIZE: usize = 128;
    for count in 12..=largest("count_indexer") {
        let task = |task: usize| {
            let mut code = Vec::new();
            for message in 1..=4 {
                let word = message * 11 + task;
                let probes = 6;
                let end = code.len() + 2 * probes + 1;
                for probe in 0..probes {
                    let place = (word * 7 + probe) % SIZE;
                    let free = Cas(place, Val::Const(0), Val::Const(word as u64), 0);
                    code.extend([free, JumpIf(0, 0, end)]);
                }
                // More probes than any run needs.
                code.push(AssertNot(7, 0));
            }
            code
        };
        let tasks = (0..count).map(task).collect();
        assert_eq!(runs(vec![Object::Atomic(0); SIZE], tasks), 8u64.pow(count as u32 - 11), "{count} tasks");
    }
}

/// 26 blocks and 32 inodes, each with a lock and a plain cell.
#[test]
fn filesystem() {
    const BLOCKS: usize = 26;
    const INODES: usize = 32;
    let (inode, block) = (|i: usize| i, |b: usize| INODES + b);
    let (inode_lock, block_lock) = (|i: usize| INODES + BLOCKS + i, |b: usize| 2 * INODES + BLOCKS + b);
    for count in 14..=largest("count_filesystem") {
        let task = |task: usize| {
            let i = task % INODES;
            let mut code = vec![Lock(inode_lock(i), How::Block, 1), Read(inode(i), 0)];
            let begin = code.len() + 1;
            let probe = 7;
            let end = begin + 3 * probe;
            code.push(JumpUnless(0, 0, end));
            for nth in 0..3 {
                let b = (i * 2 + nth) % BLOCKS;
                let next = code.len() + probe;
                code.extend([
                    Lock(block_lock(b), How::Block, 1),
                    Read(block(b), 0),
                    JumpUnless(0, 0, next - 1),
                    Write(block(b), ONE),
                    Write(inode(i), Val::Const(b as u64 + 1)),
                    Unlock(block_lock(b)),
                ]);
                // Found: past all probes, with the block's lock given back already.
                code.push(Jump(end));
                debug_assert_eq!(code.len(), next);
                let busy = code.len() - probe + 2;
                code[busy] = JumpUnless(0, 0, next);
            }
            code.push(Unlock(inode_lock(i)));
            code
        };
        let objects = [vec![Object::Cell(0); INODES + BLOCKS], vec![Object::Mutex; INODES + BLOCKS]].concat();
        let tasks = (0..count).map(task).collect();
        assert_eq!(runs(objects, tasks), 1 << (count - 13), "{count} tasks");
    }
}

#[test]
fn atomic_increments() {
    for count in 2..=largest("count_increments") {
        let factorial = (1..=count as u64).product::<u64>();
        let tasks = vec![vec![Add(0, ONE, 0)]; count];
        assert_eq!(runs(vec![Object::Atomic(0)], tasks), factorial, "{count} tasks");
    }
}

#[test]
fn store_buffering() {
    let tasks = vec![vec![Store(0, ONE), Load(1, 0)], vec![Store(1, ONE), Load(0, 0)]];
    assert_eq!(runs(vec![Object::Atomic(0); 2], tasks), 3);
}

#[test]
fn increments_in_two_parts() {
    let atomic = vec![Load(0, 0), Let(0, Val::Reg(0), ONE), Store(0, Val::Reg(0))];
    let plain = vec![Read(0, 0), Let(0, Val::Reg(0), ONE), Write(0, Val::Reg(0))];
    for (tasks, expected) in [(2, 4), (3, 36)] {
        assert_eq!(runs(vec![Object::Atomic(0)], vec![atomic.clone(); tasks]), expected);
        assert_eq!(runs(vec![Object::Cell(0)], vec![plain.clone(); tasks]), expected);
    }
}

/// Classic DPOR makes as many whole runs; the others are cut, and counted apart.
#[test]
fn whole_runs_of_dpor() {
    for count in 2..=6 {
        let (objects, tasks) = readers(count);
        let program = Program::flat(objects, tasks);
        let (runs, exhausted) = search(&program, &everywhere(), Dpor::new(), 1_000_000);
        let whole = runs.iter().filter(|run| run.digest.verdict == Verdict::Finished).count();
        assert_eq!((whole, exhausted), (1 << count, Exhausted::Yes), "{count} readers");
        assert!(runs.iter().all(|run| matches!(run.digest.verdict, Verdict::Finished | Verdict::Cut)));
    }
}
