//! Two tasks add to a plain field with nothing between them.

use crate::shim::Shared;
use crate::shim::sync::Arc;
use crate::shim::thread;
use crate::tasks::join_all;

pub(super) fn body() {
    let counter = Arc::new(Shared::new(0));
    let add = |counter: Arc<Shared<u32>>| thread::spawn(move || counter.update(|count| count + 1));
    join_all(vec![add(Arc::clone(&counter)), add(Arc::clone(&counter))]);
    // No assertion on the value: the race is the bug.
    assert!(counter.get() > 0);
}
