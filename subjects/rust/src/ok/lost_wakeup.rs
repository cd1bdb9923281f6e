//! A task looks at a flag and waits under the lock under which the flag is set.

use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;

#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

pub(super) fn body() {
    let gate: Arc<Gate> = Arc::default();
    let other = Arc::clone(&gate);
    let waiter = thread::spawn(move || {
        let open = other.open.lock().unwrap();
        drop(other.opened.wait_while(open, |open| !*open).unwrap());
    });
    *gate.open.lock().unwrap() = true;
    gate.opened.notify_one();
    join_all(vec![waiter]);
}
