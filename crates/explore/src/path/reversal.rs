//! What must come before a step that is to be taken instead of an earlier one.

use super::accesses::Accesses;
use super::clocks::Lane;
use super::{Path, Pending, Stop};
use raddle_model::{Kind, Op};

/// The steps that a later one meets, the latest first, as far back as somebody has asked, while each of them is all that leads
/// to it: a task that writes what many others read races with each of them, and is to be taken without each of them in turn.
#[derive(Clone, Default, Debug)]
pub(crate) struct Chain {
    begun: bool,
    /// The step up to which it reaches, if it does.
    until: Option<usize>,
    /// None if it is no chain.
    later: Option<usize>,
    /// Number of the accesses to the object that have not been looked at.
    left: usize,
    /// The latest step that one of them comes after.
    before: usize,
    steps: Vec<usize>,
}

impl Chain {
    /// Whether somebody has asked since it ended.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Begins with what leads to a step.
    pub(crate) fn begin(&mut self, path: &Path, later: &Pending) {
        (self.begun, self.until) = (true, None);
        self.steps.clear();
        let simple = !later.op.second.is_some() && !path.knows_memory && later.op.kind != Kind::End;
        self.later = later.step.filter(|&step| simple && path.stops[step - 1].op.kind != Kind::End);
        let Some(step) = self.later else { return };
        let accesses = path.by_object.get(later.op.object.index());
        self.left = Accesses::before(accesses, &later.op, step).len();
        self.before = later.before.unwrap_or(0);
    }

    /// Nothing is known from now on.
    #[inline]
    pub(crate) fn end(&mut self) {
        (self.begun, self.until) = (false, None);
    }

    /// Whether it has all that is to come before the later step if that is taken without `earlier`.
    #[inline]
    pub(crate) fn reaches(&self, earlier: usize) -> bool {
        self.until == Some(earlier)
    }

    /// Those that were found.
    #[inline]
    pub(crate) fn steps(&self) -> &[usize] {
        &self.steps
    }

