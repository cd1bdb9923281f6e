//! Subject `pfscan`: main puts names of files into a queue, workers scan them, and the last one to end wakes main. The
//! number of workers is set too late.
//!
//! | | paper (table 2) | here |
//! |---|---|---|
//! | bug | injected order violation: `aworkers` initialized too late hangs main; reported as a deadlock | the same: a worker that has ended before is counted once more |
//! | threads | 3 | main and 2 workers |
//! | shared data | queue, `aworkers`, output | the same, for 5 files |
//! | locks | not given | the queue's with a condition variable, `aworkers`' with another, the output's |
//! | operations | not given | a worker takes a name, scans, prints a line, until there is no name; then it counts itself out |

use super::journal::Journal;
use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;
use std::collections::VecDeque;

const WORKERS: i32 = 2;
const FILES: u32 = 5;

#[derive(Default)]
struct Queue {
    names: VecDeque<u32>,
    closed: bool,
}

#[derive(Default)]
struct Scan {
    queue: Mutex<Queue>,
    not_empty: Condvar,
    aworkers: Mutex<i32>,
    last: Condvar,
    output: Journal,
}

impl Scan {
    fn put(&self) {
        for name in 0..FILES {
            self.queue.lock().unwrap().names.push_back(name);
            self.not_empty.notify_one();
        }
        self.queue.lock().unwrap().closed = true;
        self.not_empty.notify_all();
    }

    fn get(&self) -> Option<u32> {
        let waits = |queue: &mut Queue| queue.names.is_empty() && !queue.closed;
        self.not_empty.wait_while(self.queue.lock().unwrap(), waits).unwrap().names.pop_front()
    }

    fn work(&self) {
        while self.get().is_some() {
            self.output.write(1);
        }
        let mut aworkers = self.aworkers.lock().unwrap();
        *aworkers -= 1;
        if *aworkers == 0 {
            self.last.notify_one();
        }
    }
}

/// The program.
pub fn bug() {
    run(false);
}

/// The workers are counted before they are there.
pub fn ok() {
    run(true);
}

fn run(mended: bool) {
    let scan: Arc<Scan> = Arc::default();
    if mended {
        *scan.aworkers.lock().unwrap() = WORKERS;
    }
    let start = |_| {
        let scan = Arc::clone(&scan);
        thread::spawn(move || scan.work())
    };
    let tasks = (0..WORKERS).map(start).collect();
    scan.put();
    if !mended {
        *scan.aworkers.lock().unwrap() = WORKERS;
    }
    drop(scan.last.wait_while(scan.aworkers.lock().unwrap(), |aworkers| *aworkers > 0).unwrap());
    join_all(tasks);
    assert_eq!(scan.output.lines(), FILES as usize, "a file was not scanned");
}
