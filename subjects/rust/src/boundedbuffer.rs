//! Subject `boundedbuffer`: producers and consumers around a buffer with few places.
//!
//! | | paper (table 1) | here |
//! |---|---|---|
//! | threads | 4 | 2 producers and 2 consumers; main starts and joins them |
//! | locks | not given | 1 monitor, with waiting and notification |
//! | operations | not given | each producer puts, and each consumer takes, 2 items; the buffer has 2 places |
//!
//! Assumed: the paper reports no deadlock here, so whoever changes the buffer notifies all waiting threads; with a
//! single notification a producer could wake a producer and everybody would wait.

use crate::monitor::Monitor;
use crate::shim::Shared;
use crate::shim::sync::Arc;
use crate::shim::thread;
use crate::tasks::join_all;

const PAIRS: usize = 2;
const ITEMS: usize = 2;
const PLACES: usize = 2;

#[derive(Default)]
struct Buffer {
    monitor: Monitor,
    places: [Shared<usize>; PLACES],
    first: Shared<usize>,
    count: Shared<usize>,
}

impl Buffer {
    fn put(&self, item: usize) {
        let mut inside = self.monitor.enter();
        inside.wait_while(|| self.count.get() == PLACES);
        self.places[(self.first.get() + self.count.get()) % PLACES].set(item);
        self.count.update(|count| count + 1);
        inside.notify_all();
    }

    fn take(&self) -> usize {
        let mut inside = self.monitor.enter();
        inside.wait_while(|| self.count.get() == 0);
        let item = self.places[self.first.get()].get();
        self.first.update(|first| (first + 1) % PLACES);
        self.count.update(|count| count - 1);
        inside.notify_all();
        item
    }
}

/// The body of the subject: every item that was put is taken once.
pub fn subject() {
    let buffer: Arc<Buffer> = Arc::default();
    let sums: Arc<[Shared<usize>; PAIRS]> = Arc::default();
    let mut tasks = Vec::new();
    for producer in 0..PAIRS {
        let buffer = Arc::clone(&buffer);
        tasks.push(thread::spawn(move || {
            for item in 0..ITEMS {
                buffer.put(1 << (producer * ITEMS + item));
            }
        }));
    }
    for consumer in 0..PAIRS {
        let buffer = Arc::clone(&buffer);
        let sums = Arc::clone(&sums);
        tasks.push(thread::spawn(move || {
            let sum = (0..ITEMS).map(|_| buffer.take()).sum();
            sums[consumer].set(sum);
        }));
    }
    join_all(tasks);
    let total: usize = sums.iter().map(Shared::get).sum();
    assert_eq!(total, (1 << (PAIRS * ITEMS)) - 1, "each item is taken once");
}
