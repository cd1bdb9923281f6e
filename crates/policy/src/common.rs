//! What all recorded runs of a campaign have in common, for the plans of [`crate::walks`].
//!
//! How often a task contends for an object can hang on what others did before: who goes through a list takes as many steps as
//! the list is long. What one run has shown of that need not come in the next. Others would wait for it in vain, or give it a
//! weight when they draw who is next. So this keeps of each task what it has begun with in all runs. A run that ended early
//! counts as far as it came: it shows that the rest may not come.

use alloc::vec::Vec;
use raddle_model::SiteId;
use raddle_model::plan::{Contended, TaskWeight, Weights};

/// For each task, by its stable name, how it contended in all runs so far, from its beginning on.
#[derive(Clone, Debug, Default)]
pub struct Common {
    // Sorted by name.
    tasks: Vec<(u64, Vec<(SiteId, bool)>)>,
}

impl Common {
    /// One run more: what of all that was learned from it every other has shown, too, in the same place.
    pub fn keep(&mut self, learned: &Weights) -> Weights {
        let mut kept = Weights { length: learned.length, tasks: Vec::new() };
        for task in &learned.tasks {
            let accesses = self.compare(task);
            if !accesses.is_empty() {
                kept.tasks.push(TaskWeight { name: task.name, accesses: accesses.to_vec() });
            }
        }
        kept
    }

    fn compare<'a>(&mut self, task: &'a TaskWeight) -> &'a [Contended] {
        match self.tasks.binary_search_by_key(&task.name, |(name, _)| *name) {
            Ok(at) => {
                let common = &mut self.tasks[at].1;
                let both = common.iter().zip(&task.accesses);
                let kept = both.take_while(|(ours, theirs)| **ours == what(theirs)).count();
                common.truncate(kept);
                &task.accesses[..kept]
            }
            Err(at) => {
                self.tasks.insert(at, (task.name, task.accesses.iter().map(what).collect()));
                &task.accesses
            }
        }
    }

    /// Other accesses are scheduling points from now on: nothing can be compared with what was.
    pub fn clear(&mut self) {
        self.tasks.clear();
    }
}

/// By what an access is known again. Not its object: those are numbered anew in every run.
fn what(access: &Contended) -> (SiteId, bool) {
    (access.site, access.write)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A task of this name that writes at these sites.
    fn task(name: u64, sites: &[u32]) -> TaskWeight {
        let access = |(index, &site): (usize, &u32)| Contended {
            index: index as u32,
            site: SiteId(site),
            object: 0,
            write: true,
        };
        TaskWeight { name, accesses: sites.iter().enumerate().map(access).collect() }
    }

    fn kept(common: &mut Common, tasks: &[TaskWeight]) -> Vec<TaskWeight> {
        common.keep(&Weights { length: 0, tasks: tasks.to_vec() }).tasks
    }

    #[test]
    fn what_differs_and_what_comes_after_it_is_left_out() {
        let mut common = Common::default();
        let first = [task(1, &[10, 11, 11, 12]), task(2, &[20])];
        assert_eq!(kept(&mut common, &first), first);
        assert_eq!(
            kept(&mut common, &[task(1, &[10, 11, 12]), task(2, &[20, 21])]),
            [task(1, &[10, 11]), task(2, &[20])]
        );
        // The third run is like the first, which no longer helps; and nothing is left of a task that begins otherwise.
        assert_eq!(kept(&mut common, &[task(1, &[10, 11, 11, 12]), task(2, &[22])]), [task(1, &[10, 11])]);
        common.clear();
        assert_eq!(kept(&mut common, &first), first);
    }

    #[test]
    fn a_task_that_a_run_has_not_had_is_still_known() {
        let mut common = Common::default();
        kept(&mut common, &[task(1, &[10]), task(3, &[30, 31])]);
        kept(&mut common, &[task(1, &[10]), task(2, &[20])]);
        assert_eq!(
            kept(&mut common, &[task(2, &[20, 21]), task(3, &[30, 32])]),
            [task(2, &[20]), task(3, &[30])]
        );
    }
}
