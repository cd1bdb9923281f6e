//! Subject `FileTransport`: Mozilla's file transport locks itself and then its service; suspending all goes the other
//! way round.
//!
//! | | paper (table 5) | here |
//! |---|---|---|
//! | bug | deadlock | two locks in opposite orders |
//! | threads | not given | 2: one processes the transport, one suspends it; main starts and joins them |
//! | shared data | not given | bytes read, transports suspended |
//! | locks | not given, and inserted ones | the transport's, the service's, the journal's |
//! | operations | not given | each takes both locks; then 4 lines of the journal |

use super::journal::Journal;
use crate::shim::sync::{Arc, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;

const LINES: usize = 4;

#[derive(Default)]
struct Shared {
    transport: Mutex<u32>,
    service: Mutex<u32>,
    journal: Journal,
}

/// The program.
pub fn bug() {
    run(false);
}

/// Both take the service's lock first.
pub fn ok() {
    run(true);
}

fn process(shared: &Shared, mended: bool) {
    if mended {
        let mut service = shared.service.lock().unwrap();
        *shared.transport.lock().unwrap() += 1;
        *service += 1;
    } else {
        let mut transport = shared.transport.lock().unwrap();
        *shared.service.lock().unwrap() += 1;
        *transport += 1;
    }
}

fn suspend(shared: &Shared, _: bool) {
    let mut service = shared.service.lock().unwrap();
    *shared.transport.lock().unwrap() += 1;
    *service += 1;
}

fn run(mended: bool) {
    let shared: Arc<Shared> = Arc::default();
    let start = |step: fn(&Shared, bool)| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            step(&shared, mended);
            shared.journal.write(LINES);
        })
    };
    join_all(vec![start(process), start(suspend)]);
}
