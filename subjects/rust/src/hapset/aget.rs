//! Subject `aget`: a client that downloads a file in parts, one thread for each; all add to the number of bytes that
//! were written, without a lock.
//!
//! | | paper (tables 2, 3 and 4) | here |
//! |---|---|---|
//! | bug | data race on `bwritten`, between the workers and the one that draws the progress bar | the same; it shows as a wrong total |
//! | threads | 6 in table 2; workers 2 to 10 in table 4 | so many workers, and main, which starts them, draws the bar and joins them |
//! | shared data | `bwritten` | the same |
//! | locks | not given | the journal's; mended: one around `bwritten` |
//! | operations | not given | each worker adds twice, a read and a write each, and then writes 5 lines of the journal; main reads twice |
//!
//! Table 2 has 6 threads and 14 runs, table 4 has 14 runs with 5: there main is not counted.

use super::journal::Journal;
use crate::shim::sync::{Arc, Mutex, MutexGuard};
use crate::shim::{Shared, thread};
use crate::tasks::join_all;

const PARTS: u64 = 2;
const BYTES: u64 = 100;
const LINES: usize = 5;
const DRAWN: usize = 2;

#[derive(Default)]
struct Download {
    bwritten: Shared<u64>,
    lock: Mutex<()>,
    journal: Journal,
    mended: bool,
}

impl Download {
    fn guard(&self) -> Option<MutexGuard<'_, ()>> {
        self.mended.then(|| self.lock.lock().unwrap())
    }

    fn fetch(&self) {
        for _ in 0..PARTS {
            let _guard = self.guard();
            let before = self.bwritten.get();
            self.bwritten.set(before + BYTES);
        }
        self.journal.write(LINES);
    }

    fn draw(&self) {
        for _ in 0..DRAWN {
            let _guard = self.guard();
            self.bwritten.get();
        }
    }
}

/// The program with so many workers.
pub fn bug<const WORKERS: u64>() {
    run(WORKERS, false);
}

/// `bwritten` under a lock.
pub fn ok<const WORKERS: u64>() {
    run(WORKERS, true);
}

fn run(workers: u64, mended: bool) {
    let download = Arc::new(Download { mended, ..Download::default() });
    let start = |_| {
        let download = Arc::clone(&download);
        thread::spawn(move || download.fetch())
    };
    let tasks = (0..workers).map(start).collect();
    download.draw();
    join_all(tasks);
    assert_eq!(download.bwritten.get(), workers * PARTS * BYTES, "the total is wrong");
}
