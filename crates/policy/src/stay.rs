//! `stay`: the quiet tail of systematic search and of shrinking. The task that ran last goes on;
//! if it cannot, or offers the processor, the next in turn does. Choices take their first value.

use alloc::boxed::Box;
use alloc::vec::Vec;
use raddle_model::{Choice, Dice, Divergence, Kind, Op, Pick, Policy, Rng, TaskId, View};

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

    fn can_reseed(&self) -> bool {
        true
    }

    /// There is no seed.
    fn reseed(&mut self, _: u64) {}
}

/// Who runs if nobody is preempted.
pub(crate) fn stay(view: &View<'_>) -> TaskId {
    goes_on(view).or(next_after(view)).expect("raddle bug: nobody to pick")
}

/// The same with any enabled task for the next in turn. Nothing has kept main from going on at the start.
pub(crate) fn stay_or_any(view: &View<'_>, dice: &mut Rng) -> TaskId {
    let any = |dice: &mut Rng| {
        let others = view.enabled.iter().filter(|&task| Some(task) != view.current);
        let others: Vec<TaskId> = others.collect();
        let able = if others.is_empty() { view.enabled.iter().collect() } else { others };
        able[dice.below(able.len() as u32) as usize]
    };
    let main = view.enabled.first().filter(|_| view.current.is_none());
    goes_on(view).or(main).unwrap_or_else(|| any(dice))
}

/// The task that ran last, if it can go on and does not offer the processor.
fn goes_on(view: &View<'_>) -> Option<TaskId> {
    let current = view.current.filter(|&task| view.enabled.contains(task));
    // One that offers the processor is taken at its word, or two tasks that yield to each other would
    // never end. Who has nothing left to do but exit does so: a schedule is easier to read.
    let goes_on = |op: &Op| op.kind == Kind::Exit || !op.offers_processor();
    current.filter(|&task| goes_on(view.op(task)))
}

/// The next enabled task in turn, so that those who offer the processor take turns.
fn next_after(view: &View<'_>) -> Option<TaskId> {
    let after = view.current.and_then(|current| view.enabled.iter().find(|&task| task > current));
    after.or(view.enabled.first())
}
