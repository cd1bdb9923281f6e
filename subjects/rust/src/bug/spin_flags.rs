//! Each of two tasks says that it wants in, and spins while the other wants in too: both can spin for ever.

use crate::shim::hint;
use crate::shim::sync::Arc;
use crate::shim::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use crate::shim::thread;
use crate::tasks::join_all;

#[derive(Default)]
struct Door {
    wants: [AtomicBool; 2],
    inside: AtomicU32,
}

impl Door {
    fn pass(&self, me: usize) {
        let other = 1 - me;
        self.wants[me].store(true, SeqCst);
        while self.wants[other].load(SeqCst) {
            hint::spin_loop();
        }
        assert_eq!(self.inside.fetch_add(1, SeqCst), 0, "one at a time");
        self.inside.fetch_sub(1, SeqCst);
        self.wants[me].store(false, SeqCst);
    }
}

pub(super) fn body() {
    let door: Arc<Door> = Arc::default();
    let pass = |me: usize| {
        let door = Arc::clone(&door);
        thread::spawn(move || door.pass(me))
    };
    join_all(vec![pass(0), pass(1)]);
}
