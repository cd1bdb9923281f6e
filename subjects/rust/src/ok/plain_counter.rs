//! Two tasks add to a plain field under one lock; main reads it after joining.

use crate::shim::Shared;
use crate::shim::sync::{Arc, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;

#[derive(Default)]
struct Counter {
    lock: Mutex<()>,
    count: Shared<u32>,
}

pub(super) fn body() {
    let counter: Arc<Counter> = Arc::default();
    let add = |counter: Arc<Counter>| {
        thread::spawn(move || {
            let _guard = counter.lock.lock().unwrap();
            counter.count.update(|count| count + 1);
        })
    };
    join_all(vec![add(Arc::clone(&counter)), add(Arc::clone(&counter))]);
    assert_eq!(counter.count.get(), 2);
}
