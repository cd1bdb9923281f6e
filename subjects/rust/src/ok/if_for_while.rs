//! Two consumers wait with `while`: whoever is woken looks again.

use crate::shim::sync::{Arc, Condvar, Mutex};
use crate::shim::thread;
use crate::tasks::join_all;

#[derive(Default)]
struct Queue {
    items: Mutex<Vec<u32>>,
    added: Condvar,
}

impl Queue {
    fn take(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        while items.is_empty() {
            items = self.added.wait(items).unwrap();
        }
        items.pop().expect("woken only when there is something")
    }

    fn add(&self, item: u32) {
        self.items.lock().unwrap().push(item);
        self.added.notify_all();
    }
}

pub(super) fn body() {
    let queue: Arc<Queue> = Arc::default();
    let take = |queue: Arc<Queue>| thread::spawn(move || _ = queue.take());
    let consumers = vec![take(Arc::clone(&queue)), take(Arc::clone(&queue))];
    queue.add(1);
    queue.add(2);
    join_all(consumers);
}
