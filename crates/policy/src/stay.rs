//! `stay`: the quiet tail of systematic search and of shrinking. The task that ran last goes on;
//! if it cannot, or offers the processor, the next in turn does. Choices take their first value.

use alloc::boxed::Box;
use raddle_model::{Choice, Divergence, Kind, Op, Pick, Policy, TaskId, View};

/// Never preempts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stay;

impl Policy for Stay {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        Pick::Run(stay(view))
    }

    fn choose(&mut self, _: &Choice) -> Result<u32, Box<Divergence>> {
        Ok(0)
    }

    fn restart(&mut self, _: u64) {}
}

/// Who runs if nobody is preempted.
pub(crate) fn stay(view: &View<'_>) -> TaskId {
    let current = view.current.filter(|&task| view.enabled.contains(task));
    // One that offers the processor is taken at its word, or two tasks that yield to each other would
    // never end. Who has nothing left to do but exit does so: a schedule is easier to read.
    let goes_on = |op: &Op| op.kind == Kind::Exit || !op.offers_processor();
    let current = current.filter(|&task| goes_on(view.op(task)));
    current.or(next_after(view)).expect("raddle bug: nobody to pick")
}

/// The next enabled task in turn, so that those who offer the processor take turns.
fn next_after(view: &View<'_>) -> Option<TaskId> {
    let after = view.current.and_then(|current| view.enabled.iter().find(|&task| task > current));
    after.or(view.enabled.first())
}
