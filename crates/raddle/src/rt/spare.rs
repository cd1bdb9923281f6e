//! Stacks that a check has left to those after it: to have the system make and take back a few of them costs as much as
//! many short runs. Only memory is kept. The threads are not: what a program has put into the thread locals of std must be gone
//! when the next check begins.

use super::Run;
use corosensei::stack::DefaultStack;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stacks that are kept at most.
const SPARE_MAX: usize = 64;

static SPARE: Mutex<Vec<DefaultStack>> = Mutex::new(Vec::new());

fn spare() -> MutexGuard<'static, Vec<DefaultStack>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One that nobody uses, if there is one.
pub(super) fn take() -> Option<DefaultStack> {
    spare().pop()
}

impl Run {
    /// There will be no other run: others may use the stacks.
    pub(super) fn leave_stacks(&mut self) {
        let placed = self.fibers.iter_mut().filter_map(|fiber| fiber.context.take_stack());
        keep(placed.chain(self.stacks.drain(..)));
    }
}

fn keep(stacks: impl Iterator<Item = DefaultStack>) {
    // What is too much is given back to the system while nobody is kept waiting.
    let mut stacks: Vec<DefaultStack> = stacks.collect();
    let mut spare = spare();
    let room = SPARE_MAX.saturating_sub(spare.len()).min(stacks.len());
    spare.extend(stacks.drain(..room));
    drop(spare);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_kept_than_there_is_room_for() {
        let made = || DefaultStack::new(4096).expect("a small stack");
        keep((0..SPARE_MAX + 3).map(|_| made()));
        assert!(spare().len() <= SPARE_MAX);
        assert!(take().is_some());
    }
}
