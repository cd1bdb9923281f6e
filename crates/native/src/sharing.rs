//! What is shared: memory that more than one task has accessed in this run. Where accesses to it stand become
//! scheduling points of later plans (`--points shared`), all of them, since sharedness belongs to the location: what one
//! run takes for unshared and another shows to be shared is put right in the next.
//!
//! What was accessed before there was a second task does not count: nobody could have come in between.

use crate::objects::{ByAddress, WORD};
use crate::shadow::Access;
use alloc::vec::Vec;
use raddle_model::{SiteId, TaskId};

#[derive(Debug)]
struct Word {
    owner: TaskId,
    shared: bool,
    sites: Vec<SiteId>,
}

/// The memory of a run, word by word.
#[derive(Default, Debug)]
pub struct Sharing {
    words: ByAddress<Word>,
    // Sorted.
    found: Vec<SiteId>,
}

impl Sharing {
    /// A plain access.
    pub fn access(&mut self, access: &Access) {
        let first = access.address / WORD;
        let last = (access.address + access.size.max(1) - 1) / WORD;
        for word in first..=last {
            let new = || Word { owner: access.task, shared: false, sites: Vec::new() };
            let entry = self.words.entry(word).or_insert_with(new);
            entry.shared |= entry.owner != access.task;
            if !entry.sites.contains(&access.site) {
                entry.sites.push(access.site);
            }
            if entry.shared {
                for site in entry.sites.drain(..) {
                    if let Err(at) = self.found.binary_search(&site) {
                        self.found.insert(at, site);
                    }
                }
            }
        }
    }

    /// Where accesses stand to what turned out to be shared.
    pub fn sites(&self) -> &[SiteId] {
        &self.found
    }
}
