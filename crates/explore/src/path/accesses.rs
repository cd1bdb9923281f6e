//! The steps of a run that access an object, in their order: a stack, as everything that is kept from run to run.

use raddle_model::{Access, Op};

/// The steps on an object, and those of them that write.
#[derive(Clone, Default, Debug)]
pub(super) struct Accesses {
    pub(super) all: Vec<usize>,
    pub(super) writes: Vec<usize>,
}

impl Accesses {
    /// Those that `op` must be held against, if it comes after all of them.
    #[inline]
    pub(super) fn held_against(&self, op: &Op) -> &[usize] {
        if op.access() == Access::Read { &self.writes } else { &self.all }
    }

    /// Those before the step `number` that `op` must be held against.
    pub(super) fn before<'a>(accesses: Option<&'a Accesses>, op: &Op, number: usize) -> &'a [usize] {
        let Some(accesses) = accesses else { return &[] };
        let steps = accesses.held_against(op);
        match steps.last() {
            Some(&last) if last >= number => &steps[..steps.partition_point(|&step| step < number)],
            _ => steps,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, step: usize, writes: bool) {
        self.all.push(step);
        if writes {
            self.writes.push(step);
        }
    }

    #[inline]
    pub(super) fn pop(&mut self, writes: bool) {
        self.all.pop();
        if writes {
            self.writes.pop();
        }
    }

    /// Takes out those from the step `keep` on.
    #[inline]
    pub(super) fn cut(&mut self, keep: usize) {
        cut(&mut self.all, keep);
        cut(&mut self.writes, keep);
    }
}

/// Takes the steps from `keep` on out of a list.
#[inline]
pub(super) fn cut(steps: &mut Vec<usize>, keep: usize) {
    if steps.last().is_some_and(|&last| last >= keep) {
        steps.truncate(steps.partition_point(|&step| step < keep));
    }
}
