//! What wakes a sleeper: the first step that it meets, looked up by its task and its object.

use super::accesses::Accesses;
use super::{Path, Stop};
use crate::odpor::STABLE;
use raddle_model::{Access, Kind, Op};

impl Path {
    /// Whether [`Path::first_met`] can be asked about an operation with ids that mean the same in all runs.
    #[inline]
    pub(crate) fn can_look_up(&self, op: &Op) -> bool {
        let runs_alike = op.object.0 < STABLE || !op.object.is_some();
        let listed = self.knows_memory || !op.is_wide();
        listed && runs_alike && !op.second.is_some() && op.kind != Kind::End
    }

    /// Whether nothing that comes after `earlier`, in this run or in another that has come as far, can meet what a task was
    /// about to do there: whatever is done to its object depends on `earlier`, its own operation included.
    #[inline]
    pub(crate) fn shields(&self, earlier: usize, op: &Op) -> bool {
        op.object.is_some() && self.can_look_up(op) && self.rules(earlier, op.object)
    }

    /// The first step after `earlier` that does not depend on it, and is one of the task with this name or conflicts
    /// with what that does.
    pub(crate) fn first_met(&self, name: u64, op: &Op, earlier: usize) -> Option<usize> {
        let after = |steps: &[usize]| up_to(steps, earlier);
        let independent = |step: &usize| !self.ordered(earlier, *step);
        let own = self.task(name).and_then(|task| {
            let steps = &self.by_task[task.index()];
            // What comes after one that depends on it does so, too.
            steps.get(after(steps)).copied().filter(independent)
        });
        let met = op.object.is_some() && !self.rules(earlier, op.object);
        let accesses = if met { self.by_object.get(op.object.index()) } else { None };
        let conflicting = |accesses: &Accesses| {
            let steps = if op.access() == Access::Read { &accesses.writes } else { &accesses.all };
            let before_own =
                steps[after(steps)..].iter().take_while(|&&step| own.is_none_or(|own| step < own));
            before_own.copied().filter(independent).find(|&step| self.stops[step].op.conflicts(op))
        };
        let met = accesses.and_then(conflicting);
        if !self.knows_memory {
            return met.or(own);
        }
        met.into_iter().chain(self.anywhere(op).and_then(conflicting)).min().or(own)
    }

    /// Whether a simple operation meets nobody but those on its object: see [`is_simple`](super::is_simple).
    #[inline]
    pub(crate) fn has_simple_ones(&self) -> bool {
        !self.knows_memory
    }

    /// The same as [`Path::first_met`] for a simple operation whose object `earlier` does not write all of.
    pub(crate) fn first_met_simply(&self, name: u64, op: &Op, earlier: usize) -> Option<usize> {
        let after = |steps: &[usize]| up_to(steps, earlier);
        let own = self.task(name).and_then(|task| {
            let steps = &self.by_task[task.index()];
            steps.get(after(steps)).copied().filter(|&step| !self.ordered(earlier, step))
        });
        let Some(accesses) = self.by_object.get(op.object.index()) else { return own };
        let steps = accesses.held_against(op);
        let Stop { simple, place, op: ref other, .. } = self.stops[earlier];
        // Mostly it is among those itself.
        let listed = simple && other.object == op.object && op.access() == Access::Write;
        let from = if listed { place as usize + 1 } else { after(steps) };
        for &step in &steps[from..] {
            if own.is_some_and(|own| own <= step) {
                break;
            }
            let stop = &self.stops[step];
            if (stop.simple || conflicts(&stop.op, op)) && !self.ordered(earlier, step) {
                return Some(step);
            }
        }
        own
    }
}

/// What is hardly ever asked is not made ready for.
#[cold]
fn conflicts(one: &Op, other: &Op) -> bool {
    one.conflicts(other)
}

/// Number of steps of a list that are not after `earlier`. Searches mostly ask for what was not long ago.
#[inline]
fn up_to(steps: &[usize], earlier: usize) -> usize {
    let mut end = steps.len();
    for &step in steps.iter().rev().take(NEAR) {
        if step <= earlier {
            return end;
        }
        end -= 1;
    }
    steps[..end].partition_point(|&step| step <= earlier)
}

/// Steps that are looked at one by one.
const NEAR: usize = 8;
