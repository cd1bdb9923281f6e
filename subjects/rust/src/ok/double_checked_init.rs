//! A value is initialized under a lock, and read after a look at a flag that acquires what its writer released.

use crate::shim::Shared;
use crate::shim::sync::atomic::{AtomicBool, Ordering};
use crate::shim::sync::{Arc, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;

#[derive(Default)]
struct Lazy {
    ready: AtomicBool,
    lock: Mutex<()>,
    value: Shared<u32>,
}

impl Lazy {
    fn get(&self) -> u32 {
        if !self.ready.load(Ordering::Acquire) {
            let _guard = self.lock.lock().unwrap();
            if !self.ready.load(Ordering::Relaxed) {
                self.value.set(42);
                self.ready.store(true, Ordering::Release);
            }
        }
        self.value.get()
    }
}

pub(super) fn body() {
    let lazy: Arc<Lazy> = Arc::default();
    let get = |lazy: Arc<Lazy>| thread::spawn(move || assert_eq!(lazy.get(), 42));
    join_all(vec![get(Arc::clone(&lazy)), get(Arc::clone(&lazy))]);
}
