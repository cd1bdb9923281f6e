//! A cache looks for a key and inserts it in one critical section.

use crate::shim::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::shim::sync::{Arc, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;
use std::collections::BTreeMap;

#[derive(Default)]
struct Cache {
    map: Mutex<BTreeMap<u32, u32>>,
    computed: AtomicU32,
}

impl Cache {
    fn compute(&self, key: u32) -> u32 {
        self.computed.fetch_add(1, SeqCst);
        key * key
    }

    fn look_up(&self, key: u32) -> u32 {
        *self.map.lock().unwrap().entry(key).or_insert_with(|| self.compute(key))
    }
}

pub(super) fn body() {
    let cache: Arc<Cache> = Arc::default();
    let look = |cache: Arc<Cache>| thread::spawn(move || assert_eq!(cache.look_up(7), 49));
    join_all(vec![look(Arc::clone(&cache)), look(Arc::clone(&cache))]);
    assert_eq!(cache.computed.load(SeqCst), 1, "computed once");
}
