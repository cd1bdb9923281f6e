//! Subject `UpdateTimer`: a thread of Mozilla's looks whether there is a timer, and then starts it anew; the callback of
//! the timer has dropped it between.
//!
//! | | paper (table 5) | here |
//! |---|---|---|
//! | bug | atomicity violation | looking and using are meant to be one step |
//! | threads | not given | 2: one updates, one is the callback; main starts and joins them |
//! | shared data | not given | the timer, and its delay |
//! | locks | inserted ones | the journal's; mended: one around each step |
//! | operations | not given | 2 reads against a read and a write; then 5 lines of the journal each |

use super::journal::Journal;
use crate::shim::sync::{Arc, Mutex};
use crate::shim::{Shared, thread};
use crate::tasks::join_all;

const LINES: usize = 5;

struct Window {
    timer: Shared<Option<u32>>,
    whole: Mutex<()>,
    journal: Journal,
}

impl Window {
    fn update(&self) {
        if self.timer.get().is_none() {
            return;
        }
        let delay = self.timer.get().expect("a timer that is gone is used");
        assert!(delay > 0);
    }

    fn fire(&self) {
        if self.timer.get().is_some() {
            self.timer.set(None);
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
    let window = Window { timer: Shared::new(Some(10)), whole: Mutex::new(()), journal: Journal::default() };
    let window = Arc::new(window);
    let start = |step: fn(&Window)| {
        let window = Arc::clone(&window);
        thread::spawn(move || {
            let whole = mended.then(|| window.whole.lock().unwrap());
            step(&window);
            drop(whole);
            window.journal.write(LINES);
        })
    };
    join_all(vec![start(Window::update), start(Window::fire)]);
}
