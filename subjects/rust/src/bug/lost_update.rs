//! Two tasks add one to a counter by a load and a store: one addition can be lost.

use crate::shim::sync::Arc;
use crate::shim::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::shim::thread;
use crate::tasks::join_all;

pub(super) fn body() {
    let counter = Arc::new(AtomicU32::new(0));
    let add = |counter: Arc<AtomicU32>| {
        thread::spawn(move || {
            let seen = counter.load(SeqCst);
            counter.store(seen + 1, SeqCst);
        })
    };
    join_all(vec![add(Arc::clone(&counter)), add(Arc::clone(&counter))]);
    assert_eq!(counter.load(SeqCst), 2, "both additions count");
}
