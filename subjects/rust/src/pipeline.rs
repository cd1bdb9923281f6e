//! Subject `pipeline`: stages that hand numbers on through slots.
//!
//! | | paper (table 1) | here |
//! |---|---|---|
//! | threads | 8 | a source, 6 stages and a sink; main starts and joins them |
//! | locks | not given | 7 monitors, one per slot, with waiting and notification |
//! | operations | not given | 2 numbers go through; a stage takes a number, adds one and puts it into the next slot |
//!
//! Assumed: a slot holds one number; `put` waits while it is full, `take` while it is empty. What comes out is always
//! the same: partial orders differ only in who had to wait.

use crate::monitor::Monitor;
use crate::shim::Shared;
use crate::shim::sync::Arc;
use crate::shim::thread;
use crate::tasks::join_all;

const TASKS: usize = 8;
const SLOTS: usize = TASKS - 1;
const NUMBERS: usize = 2;

#[derive(Default)]
struct Slot {
    monitor: Monitor,
    number: Shared<Option<usize>>,
}

impl Slot {
    fn put(&self, number: usize) {
        let mut inside = self.monitor.enter();
        inside.wait_while(|| self.number.get().is_some());
        self.number.set(Some(number));
        inside.notify_all();
    }

    fn take(&self) -> usize {
        let mut inside = self.monitor.enter();
        inside.wait_while(|| self.number.get().is_none());
        let number = self.number.get().expect("it has just been seen");
        self.number.set(None);
        inside.notify_all();
        number
    }
}

/// The body of the subject: the sink gets each number with one added by each stage.
pub fn subject() {
    let slots: Arc<[Slot; SLOTS]> = Arc::default();
    let tasks = (0..TASKS)
        .map(|task| {
            let slots = Arc::clone(&slots);
            thread::spawn(move || run(&slots, task))
        })
        .collect();
    join_all(tasks);
}

fn run(slots: &[Slot; SLOTS], task: usize) {
    for number in 0..NUMBERS {
        let taken = match task {
            0 => number,
            _ => slots[task - 1].take() + 1,
        };
        match slots.get(task) {
            Some(slot) => slot.put(taken),
            None => assert_eq!(taken, number + SLOTS, "each stage adds one"),
        }
    }
}
