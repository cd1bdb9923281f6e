//! Futexes, for whoever makes the system call itself: C++'s atomic waits, Rust's std.
//!
//! A wait looks at the word and, if it is as expected, queues and parks; nobody can come in between, so it is as
//! indivisible as the kernel's. A wake-up gives tokens to whom the policy chooses among those that wait.

use crate::atomic::arrive_at;
use crate::run::{arrive, with};
use crate::shadow::How;
use alloc::vec::Vec;
use raddle_model::{Kind, Op, Order, Outcome, TaskId};

/// Who waits at which address.
#[derive(Clone, Default, Debug)]
pub struct Queue {
    waiting: Vec<(usize, u32, TaskId)>,
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
        run.futexes.waiting.push((run.objects.mappings.home(address), bits, me));
        run.parking(limit, site)
    }));
    if outcome != Outcome::TimedOut {
        return 0;
    }
    // Whether somebody who wakes still finds it waiting is a matter of order, like whether it finds the word as expected.
    looks(look, address);
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
    let ((word, other), site, me) = with(|run| {
        let site = run.site(pc);
        (run.atomic(address, WORD, site), site, run.running)
    });
    // Whoever is about to look at the word can tell whether it comes before this. It is no store: what others have
    // released there can still be acquired.
    arrive_at(Op::new(Kind::Rmw, word, site).order(Order::Relaxed).second(other), address, WORD);
    with(|run| run.engine.unchanged(word));
    let mut woken = 0;
    while woken < count {
        let chosen = with(|run| {
            let address = run.objects.mappings.home(address);
            let waiting = run.futexes.waiting.iter().enumerate();
            let fits: Vec<usize> =
                waiting.filter(|(_, w)| w.0 == address && w.1 & bits != 0).map(|(at, _)| at).collect();
            let all = count as usize >= fits.len() + woken as usize;
            let pick = if all || fits.len() < 2 { 0 } else { run.engine.choose(me, fits.len() as u32, site) };
            let at = *fits.get(pick as usize)?;
            let (_, _, task) = run.futexes.waiting.remove(at);
            Some(run.engine.world_mut().token(task))
        });
        let Some(token) = chosen else { break };
        arrive(Op::new(Kind::Unpark, token, site));
        woken += 1;
    }
    woken as isize
}
