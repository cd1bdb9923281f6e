//! Main waits for the result of a task, not for its end: the task may be cut short when main returns.

use crate::shim::sync::mpsc::channel;
use crate::shim::sync::{Arc, Mutex};
use crate::shim::thread;

pub(super) fn body() {
    let (sender, receiver) = channel();
    let log = Arc::new(Mutex::new(0));
    drop(thread::spawn(move || {
        sender.send(1).expect("main waits for it");
        for _ in 0..3 {
            *log.lock().unwrap() += 1;
        }
    }));
    assert_eq!(receiver.recv(), Ok(1));
}
