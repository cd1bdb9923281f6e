//! Subject `SeekToItem`: an iterator of Mozilla's finds that an item is there and then reads it; another thread has
//! removed it between.
//!
//! | | paper (table 5) | here |
//! |---|---|---|
//! | bug | atomicity violation | looking and reading are meant to be one step |
//! | threads | not given | 2: one seeks, one removes; main starts and joins them |
//! | shared data | not given | the item |
//! | locks | inserted ones | the journal's; mended: one around each step |
//! | operations | not given | 2 reads against a write; then 5 lines of the journal each |

use super::journal::Journal;
use crate::shim::sync::{Arc, Mutex};
use crate::shim::{Shared, thread};
use crate::tasks::join_all;

const LINES: usize = 5;

struct List {
    item: Shared<Option<u32>>,
    whole: Mutex<()>,
    journal: Journal,
}

impl List {
    fn seek(&self) {
        if self.item.get().is_some() {
            self.item.get().expect("a null pointer is read");
        }
    }

    fn remove(&self) {
        self.item.set(None);
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
    let list = List { item: Shared::new(Some(7)), whole: Mutex::new(()), journal: Journal::default() };
    let list = Arc::new(list);
    let start = |step: fn(&List)| {
        let list = Arc::clone(&list);
        thread::spawn(move || {
            let whole = mended.then(|| list.whole.lock().unwrap());
            step(&list);
            drop(whole);
            list.journal.write(LINES);
        })
    };
    join_all(vec![start(List::seek), start(List::remove)]);
}
