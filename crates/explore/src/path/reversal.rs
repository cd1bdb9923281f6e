//! What must come before a step that is to be taken instead of an earlier one.

use super::{Path, Pending};
use raddle_model::Kind;

impl Path {
    /// Writes into `steps` those after `earlier` that do not depend on it and lead to `later`, if that comes after all it
    /// conflicts with, or to one of `wakers`. `needed` is scratch memory.
    ///
    /// A run has many more steps than lead to one: they are found from their end, task by task.
    pub(crate) fn leads_to_reversal(
        &self,
        earlier: usize,
        later: &Pending,
        wakers: &[usize],
        needed: &mut Vec<u32>,
        steps: &mut Vec<usize>,
    ) {
        needed.clear();
        needed.extend_from_slice(self.clock_before(later));
        wakers.iter().for_each(|&step| join(needed, self.clock(step)));
        let end = self.end(later);
        if later.op.kind == Kind::End {
            let steps_before = |own: &Vec<usize>| own.partition_point(|&step| step < end) as u32;
            let all: Vec<u32> = self.by_task.iter().map(steps_before).collect();
            join(needed, &all);
        } else {
            self.each_conflicting(&later.op, end, |path, step| {
                if step > earlier && !path.ordered(earlier, step) {
                    join(needed, path.clock(step));
                }
                step > earlier
            });
        }
        steps.clear();
        for (own, &count) in self.by_task.iter().zip(&*needed) {
            let after = own[..count as usize].iter().rev().take_while(|&&step| step > earlier);
            // What comes after one that depends on it does so, too.
            steps.extend(after.skip_while(|&&step| self.ordered(earlier, step)));
        }
        steps.sort_unstable();
    }
}

fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
