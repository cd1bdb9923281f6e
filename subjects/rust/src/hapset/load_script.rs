//! Subject `Loadscript`: two loads of Mozilla's set the current script and then compile it; another may have set its
//! own between.
//!
//! | | paper (table 5) | here |
//! |---|---|---|
//! | bug | atomicity violation | setting and compiling are meant to be one step |
//! | threads | not given | 2 loads; main starts and joins them |
//! | shared data | not given | the current script |
//! | locks | inserted ones | the journal's; mended: one around the step |
//! | operations | not given | a write and a read each; then 5 lines of the journal |

use super::journal::Journal;
use crate::shim::sync::{Arc, Mutex};
use crate::shim::{Shared, thread};
use crate::tasks::join_all;

const LINES: usize = 5;

#[derive(Default)]
struct Document {
    current: Shared<u32>,
    whole: Mutex<()>,
    journal: Journal,
}

impl Document {
    fn load(&self, script: u32, mended: bool) {
        let whole = mended.then(|| self.whole.lock().unwrap());
        self.current.set(script);
        let compiled = self.current.get();
        drop(whole);
        self.journal.write(LINES);
        assert_eq!(compiled, script, "another script was compiled");
    }
}

/// The program.
pub fn bug() {
    run(false);
}

/// Each load under a lock.
pub fn ok() {
    run(true);
}

fn run(mended: bool) {
    let document: Arc<Document> = Arc::default();
    let start = |script: u32| {
        let document = Arc::clone(&document);
        thread::spawn(move || document.load(script, mended))
    };
    join_all(vec![start(1), start(2)]);
}
