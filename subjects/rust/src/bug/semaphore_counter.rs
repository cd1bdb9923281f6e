//! A semaphore looks at its permits and then takes one: two tasks can take the last.

use crate::shim::sync::Arc;
use crate::shim::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use crate::shim::thread;
use crate::tasks::join_all;

struct Semaphore {
    permits: AtomicUsize,
    inside: AtomicUsize,
}

impl Semaphore {
    fn try_acquire(&self) -> bool {
        let left = self.permits.load(SeqCst) > 0;
        if left {
            self.permits.fetch_sub(1, SeqCst);
        }
        left
    }

    fn visit(&self) {
        if self.try_acquire() {
            assert_eq!(self.inside.fetch_add(1, SeqCst), 0, "one permit, one task inside");
            self.inside.fetch_sub(1, SeqCst);
            self.permits.fetch_add(1, SeqCst);
        }
    }
}

pub(super) fn body() {
    let semaphore = Arc::new(Semaphore { permits: AtomicUsize::new(1), inside: AtomicUsize::new(0) });
    let visit = |semaphore: Arc<Semaphore>| thread::spawn(move || semaphore.visit());
    join_all(vec![visit(Arc::clone(&semaphore)), visit(Arc::clone(&semaphore))]);
}
