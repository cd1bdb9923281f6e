//! Subject `TimerThread`: Mozilla's timer thread looks outside of its lock whether it is to end, and then waits; the
//! shutdown may set the flag and notify between.
//!
//! | | paper (table 5) | here |
//! |---|---|---|
//! | bug | deadlock | a notification is lost |
//! | threads | not given | 2: the timer thread, and one that shuts it down; main starts and joins them |
//! | shared data | not given | the flag |
//! | locks | not given, and inserted ones | the timer's, with a condition variable; the journal's |
//! | operations | not given | a read, then lock and wait; lock, a write, notify; then 6 lines of the journal each |

use super::journal::Journal;
use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::{Shared, thread};
use crate::tasks::join_all;

const LINES: usize = 6;

#[derive(Default)]
struct Timer {
    shutdown: Shared<bool>,
    lock: Mutex<()>,
    change: Condvar,
    journal: Journal,
}

impl Timer {
    fn run(&self, mended: bool) {
        if mended {
            drop(self.change.wait_while(self.lock.lock().unwrap(), |()| !self.shutdown.get()).unwrap());
        } else {
            while !self.shutdown.get() {
                drop(self.change.wait(self.lock.lock().unwrap()).unwrap());
            }
        }
    }

    fn shut_down(&self, _: bool) {
        let lock = self.lock.lock().unwrap();
        self.shutdown.set(true);
        self.change.notify_one();
        drop(lock);
    }
}

/// The program.
pub fn bug() {
    run(false);
}

/// The timer thread looks under its lock.
pub fn ok() {
    run(true);
}

fn run(mended: bool) {
    let timer: Arc<Timer> = Arc::default();
    let start = |step: fn(&Timer, bool)| {
        let timer = Arc::clone(&timer);
        thread::spawn(move || {
            step(&timer, mended);
            timer.journal.write(LINES);
        })
    };
    join_all(vec![start(Timer::run), start(Timer::shut_down)]);
}
