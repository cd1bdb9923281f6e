//! Subject `philo`: dining philosophers around one table.
//!
//! | | paper (table 1) | here |
//! |---|---|---|
//! | threads | 3 | main and 2 philosophers |
//! | locks | not given | 1: the monitor of the table, with waiting and notification |
//! | operations | 91 lines, not given | a philosopher takes both forks or waits, eats, puts both back, until 4 meals were eaten at the table |
//!
//! The paper prints no listing. The program of that name in the authors' repository (CalFuzzer, `benchmarks/philo`) has
//! the 91 lines of table 1, and the structure and the two numbers are taken from it: forks are marks at the table, not
//! locks; whoever puts them back notifies one who waits; the meals are counted for all together.

use crate::monitor::Monitor;
use crate::shim::Shared;
use crate::shim::sync::Arc;
use crate::shim::thread;
use crate::tasks::join_all;

const PHILOSOPHERS: usize = 2;
const MEALS: usize = 4;

#[derive(Default)]
struct Table {
    monitor: Monitor,
    taken: [Shared<bool>; PHILOSOPHERS],
    meals: Shared<usize>,
}

impl Table {
    /// Takes both forks of a seat. Returns how many meals had begun before this one.
    fn take(&self, seat: usize) -> usize {
        let forks = self.forks(seat);
        let mut inside = self.monitor.enter();
        inside.wait_while(|| forks.iter().any(|fork| fork.get()));
        forks.iter().for_each(|fork| fork.set(true));
        let meals = self.meals.get();
        self.meals.set(meals + 1);
        meals
    }

    fn put_back(&self, seat: usize) {
        let inside = self.monitor.enter();
        self.forks(seat).iter().for_each(|fork| fork.set(false));
        inside.notify();
    }

    fn forks(&self, seat: usize) -> [&Shared<bool>; 2] {
        [&self.taken[seat], &self.taken[(seat + 1) % PHILOSOPHERS]]
    }
}

/// The body of the subject.
pub fn subject() {
    let table: Arc<Table> = Arc::default();
    let tasks = (0..PHILOSOPHERS)
        .map(|seat| {
            let table = Arc::clone(&table);
            thread::spawn(move || dine(&table, seat))
        })
        .collect();
    join_all(tasks);
}

fn dine(table: &Table, seat: usize) {
    loop {
        let meals = table.take(seat);
        table.put_back(seat);
        if meals >= MEALS {
            return;
        }
    }
}
