//! Main does not wait for the task that it started, and needs its result.

use crate::shim::sync::Arc;
use crate::shim::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::shim::thread;

pub(super) fn body() {
    let result = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&result);
    drop(thread::spawn(move || other.store(1, SeqCst)));
    thread::yield_now();
    assert_eq!(result.load(SeqCst), 1, "the task has had its turn");
}
