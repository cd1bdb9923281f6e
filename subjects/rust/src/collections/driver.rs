//! The test driver of §5.1 of the RAPOS paper: two empty objects, seven threads, one method each.
//!
//! | thread | paper | here |
//! |---|---|---|
//! | 0 | `al1.add(o)` | the same |
//! | 1 | `al2.addAll(al1)` | the same |
//! | 2 | `al1.clear()` | the same |
//! | 3 | `al2.contains(o)` | the same |
//! | 4 | `al1.containsAll(al2)` | the same |
//! | 5 | `al2.remove(o)` | the same |
//! | 6 | `al1.removeAll(al2)` | the same |
//!
//! The paper draws the number in each `o` from 0..3 anew in every run. Here it is fixed for each thread ([`VALUES`]),
//! so that a run depends on its schedule only. What thread 0 adds is what thread 5 removes: otherwise `remove` would
//! never modify a list, and one of the two ways into the exception would be closed.
//!
//! Nothing is added to the listing. Spawning is no scheduling point in Raddle unless it is asked for; then all seven
//! threads stand at their first lock operation before any of them runs. In the paper's tool it was one (`docs/rapos.md`),
//! and then the order in which main starts the threads matters: [`drive_backwards`] has the opposite one.

use super::{Collection, Value};
use crate::shim::sync::Arc;
use crate::shim::thread;
use crate::tasks::join_all;

/// The element that each thread passes to its method.
pub const VALUES: [Value; 7] = [1, 0, 2, 1, 0, 1, 2];

/// Runs the driver on two collections made by `make`. Panics with what a thread panicked with.
pub fn drive<C: Collection + Send + Sync + 'static>(make: impl Fn() -> C) {
    start(make, 0..VALUES.len());
}

/// The same with the threads started in the opposite order.
pub fn drive_backwards<C: Collection + Send + Sync + 'static>(make: impl Fn() -> C) {
    start(make, (0..VALUES.len()).rev());
}

fn start<C: Collection + Send + Sync + 'static>(make: impl Fn() -> C, cases: impl Iterator<Item = usize>) {
    let al1 = Arc::new(make());
    let al2 = Arc::new(make());
    let tasks = cases
        .map(|case| {
            let (this, other) = if case % 2 == 0 { (&al1, &al2) } else { (&al2, &al1) };
            let (this, other) = (Arc::clone(this), Arc::clone(other));
            thread::spawn(move || call(&*this, &*other, case))
        })
        .collect();
    join_all(tasks);
}

fn call<C: Collection>(this: &C, other: &C, case: usize) {
    let value = VALUES[case];
    match case {
        0 => _ = this.add(value),
        1 => _ = this.add_all(other),
        2 => this.clear(),
        3 => _ = this.contains(value),
        4 => _ = this.contains_all(other),
        5 => _ = this.remove(value),
        _ => _ = this.remove_all(other),
    }
}
