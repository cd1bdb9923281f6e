//! Main parks until it has seen two events, however many tokens they leave.

use crate::shim::sync::Arc;
use crate::shim::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::shim::thread;
use crate::tasks::join_all;

pub(super) fn body() {
    let main = thread::current();
    let events = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&events);
    let waker = thread::spawn(move || {
        for _ in 0..2 {
            counter.fetch_add(1, SeqCst);
            main.unpark();
        }
    });
    while events.load(SeqCst) < 2 {
        thread::park();
    }
    join_all(vec![waker]);
}
