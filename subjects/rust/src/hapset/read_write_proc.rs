//! Subject `ReadWriteProc`: Mozilla starts an asynchronous read and then says that it waits for it; if the read is done
//! before, nobody ever ends the waiting.
//!
//! | | paper (table 5) | here |
//! |---|---|---|
//! | bug | order violation | "waiting" may be set after it was cleared |
//! | threads | not given | 2: main starts the read, the other completes it |
//! | shared data | not given | the flag |
//! | locks | inserted ones | one around the flag, with a condition variable; the journal's |
//! | operations | not given | set, wait while set; clear and notify; then 6 lines of the journal each |

use super::journal::Journal;
use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;

const LINES: usize = 6;

#[derive(Default)]
struct Process {
    pending: Mutex<bool>,
    done: Condvar,
    journal: Journal,
}

/// The program.
pub fn bug() {
    run(false);
}

/// The flag is set before the read is started.
pub fn ok() {
    run(true);
}

fn run(mended: bool) {
    let process: Arc<Process> = Arc::default();
    if mended {
        *process.pending.lock().unwrap() = true;
    }
    let other = thread::spawn({
        let process = Arc::clone(&process);
        move || {
            *process.pending.lock().unwrap() = false;
            process.done.notify_one();
            process.journal.write(LINES);
        }
    });
    if !mended {
        *process.pending.lock().unwrap() = true;
    }
    drop(process.done.wait_while(process.pending.lock().unwrap(), |pending| *pending).unwrap());
    process.journal.write(LINES);
    join_all(vec![other]);
}
