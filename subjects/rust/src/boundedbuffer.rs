//! Subject `boundedbuffer`: producers and a consumer around a buffer with one place.
//!
//! | | paper (table 1) | here |
//! |---|---|---|
//! | threads | 4 | main, 2 producers and 1 consumer, started in the order producer, consumer, producer |
//! | locks | not given | 1 monitor, with waiting and notification |
//! | operations | 141 lines, not given | each producer puts, and the consumer takes, 2 items; the buffer has 1 place |
//!
//! The paper prints no listing. The program of that name in the authors' repository (CalFuzzer,
//! `benchmarks/jpf_test_cases/boundedbuffer`) has the 141 lines of table 1, and the structure and the numbers are taken
//! from it: whoever changes the buffer notifies one who waits, whichever. Four items are put and two taken, so in the end
//! a producer waits for ever: every run is a deadlock, as it is there.

use crate::monitor::Monitor;
use crate::shim::Shared;
use crate::shim::sync::Arc;
use crate::shim::thread;
use crate::tasks::join_all;

const ITEMS: usize = 2;
const PLACES: usize = 1;

#[derive(Default)]
struct Buffer {
    monitor: Monitor,
    count: Shared<usize>,
}

impl Buffer {
    fn put(&self) {
        let mut inside = self.monitor.enter();
        inside.wait_while(|| self.count.get() == PLACES);
        self.count.update(|count| count + 1);
        inside.notify();
    }

    fn take(&self) {
        let mut inside = self.monitor.enter();
        inside.wait_while(|| self.count.get() == 0);
        self.count.update(|count| count - 1);
        inside.notify();
    }
}

/// The body of the subject.
pub fn subject() {
    let buffer: Arc<Buffer> = Arc::default();
    let tasks = [Buffer::put, Buffer::take, Buffer::put]
        .map(|operation| {
            let buffer = Arc::clone(&buffer);
            thread::spawn(move || (0..ITEMS).for_each(|_| operation(&buffer)))
        })
        .into_iter()
        .collect();
    join_all(tasks);
}
