//! Futexes, for whoever makes the system call itself: C++'s atomic waits, Rust's std.
//!
//! A wait looks at the word and, if it is as expected, queues and parks; nobody can come in between, so it is as
//! indivisible as the kernel's. A wake-up gives tokens to whom the policy chooses among those that wait.

use crate::atomic::arrive_at;
use crate::hidden;
use crate::run::{Run, arrive, with};
use crate::shadow::How;
use alloc::vec::Vec;
use raddle_model::trace::Hidden;
use raddle_model::{Kind, Op, Order, Outcome, SiteId, TaskId};

/// Who waits at which address.
#[derive(Clone, Default, Debug)]
pub struct Queue {
    waiting: Vec<(usize, u32, TaskId)>,
    // Who was last moved where: a task waits at another address than it has begun to.
    moved: Vec<(TaskId, usize)>,
}

impl Run {
    /// Takes one of those who wait at an address for one of the bits, of whom so many may be taken. Which one is a choice.
    fn take_waiting(&mut self, address: usize, bits: u32, most: u32, site: SiteId) -> Option<(u32, TaskId)> {
        let home = self.objects.mappings.home(address);
        let waiting = self.futexes.waiting.iter().enumerate();
        let fits = waiting.filter(|(_, w)| w.0 == home && w.1 & bits != 0);
        let mut fits: Vec<(TaskId, usize)> = fits.map(|(at, &(_, _, task))| (task, at)).collect();
        // In which order they have come has no part in the partial order: a choice must mean the same in all that are one.
        fits.sort_unstable();
        let all = most as usize >= fits.len();
        let pick =
            if all || fits.len() < 2 { 0 } else { self.engine.choose(self.running, fits.len() as u32, site) };
        let (_, bits, task) = self.futexes.waiting.remove(fits.get(pick as usize)?.1);
        Some((bits, task))
    }
}

/// All bits.
pub const ANY: u32 = u32::MAX;

/// What the kernel would answer.
const AGAIN: isize = -11;
const TIMED_OUT: isize = -110;

/// Bytes of what is waited for.
const WORD: usize = 4;

/// Waits while the word is `expected`. Limit in nanoseconds.
pub fn wait(address: usize, expected: u32, bits: u32, limit: Option<u64>, pc: usize) -> isize {
    let (look, site, me) = with(|run| {
        let site = run.site(pc);
        let (word, other) = run.atomic(address, WORD, site);
        (Op::new(Kind::Load, word, site).order(Order::SeqCst).second(other), site, run.running)
    });
    looks(look, address);
    // SAFETY: the program says that a word lies there.
    if unsafe { (address as *const u32).read_volatile() } != expected {
        return AGAIN;
    }
    let outcome = arrive(with(|run| {
        run.futexes.moved.retain(|(task, _)| *task != me);
        run.futexes.waiting.push((run.objects.mappings.home(address), bits, me));
        run.parking(limit, site)
    }));
    if outcome != Outcome::TimedOut {
        return 0;
    }
    // Whether somebody who wakes still finds it waiting is a matter of order, like whether it finds the word as expected.
    looks(look, address);
    let moved = with(|run| {
        let moved = run.futexes.moved.iter().find(|(task, _)| *task == me).map(|&(_, to)| to);
        moved.map(|to| (to, run.atomic(to, WORD, site)))
    });
    if let Some((to, (word, other))) = moved {
        looks(Op::new(Kind::Load, word, site).order(Order::SeqCst).second(other), to);
    }
    let waits = with(|run| {
        let waiting = &mut run.futexes.waiting;
        let before = waiting.len();
        waiting.retain(|&(_, _, task)| task != me);
        waiting.len() < before
    });
    if waits {
        return TIMED_OUT;
    }
    // It was counted as woken, and the token is on its way.
    arrive(with(|run| run.parking(None, site)));
    0
}

/// The kernel looks at the word: an atomic read, which may race with what the program does to the word otherwise.
fn looks(look: Op, address: usize) {
    arrive_at(look, address, WORD);
    with(|run| {
        if run.several {
            run.note(address, WORD, How { write: false, atomic: true }, look.site, false);
        }
    });
}

/// Wakes up to `count` of those who wait for one of the bits. Says how many.
pub fn wake(address: usize, count: u32, bits: u32, pc: usize) -> isize {
    let ((word, other), site) = with(|run| {
        let site = run.site(pc);
        (run.atomic(address, WORD, site), site)
    });
    // Whoever is about to look at the word can tell whether it comes before this. It is no store: what others have
    // released there can still be acquired.
    arrive_at(Op::new(Kind::Rmw, word, site).order(Order::Relaxed).second(other), address, WORD);
    with(|run| run.engine.unchanged(word));
    let mut woken = 0;
    while woken < count {
        let taken = with(|run| run.take_waiting(address, bits, count - woken, site));
        let Some((_, task)) = taken else { break };
        unpark(task, site);
        woken += 1;
    }
    woken as isize
}

fn unpark(task: TaskId, site: SiteId) {
    arrive(with(|run| Op::new(Kind::Unpark, run.engine.world_mut().token(task), site)));
}

/// Wakes up to `count` of those who wait, and has up to `most` others wait at another address, unless the word is not what is
/// expected, if that is asked. Says how many they are together.
pub fn requeue(
    address: usize,
    to: usize,
    [count, most]: [u32; 2],
    expected: Option<u32>,
    pc: usize,
) -> isize {
    let (op, parts) = with(|run| {
        let site = run.site(pc);
        let (word, other) = run.atomic(address, WORD, site);
        let (second, another) = run.atomic(to, WORD, site);
        let op = Op::new(Kind::Rmw, word, site).order(Order::Relaxed).second(second);
        (op, other.is_some() || another.is_some())
    });
    // An operation has two extents, which are these words.
    if parts {
        hidden::hides(Hidden::PARTS);
    }
    looks(op, address);
    with(|run| run.engine.unchanged(op.object));
    // SAFETY: the program says that a word lies there.
    let found = unsafe { (address as *const u32).read_volatile() };
    if expected.is_some_and(|expected| expected != found) {
        return AGAIN;
    }
    let (mut woken, mut moved) = (Vec::new(), 0);
    with(|run| {
        while (woken.len() as u32) < count
            && let Some((_, task)) = run.take_waiting(address, ANY, count - woken.len() as u32, op.site)
        {
            woken.push(task);
        }
        while moved < most
            && let Some((bits, task)) = run.take_waiting(address, ANY, most - moved, op.site)
        {
            let home = run.objects.mappings.home(to);
            run.futexes.waiting.push((home, bits, task));
            run.futexes.moved.retain(|(other, _)| *other != task);
            run.futexes.moved.push((task, to));
            moved += 1;
        }
    });
    woken.iter().for_each(|&task| unpark(task, op.site));
    woken.len() as isize + moved as isize
}
