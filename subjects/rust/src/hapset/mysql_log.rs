//! Subject `MysqlLog`: rotating MySQL's log closes it and opens it again; an entry that comes between is dropped.
//!
//! | | paper (table 5) | here |
//! |---|---|---|
//! | bug | atomicity violation | closing and opening are meant to be one step |
//! | threads | not given | 2: one rotates, one logs; main starts and joins them |
//! | shared data | not given | whether the log is open; entries |
//! | locks | inserted ones | the journal's; mended: one around each step |
//! | operations | not given | 2 writes against a read; then 4 lines of the journal each |

use super::journal::Journal;
use crate::shim::sync::{Arc, Mutex};
use crate::shim::{Shared, thread};
use crate::tasks::join_all;

const LINES: usize = 4;

#[derive(Default)]
struct Log {
    closed: Shared<bool>,
    entries: Shared<u32>,
    whole: Mutex<()>,
    journal: Journal,
}

impl Log {
    fn rotate(&self) {
        self.closed.set(true);
        self.closed.set(false);
    }

    fn entry(&self) {
        if !self.closed.get() {
            self.entries.set(self.entries.get() + 1);
        }
    }
}

/// The program.
pub fn bug() {
    run(false);
}

/// Each step under a lock.
pub fn ok() {
    run(true);
}

fn run(mended: bool) {
    let log: Arc<Log> = Arc::default();
    let start = |step: fn(&Log)| {
        let log = Arc::clone(&log);
        thread::spawn(move || {
            let whole = mended.then(|| log.whole.lock().unwrap());
            step(&log);
            drop(whole);
            log.journal.write(LINES);
        })
    };
    join_all(vec![start(Log::rotate), start(Log::entry)]);
    assert_eq!(log.entries.get(), 1, "an entry was dropped");
}
