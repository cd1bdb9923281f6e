//! Subject `CreateThread`: Mozilla stores the handle of a new thread when the call that makes it returns; the new thread
//! reads it, and may be there first.
//!
//! | | paper (table 5) | here |
//! |---|---|---|
//! | bug | order violation | the handle may be read before it is stored |
//! | threads | not given | 2: main makes the other |
//! | shared data | not given | the handle |
//! | locks | inserted ones | the journal's; mended: the new thread waits for a semaphore-like flag under a lock |
//! | operations | not given | a write against a read; then 4 lines of the journal each |

use super::journal::Journal;
use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::{Shared, thread};
use crate::tasks::join_all;

const LINES: usize = 4;

#[derive(Default)]
struct Owner {
    handle: Shared<Option<u32>>,
    stored: Mutex<bool>,
    change: Condvar,
    journal: Journal,
}

/// The program.
pub fn bug() {
    run(false);
}

/// The new thread waits until the handle is stored.
pub fn ok() {
    run(true);
}

fn run(mended: bool) {
    let owner: Arc<Owner> = Arc::default();
    let other = thread::spawn({
        let owner = Arc::clone(&owner);
        move || {
            if mended {
                drop(owner.change.wait_while(owner.stored.lock().unwrap(), |stored| !*stored).unwrap());
            }
            let handle = owner.handle.get();
            owner.journal.write(LINES);
            handle.expect("the handle of this thread is not there");
        }
    });
    owner.handle.set(Some(1));
    if mended {
        *owner.stored.lock().unwrap() = true;
        owner.change.notify_all();
    }
    owner.journal.write(LINES);
    join_all(vec![other]);
}
