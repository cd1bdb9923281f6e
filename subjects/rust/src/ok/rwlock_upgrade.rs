//! A task gives its read lock back before it asks for the write lock, and then looks again.

use crate::shim::sync::{Arc, RwLock};
use crate::shim::thread;
use crate::tasks::join_all;

pub(super) fn body() {
    let value = Arc::new(RwLock::new(0));
    let set_once = |value: Arc<RwLock<u32>>| {
        thread::spawn(move || {
            let unset = *value.read().unwrap() == 0;
            if unset {
                let mut value = value.write().unwrap();
                if *value == 0 {
                    *value += 1;
                }
            }
        })
    };
    join_all(vec![set_once(Arc::clone(&value)), set_once(Arc::clone(&value))]);
    assert_eq!(*value.read().unwrap(), 1, "set once");
}
