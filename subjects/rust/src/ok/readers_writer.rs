//! Readers and a writer come in in the order of their tickets, so nobody is passed for ever; readers overlap.

use crate::shim::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;

#[derive(Default)]
struct Turns {
    handed_out: u32,
    serving: u32,
    readers: u32,
}

#[derive(Default)]
struct Guarded {
    turns: Mutex<Turns>,
    changed: Condvar,
    pair: [AtomicU32; 2],
}

impl Guarded {
    /// Waits for its turn, and a writer for the readers to leave too.
    fn enter(&self, reads: bool) {
        let mut turns = self.turns.lock().unwrap();
        let ticket = turns.handed_out;
        turns.handed_out += 1;
        let blocked = |turns: &mut Turns| turns.serving != ticket || (!reads && turns.readers > 0);
        let mut turns = self.changed.wait_while(turns, blocked).unwrap();
        if reads {
            turns.readers += 1;
            turns.serving += 1;
            self.changed.notify_all();
        }
    }

    fn leave(&self, reads: bool) {
        let mut turns = self.turns.lock().unwrap();
        if reads {
            turns.readers -= 1;
        } else {
            turns.serving += 1;
        }
        self.changed.notify_all();
    }

    fn read(&self) {
        self.enter(true);
        let (first, second) = (self.pair[0].load(SeqCst), self.pair[1].load(SeqCst));
        assert_eq!(first, second, "no reader sees half a write");
        self.leave(true);
    }

    fn write(&self) {
        self.enter(false);
        self.pair[0].store(1, SeqCst);
        self.pair[1].store(1, SeqCst);
        self.leave(false);
    }
}

pub(super) fn body() {
    let guarded: Arc<Guarded> = Arc::default();
    let task = |reads: bool| {
        let guarded = Arc::clone(&guarded);
        thread::spawn(move || if reads { guarded.read() } else { guarded.write() })
    };
    join_all(vec![task(true), task(false), task(true)]);
}
