//! The tournament barrier of the Java Grande kernels: workers meet in groups of four, the first of each group goes on
//! to meet the others of its kind, and the last one left lets everybody go.
//!
//! The originals spin on volatile flags. Here a flag is a monitor, so that waiting is a lock operation, which is what
//! the paper's tool could see and switch at.

use crate::monitor::Monitor;
use crate::shim::Shared;

const GROUP: usize = 4;

/// A number of rounds, and who waits for it to grow.
#[derive(Debug, Default)]
struct Flag {
    monitor: Monitor,
    round: Shared<usize>,
}

impl Flag {
    fn raise(&self, round: usize) {
        let inside = self.monitor.enter();
        self.round.set(round);
        inside.notify_all();
    }

    fn await_round(&self, round: usize) {
        self.monitor.enter().wait_while(|| self.round.get() < round);
    }
}

/// A barrier for a fixed number of workers.
#[derive(Debug)]
pub struct TournamentBarrier {
    arrived: Box<[Flag]>,
    // Each worker is let go by the one that it reported to, through a flag of its own.
    released: Box<[Flag]>,
}

impl TournamentBarrier {
    /// A barrier that opens when `workers` have arrived.
    pub fn new(workers: usize) -> Self {
        let flags = || (0..workers).map(|_| Flag::default()).collect();
        TournamentBarrier { arrived: flags(), released: flags() }
    }

    /// Arrives for the given round (1, 2, …) and waits for all others.
    pub fn wait(&self, worker: usize, round: usize) {
        let followers = self.followers(worker);
        for &follower in &followers {
            self.arrived[follower].await_round(round);
        }
        if worker != 0 {
            self.arrived[worker].raise(round);
            self.released[worker].await_round(round);
        }
        for &follower in &followers {
            self.released[follower].raise(round);
        }
    }

    /// The workers that report to this one: the others of each group that it is the first of.
    fn followers(&self, worker: usize) -> Vec<usize> {
        let workers = self.arrived.len();
        let mut followers = Vec::new();
        let mut distance = 1;
        while distance < workers && worker.is_multiple_of(distance * GROUP) {
            let others = (1..GROUP).map(|i| worker + i * distance);
            followers.extend(others.filter(|&other| other < workers));
            distance *= GROUP;
        }
        followers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shim::sync::Arc;
    use crate::shim::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use crate::shim::thread;
    use crate::tasks::join_all;

    #[test]
    fn everybody_but_the_last_reports_to_one_other() {
        for workers in 1..40 {
            let barrier = TournamentBarrier::new(workers);
            let mut all: Vec<_> = (0..workers).flat_map(|w| barrier.followers(w)).collect();
            all.sort_unstable();
            assert_eq!(all, (1..workers).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nobody_leaves_before_all_have_arrived() {
        const WORKERS: usize = 10;
        let shared = Arc::new((TournamentBarrier::new(WORKERS), AtomicUsize::new(0)));
        let tasks = (0..WORKERS)
            .map(|worker| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    for round in 1..=20 {
                        shared.1.fetch_add(1, SeqCst);
                        shared.0.wait(worker, round);
                        assert!(shared.1.load(SeqCst) >= round * WORKERS);
                    }
                })
            })
            .collect();
        join_all(tasks);
    }
}
