//! One task's initialization fails; the other task initializes even if it finds the once poisoned.

use crate::shim::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::shim::sync::{Arc, Once};
use crate::shim::thread;
use crate::tasks::join_all;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

struct Setting {
    once: Once,
    value: AtomicU32,
}

pub(super) fn body() {
    let setting = Arc::new(Setting { once: Once::new(), value: AtomicU32::new(0) });
    let failing = Arc::clone(&setting);
    let first = thread::spawn(move || {
        let attempt = || failing.once.call_once(|| resume_unwind(Box::new("no configuration")));
        // This task can do without.
        _ = catch_unwind(AssertUnwindSafe(attempt));
    });
    let other = Arc::clone(&setting);
    let second = thread::spawn(move || other.once.call_once_force(|_| other.value.store(1, SeqCst)));
    join_all(vec![first, second]);
    assert_eq!(setting.value.load(SeqCst), 1, "the second task sets it if the first has not");
}
