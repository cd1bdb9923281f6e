//! Subject `philo`: dining philosophers.
//!
//! | | paper (table 1) | here |
//! |---|---|---|
//! | threads | 3 | 3 philosophers; main starts and joins them |
//! | locks | forks; their number is not given | 3 monitors, one per fork |
//! | operations | not given | each philosopher takes two forks, eats, puts them back, three times |
//!
//! Assumed: the paper reports no deadlock here, so each philosopher takes the fork with the lower number first. One
//! meal each would give six partial orders; more than a thousand were seen, so there are several.

use crate::monitor::Monitor;
use crate::shim::Shared;
use crate::shim::sync::Arc;
use crate::shim::thread;
use crate::tasks::join_all;

const PHILOSOPHERS: usize = 3;
const MEALS: usize = 3;

#[derive(Default)]
struct Fork {
    monitor: Monitor,
    in_use: Shared<bool>,
}

/// The body of the subject.
pub fn subject() {
    let forks: Arc<[Fork; PHILOSOPHERS]> = Arc::default();
    let tasks = (0..PHILOSOPHERS)
        .map(|seat| {
            let forks = Arc::clone(&forks);
            thread::spawn(move || dine(&forks, seat))
        })
        .collect();
    join_all(tasks);
}

fn dine(forks: &[Fork; PHILOSOPHERS], seat: usize) {
    let next = (seat + 1) % PHILOSOPHERS;
    let first = &forks[seat.min(next)];
    let second = &forks[seat.max(next)];
    for _ in 0..MEALS {
        let _first = first.monitor.enter();
        let _second = second.monitor.enter();
        for fork in [first, second] {
            assert!(!fork.in_use.get(), "two philosophers eat with one fork");
            fork.in_use.set(true);
        }
        for fork in [first, second] {
            fork.in_use.set(false);
        }
    }
}
