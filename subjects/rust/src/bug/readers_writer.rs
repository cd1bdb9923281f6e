//! A reader looks whether a writer is there and then announces itself: the writer can come in between.

use crate::shim::sync::Arc;
use crate::shim::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use crate::shim::thread;
use crate::tasks::join_all;

#[derive(Default)]
struct Guarded {
    writing: AtomicBool,
    readers: AtomicU32,
    pair: [AtomicU32; 2],
}

impl Guarded {
    fn read(&self) {
        while self.writing.load(SeqCst) {
            thread::yield_now();
        }
        self.readers.fetch_add(1, SeqCst);
        let (first, second) = (self.pair[0].load(SeqCst), self.pair[1].load(SeqCst));
        assert_eq!(first, second, "no reader sees half a write");
        self.readers.fetch_sub(1, SeqCst);
    }

    fn write(&self) {
        self.writing.store(true, SeqCst);
        while self.readers.load(SeqCst) > 0 {
            thread::yield_now();
        }
        self.pair[0].store(1, SeqCst);
        self.pair[1].store(1, SeqCst);
        self.writing.store(false, SeqCst);
    }
}

pub(super) fn body() {
    let guarded: Arc<Guarded> = Arc::default();
    let other = Arc::clone(&guarded);
    let reader = thread::spawn(move || other.read());
    let other = Arc::clone(&guarded);
    let writer = thread::spawn(move || other.write());
    join_all(vec![reader, writer]);
}
