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
    pub(crate) entries: Vec<u32>,
    expected: Vec<u32>,
}

impl Check {
    /// Begins a run; `record` asks for entries even if there is nothing to compare with.
    pub(crate) fn begin(&mut self, record: bool, expected: &[u32]) {
        self.active = record || !expected.is_empty();
        self.hash = 0;
        self.events = 0;
        self.entries.clear();
        self.expected.clear();
        self.expected.extend_from_slice(expected);
    }

    #[inline]
    pub(crate) fn event(&mut self, event: &Event) -> Result<(), Box<Divergence>> {
        if self.active { self.add(event) } else { Ok(()) }
    }

    fn add(&mut self, event: &Event) -> Result<(), Box<Divergence>> {
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
            Some(expected) if expected != entry => Err(Box::new(Divergence {
                step: self.events,
                decision: 0,
                expected: format!(
                    "check {expected:08x} over events {} to {}",
                    self.events - CHECK_INTERVAL,
                    self.events
                ),
                found: format!("check {entry:08x}: other tasks or other operations ran in this interval"),
            })),
            _ => Ok(()),
        }
    }
}