    /// Takes in those after `earlier`, which comes before all that was asked for so far. False if there are others that lead to the
    /// later step, or some of them depend on `earlier`.
    ///
    /// Each of them races with nobody: whatever happens before it does so before the last step of its task before it, and is not
    /// after that. So if all of these come before `earlier`, none of them depends on it, and nothing after it leads to any of them.
    pub(crate) fn take_in(&mut self, path: &Path, earlier: usize) -> bool {
        self.until = None;
        let Some(step) = self.later else { return false };
        let Stop { ref op, simple, .. } = path.stops[step];
        let Some(accesses) = path.by_object.get(op.object.index()) else { return false };
        for &met in accesses.held_against(op)[..self.left].iter().rev().take_while(|&&met| met > earlier) {
            self.left -= 1;
            let stop = &path.stops[met];
            let conflicts = simple && stop.simple || stop.op.conflicts(op);
            if !conflicts {
                continue;
            }
            if stop.races() {
                self.later = None;
                return false;
            }
            self.before = self.before.max(stop.before.get().unwrap_or(0));
            self.steps.push(met);
        }
        self.until = (self.before < earlier).then_some(earlier);
        self.reaches(earlier)
    }
}

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
        needed: &mut Vec<Lane>,
        steps: &mut Vec<usize>,
    ) {
        steps.clear();
        let end = self.end(later);
        let alone = later.op.kind != Kind::End && self.meets_only_dependents(earlier, &later.op, end);
        if alone && wakers.is_empty() && self.leads_by_itself(earlier, later, steps) {
            return;
        }
        if !alone && self.leads_simply(earlier, later, wakers, steps) {
            return;
        }
        steps.clear();
        needed.clear();
        later.before.into_iter().for_each(|step| self.need(needed, step));
        wakers.iter().for_each(|&step| self.need(needed, step));
        if later.op.kind == Kind::End {
            // Everything conflicts with it: the last steps of the tasks will not do, since those may depend on `earlier`.
            let independent = (earlier + 1..end).filter(|&step| !self.ordered(earlier, step));
            independent.for_each(|step| self.need(needed, step));
        } else if !alone {
            self.each_conflicting(&later.op, end, |path, step| {
                if step > earlier && !path.ordered(earlier, step) {
                    path.need(needed, step);
                }
                step > earlier
            });
        }
        for (own, &count) in self.by_task.iter().zip(needed.as_flattened()) {
            for &step in own[..count as usize].iter().rev() {
                if step <= earlier {
                    break;
                }
                if !self.ordered(earlier, step) {
                    steps.push(step);
                }
            }
        }
        steps.sort_unstable();
    }

    /// The same for one that meets nobody after `earlier`, if its own task's steps are all that leads there: none of them races with
    /// anybody. False, and nothing is known, if not.
    fn leads_by_itself(&self, earlier: usize, later: &Pending, steps: &mut Vec<usize>) -> bool {
        let mut before = later.before;
        while let Some(step) = before.filter(|&step| step > earlier) {
            let stop = &self.stops[step];
            if stop.task != later.task || stop.races() {
                return false;
            }
            steps.push(step);
            before = stop.before.get();
        }
        steps.reverse();
        true
    }

    /// The same if each of them is all that leads there after `earlier`, as it often is where many tasks read what one
    /// writes. False, and nothing is known, if not.
    fn leads_simply(
        &self,
        earlier: usize,
        later: &Pending,
        wakers: &[usize],
        steps: &mut Vec<usize>,
    ) -> bool {
        let is_simple = |step: usize| {
            let stop = &self.stops[step];
            !stop.races() && stop.before.get().is_none_or(|before| before <= earlier)
        };
        let (Some(step), false, false) = (later.step, later.op.second.is_some(), self.knows_memory) else {
            return false;
        };
        let ends = later.op.kind == Kind::End || self.stops[step - 1].op.kind == Kind::End;
        let Some(accesses) = self.by_object.get(later.op.object.index()).filter(|_| !ends) else {
            return false;
        };
        if later.before.is_some_and(|before| before > earlier)
            || !wakers.iter().all(|&waker| is_simple(waker))
        {
            return false;
        }
        for &met in Accesses::before(Some(accesses), &later.op, step).iter().rev() {
            if met <= earlier {
                break;
            }
            if self.stops[met].op.conflicts(&later.op) && !self.ordered(earlier, met) {
                if !is_simple(met) {
                    return false;
                }
                steps.push(met);
            }
        }
        steps.reverse();
        for &waker in wakers {
            if let Err(place) = steps.binary_search(&waker) {
                steps.insert(place, waker);
            }
        }
        true
    }

    /// Whether it is plain that all steps between `earlier` and `end` that `op` conflicts with depend on `earlier`.
    fn meets_only_dependents(&self, earlier: usize, op: &Op, end: usize) -> bool {
        let alone = !op.second.is_some() && self.stops[end - 1].op.kind != Kind::End;
        alone && self.rules(earlier, op.object)
    }

    /// A step is needed, and so is all that leads to it.
    #[inline]
    fn need(&self, needed: &mut Vec<Lane>, step: usize) {
        let stop = &self.stops[step];
        let is_needed = |stop: &Stop| {
            let known = needed.as_flattened().get(stop.task.index());
            known.is_some_and(|&steps| steps > stop.index)
        };
        if is_needed(stop) {
            return;
        }
        // Where nothing else leads to a step than the one before it, that one need not be looked at twice.
        let known = !stop.races() && stop.before.get().is_none_or(|before| is_needed(&self.stops[before]));
        match needed.as_flattened_mut().get_mut(stop.task.index()) {
            Some(own) if known => *own = stop.index + 1,
            _ => self.clocks.join_into(needed, stop.clock(), stop.task.index(), stop.index + 1),
        }
    }

    /// Whether one of the steps that came with this run, and does not depend on the step `earlier` before them, is such
    /// a one.
    pub(crate) fn any_new_beside(&self, earlier: usize, mut is: impl FnMut(usize) -> bool) -> bool {
        self.by_task.iter().any(|own| {
            // Few have any.
            if own.last().is_none_or(|&last| last < self.kept) {
                return false;
            }
            let new = own[own.partition_point(|&step| step < self.kept)..].iter();
            // What comes after one that depends on it does so, too.
            new.take_while(|&&step| !self.ordered(earlier, step)).any(|&step| is(step))
        })
    }
}
