//! Subject `fig1`: the motivating example of the RAPOS paper (figure 1).
//!
//! | | paper | here |
//! |---|---|---|
//! | threads | 2 | 2, and main, which only starts and joins them |
//! | shared data | x and y, both 0 | two atomics, so that every access is a scheduling point |
//! | thread 1 | y=1; y=2; y=3; x=4 | the same: four stores |
//! | thread 2 | fails if x is 4 | the same: one load |
//!
//! Two partial orders, of which the failing one has one linearization of five.

use crate::shim::sync::Arc;
use crate::shim::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::shim::thread;
use crate::tasks::join_all;

/// The body of the subject: panics if thread 2 comes last.
pub fn subject() {
    let x = Arc::new(AtomicU32::new(0));
    let y = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&x);
    let first = thread::spawn(move || {
        y.store(1, SeqCst);
        y.store(2, SeqCst);
        y.store(3, SeqCst);
        x.store(4, SeqCst);
    });
    let second = thread::spawn(move || assert!(seen.load(SeqCst) != 4, "x is 4"));
    join_all(vec![first, second]);
}
