//! Subject `pipeline`: stages that hand numbers on through slots.
//!
//! | | paper (table 1) | here |
//! |---|---|---|
//! | threads | 8 | main, 6 stages and a listener |
//! | locks | not given | 7 monitors, one per slot, with waiting and notification |
//! | operations | 119 lines, not given | main starts the others, puts 0 and 1 into the first slot and stops the pipeline; a stage takes a number, adds one and puts it into the next slot |
//!
//! The paper prints no listing. The program of that name in the authors' repository (CalFuzzer,
//! `benchmarks/jpf_test_cases/pipeline`) has the 119 lines of table 1, and the structure and the numbers are taken from
//! it: a slot holds one number, and putting one in does not wait but replaces the one that is there; to stop is to put
//! 0, which a stage hands on before it ends. So the first 0 that main puts stops a stage as well, if the 1 does not
//! replace it in time. The original ends with main; here main joins the others.

use crate::monitor::Monitor;
use crate::shim::Shared;
use crate::shim::sync::Arc;
use crate::shim::thread;
use crate::tasks::join_all;

const STAGES: usize = 6;
const NUMBERS: usize = 2;
const STOP: usize = 0;

#[derive(Default)]
struct Slot {
    monitor: Monitor,
    number: Shared<Option<usize>>,
}

impl Slot {
    fn put(&self, number: usize) {
        let inside = self.monitor.enter();
        self.number.set(Some(number));
        inside.notify_all();
    }

    fn take(&self) -> usize {
        let mut inside = self.monitor.enter();
        inside.wait_while(|| self.number.get().is_none());
        let number = self.number.get().expect("it has just been seen");
        self.number.set(None);
        number
    }
}

/// The body of the subject.
pub fn subject() {
    let slots: Arc<[Slot; STAGES + 1]> = Arc::default();
    let tasks = (0..=STAGES)
        .map(|stage| {
            let slots = Arc::clone(&slots);
            thread::spawn(move || run(&slots[stage], slots.get(stage + 1)))
        })
        .collect();
    for number in 0..NUMBERS {
        slots[0].put(number);
    }
    slots[0].put(STOP);
    join_all(tasks);
}

/// A stage, or the listener, which has nobody to hand on to.
fn run(input: &Slot, output: Option<&Slot>) {
    loop {
        let number = input.take();
        if let Some(output) = output {
            output.put(if number == STOP { STOP } else { number + 1 });
        }
        if number == STOP {
            return;
        }
    }
}
