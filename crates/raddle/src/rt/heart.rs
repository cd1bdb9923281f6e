//! What a carrier shows of itself while a run goes on: that it is alive, and where its tasks are.

use raddle_model::{SiteId, TaskId};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// A sign of life, read by the thread that waits for the carrier.
#[derive(Default, Debug)]
pub(crate) struct Heart {
    /// Grows with every operation.
    beats: AtomicU64,
    /// Lines of the run before it that the run has done by rote: grows where an operation is no more than that.
    lines: AtomicUsize,
    /// Number of the run that is going on.
    pub(crate) run: AtomicU64,
    /// Task that is running.
    task: AtomicU32,
    /// Where each of the first tasks was last.
    sites: Sites,
    /// The same for the one of all others that was anywhere last: a task in the upper half and its site in the lower.
    beyond: AtomicU64,
}

#[derive(Debug)]
struct Sites([AtomicU32; 256]);

impl Default for Sites {
    fn default() -> Sites {
        Sites([const { AtomicU32::new(0) }; 256])
    }
}

impl Heart {
    /// Where a task is.
    #[inline(always)]
    pub(super) fn at(&self, task: TaskId, site: SiteId) {
        match self.sites.0.get(task.index()) {
            Some(place) => place.store(site.0, Ordering::Relaxed),
            None => self.beyond.store(u64::from(task.0) << 32 | u64::from(site.0), Ordering::Relaxed),
        }
    }

    /// Who is running.
    #[inline(always)]
    pub(super) fn goes_on(&self, task: TaskId) {
        self.task.store(task.0, Ordering::Relaxed);
    }

    /// A sign of life.
    #[inline(always)]
    pub(crate) fn beat(&self) {
        // Nobody else writes it, so this need not be one indivisible step.
        self.beats.store(self.beats.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// A sign of life of a run that has come so far by rote.
    #[inline(always)]
    pub(super) fn repeats(&self, lines: usize) {
        self.lines.store(lines, Ordering::Relaxed);
    }

    /// What changes with every sign of life.
    pub(super) fn pulse(&self) -> (u64, usize) {
        (self.beats.load(Ordering::Relaxed), self.lines.load(Ordering::Relaxed))
    }

    /// A sign of life, and where it is given.
    #[inline(always)]
    pub(super) fn beat_at(&self, task: TaskId, site: SiteId) {
        self.at(task, site);
        self.beat();
    }

    /// Who is running, and where it was last if that is known.
    pub(crate) fn running(&self) -> (TaskId, SiteId) {
        let task = TaskId(self.task.load(Ordering::Relaxed));
        if let Some(place) = self.sites.0.get(task.index()) {
            return (task, SiteId(place.load(Ordering::Relaxed)));
        }
        let last = self.beyond.load(Ordering::Relaxed);
        let known = last >> 32 == u64::from(task.0);
        (task, if known { SiteId(last as u32) } else { SiteId::UNKNOWN })
    }
}
