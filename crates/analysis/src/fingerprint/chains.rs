//! The chain of each task's events so far. Those of the first tasks lie where the rest of the fingerprint does: at each
//! event one is looked up, and to find out first where they all are would take longer than the look.

use alloc::vec::Vec;
use raddle_model::TaskId;
use raddle_model::hash::Wide;

const FIRST: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Chains {
    first: [Wide; FIRST],
    rest: Vec<Wide>,
    count: usize,
}

impl Default for Chains {
    fn default() -> Chains {
        Chains { first: [Wide::ZERO; FIRST], rest: Vec::new(), count: 0 }
    }
}

impl Chains {
    pub(super) fn clear(&mut self) {
        self.rest.clear();
        self.count = 0;
    }

    /// That of the next task.
    #[inline]
    pub(super) fn push(&mut self, chain: Wide) {
        match self.first.get_mut(self.count) {
            Some(place) => *place = chain,
            None => self.rest.push(chain),
        }
        self.count += 1;
    }

    #[inline]
    pub(super) fn of(&mut self, task: TaskId) -> &mut Wide {
        let index = task.index();
        if index < FIRST { &mut self.first[index] } else { &mut self.rest[index - FIRST] }
    }

    /// Whether a task is one of the first.
    #[inline(always)]
    pub(super) fn is_first(task: TaskId) -> bool {
        task.index() < FIRST
    }

    /// That of one of the first tasks.
    #[inline(always)]
    pub(super) fn of_first(&mut self, task: TaskId) -> &mut Wide {
        debug_assert!(
            Chains::is_first(task),
            "raddle bug: a task that is none of the first is taken for one"
        );
        &mut self.first[task.index() % FIRST]
    }

    /// Becomes a copy of another, in the memory that is there.
    pub(super) fn copy_from(&mut self, other: &Chains) {
        let count = other.count.min(FIRST);
        self.first[..count].copy_from_slice(&other.first[..count]);
        self.rest.clone_from(&other.rest);
        self.count = other.count;
    }
}
