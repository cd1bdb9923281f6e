//! The rolling check of a schedule: replacing one enabled task by another gives a valid other run,
//! which only a check over what happened can tell from the recorded one.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use raddle_model::hash;
use raddle_model::plan::CHECK_INTERVAL;
use raddle_model::{Divergence, Event};

/// Records a check for each interval of events, and compares it with the recorded ones.
#[derive(Default, Debug)]
pub(crate) struct Check {
    active: bool,
    hash: u64,
    events: u64,
    entries: Vec<u32>,
    expected: Vec<u32>,
}

impl Check {
    /// Begins a run; `record` asks for entries even if there is nothing to compare with.
    pub(crate) fn begin(&mut self, record: bool, expected: &[u32]) {
        let before = self.active;
        self.active = record || !expected.is_empty();
        if !before && !self.active {
            return;
        }
        self.hash = 0;
        self.events = 0;
        self.entries.clear();
        self.expected.clear();
        self.expected.extend_from_slice(expected);
    }

    /// Whether events are recorded or compared.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    #[inline]
    pub(crate) fn event(&mut self, event: &Event) -> Result<(), Box<Divergence>> {
        if self.active { self.add(*event) } else { Ok(()) }
    }

    #[cold]
    fn add(&mut self, event: Event) -> Result<(), Box<Divergence>> {
        let word = u64::from(event.task.0) << 40 | (event.op.kind as u64) << 32 | u64::from(event.index);
        self.hash = hash::mix(self.hash, word);
        self.events += 1;
        if !self.events.is_multiple_of(CHECK_INTERVAL) {
            return Ok(());
        }
        let entry = self.hash as u32;
        let expected = self.expected.get(self.entries.len()).copied();
        self.entries.push(entry);
        match expected {
            Some(expected) if expected != entry => Err(self.differs(expected, entry)),
            _ => Ok(()),
        }
    }

    /// The entries so far, with one for the events since the last.
    pub(crate) fn entries(&self) -> Vec<u32> {
        let mut entries = self.entries.clone();
        if self.active && !self.events.is_multiple_of(CHECK_INTERVAL) {
            entries.push(self.hash as u32);
        }
        entries
    }

    /// The run that was to be repeated is over: compares what is left, so that not even the order
    /// of the last few events can differ unseen.
    pub(crate) fn close(&self) -> Result<(), Box<Divergence>> {
        if self.expected.is_empty() {
            return Ok(());
        }
        let entries = self.entries();
        if entries.len() != self.expected.len() {
            return Err(Box::new(Divergence {
                step: self.events,
                decision: 0,
                expected: format!("a run of {} checks", self.expected.len()),
                found: format!("the end of the run after {}", entries.len()),
            }));
        }
        match (self.expected.last(), entries.last()) {
            (Some(&expected), Some(&entry)) if expected != entry => Err(self.differs(expected, entry)),
            _ => Ok(()),
        }
    }

    fn differs(&self, expected: u32, entry: u32) -> Box<Divergence> {
        let begin = self.events.saturating_sub(1) / CHECK_INTERVAL * CHECK_INTERVAL;
        Box::new(Divergence {
            step: self.events,
            decision: 0,
            expected: format!("check {expected:08x} over events {begin} to {}", self.events),
            found: format!("check {entry:08x}: other tasks or other operations ran in this interval"),
        })
    }
}
