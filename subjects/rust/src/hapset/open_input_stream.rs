//! Subject `OpenInputStr`: opening a stream of Mozilla's looks whether the other side is ready, and then waits to be
//! told; the word may come between.
//!
//! | | paper (table 5) | here |
//! |---|---|---|
//! | bug | deadlock | a notification is lost |
//! | threads | not given | 2: one opens, one provides; main starts and joins them |
//! | shared data | not given | whether the stream is ready |
//! | locks | not given, and inserted ones | the monitor's, with a condition variable; the journal's |
//! | operations | not given | a read, then lock and wait; a write, then lock and notify; then 8 lines of the journal each |

use super::journal::Journal;
use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::{Shared, thread};
use crate::tasks::join_all;

const LINES: usize = 8;

#[derive(Default)]
struct Stream {
    ready: Shared<bool>,
    monitor: Mutex<()>,
    told: Condvar,
    journal: Journal,
}

impl Stream {
    fn open(&self, mended: bool) {
        if mended {
            drop(self.told.wait_while(self.monitor.lock().unwrap(), |()| !self.ready.get()).unwrap());
        } else if !self.ready.get() {
            drop(self.told.wait(self.monitor.lock().unwrap()).unwrap());
        }
    }

    fn provide(&self, mended: bool) {
        if !mended {
            self.ready.set(true);
        }
        let monitor = self.monitor.lock().unwrap();
        if mended {
            self.ready.set(true);
        }
        self.told.notify_one();
        drop(monitor);
    }
}

/// The program.
pub fn bug() {
    run(false);
}

/// Looking and waiting, setting and telling are one step each.
pub fn ok() {
    run(true);
}

fn run(mended: bool) {
    let stream: Arc<Stream> = Arc::default();
    let start = |step: fn(&Stream, bool)| {
        let stream = Arc::clone(&stream);
        thread::spawn(move || {
            step(&stream, mended);
            stream.journal.write(LINES);
        })
    };
    join_all(vec![start(Stream::open), start(Stream::provide)]);
}
