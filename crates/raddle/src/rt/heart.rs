//! What a carrier shows of itself while a run goes on: that it is alive, and where its tasks are.

use raddle_model::{SiteId, TaskId};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// A sign of life, read by the thread that waits for the carrier.
// What every event writes comes first, and lies side by side.
#[derive(Default, Debug)]
#[repr(C, align(64))]
pub(crate) struct Heart {
    /// Grows with every event, and wherever else it shall be seen that the carrier lives.
    beats: AtomicU64,
    /// The task that is running, and where it was last.
    task: AtomicU32,
    site: AtomicU32,
    /// Lines of the run before it that the run has done by rote: grows where an operation is no more than that.
    lines: AtomicUsize,
    /// Number of the run that is going on.
    pub(crate) run: AtomicU64,
    /// Where each of the first tasks was last, in runs that are led by another: in all others events tell it.
    sites: Sites,
}

#[derive(Debug)]
struct Sites([AtomicU32; 256]);

impl Default for Sites {
    fn default() -> Sites {
        Sites([const { AtomicU32::new(0) }; 256])
    }
}

impl Heart {
    /// Where a task is that is led.
    #[inline(always)]
    pub(super) fn at(&self, task: TaskId, site: SiteId) {
        if let Some(place) = self.sites.0.get(task.index()) {
            place.store(site.0, Ordering::Relaxed);
        }
    }

    /// Where it was last.
    pub(super) fn last_of(&self, task: TaskId) -> SiteId {
        self.sites.0.get(task.index()).map_or(SiteId::UNKNOWN, |place| SiteId(place.load(Ordering::Relaxed)))
    }

    /// Who goes on, and from where: a sign of life.
    #[inline(always)]
    pub(super) fn goes_on(&self, task: TaskId, site: SiteId) {
        self.task.store(task.0, Ordering::Relaxed);
        self.site.store(site.0, Ordering::Relaxed);
        self.beat();
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

    /// Who is running, and where it was last if that is known.
    pub(crate) fn running(&self) -> (TaskId, SiteId) {
        (TaskId(self.task.load(Ordering::Relaxed)), SiteId(self.site.load(Ordering::Relaxed)))
    }
}
