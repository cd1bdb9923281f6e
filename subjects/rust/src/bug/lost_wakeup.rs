//! A task looks at a flag, then locks and waits: a notification between the two wakes nobody.

use crate::shim::sync::atomic::{AtomicBool, Ordering::SeqCst};
use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;

#[derive(Default)]
struct Gate {
    open: AtomicBool,
    lock: Mutex<()>,
    opened: Condvar,
}

pub(super) fn body() {
    let gate: Arc<Gate> = Arc::default();
    let other = Arc::clone(&gate);
    let waiter = thread::spawn(move || {
        if !other.open.load(SeqCst) {
            let guard = other.lock.lock().unwrap();
            drop(other.opened.wait(guard).unwrap());
        }
    });
    gate.open.store(true, SeqCst);
    gate.opened.notify_one();
    join_all(vec![waiter]);
}
