//! A task that holds a read lock asks for the write lock, and waits for itself.

use crate::shim::sync::{Arc, RwLock};
use crate::shim::thread;
use crate::tasks::join_all;

pub(super) fn body() {
    let value = Arc::new(RwLock::new(0));
    let set_once = |value: Arc<RwLock<u32>>| {
        thread::spawn(move || {
            let seen = value.read().unwrap();
            if *seen == 0 {
                *value.write().unwrap() += 1;
            }
        })
    };
    join_all(vec![set_once(Arc::clone(&value)), set_once(Arc::clone(&value))]);
    assert_eq!(*value.read().unwrap(), 1, "set once");
}
