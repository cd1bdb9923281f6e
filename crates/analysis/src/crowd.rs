//! Accesses that do not race with each other, such as reads: one entry while each is ordered after
//! the one before, one for each task once they are not.

use crate::clocks::{Clocks, Epoch};
use alloc::vec::Vec;
use raddle_model::{Event, SiteId};

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    /// Who, and when.
    pub(crate) epoch: Epoch,
    /// Where.
    pub(crate) site: SiteId,
    /// Which of the task's events.
    pub(crate) index: u32,
}

impl Access {
    /// None yet: before everything.
    pub(crate) const NEVER: Access = Access { epoch: Epoch::NEVER, site: SiteId::UNKNOWN, index: 0 };

    /// What an event does, in an epoch of its task.
    #[inline]
    pub(crate) fn new(event: &Event, epoch: Epoch) -> Access {
        Access { epoch, site: event.op.site, index: event.index }
    }

    /// The same task again, in the same epoch.
    #[inline]
    pub(crate) fn repeat(&mut self, event: &Event) {
        self.site = event.op.site;
        self.index = event.index;
    }
}

/// A few bytes for the common case, and a place in the [`Pool`] for the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    /// The only access, unless `many` says that there are more.
    pub(crate) one: Access,
    many: u32,
}

const ALONE: u32 = u32::MAX;

impl Crowd {
    /// Nobody.
    pub(crate) const EMPTY: Crowd = Crowd { one: Access::NEVER, many: ALONE };

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.one.epoch.time == 0
    }

    /// Whether there is one access, and it has this epoch.
    #[inline]
    pub(crate) fn is_only(&self, epoch: Epoch) -> bool {
        self.one.epoch == epoch && self.many == ALONE
    }
}

/// The entries of crowds of more than one, by task.
#[derive(Default, Debug)]
pub(crate) struct Pool {
    lists: Vec<Vec<Access>>,
    // invariant: lists from here on, and those in `free`, belong to nobody.
    used: usize,
    free: Vec<u32>,
}

impl Pool {
    /// Takes all lists back.
    pub(crate) fn begin(&mut self) {
        self.used = 0;
        self.free.clear();
    }

    /// How many entries to look at; some may be [`Access::NEVER`].
    #[inline]
    pub(crate) fn len(&self, crowd: Crowd) -> usize {
        match crowd.many {
            ALONE => 1,
            many => self.lists[many as usize].len(),
        }
    }

    /// An entry.
    #[inline]
    pub(crate) fn get(&self, crowd: Crowd, i: usize) -> Access {
        match crowd.many {
            ALONE => crowd.one,
            many => self.lists[many as usize][i],
        }
    }

    /// One more access. What is ordered before it is forgotten where that is cheap.
    #[inline]
    pub(crate) fn add(&mut self, crowd: &mut Crowd, access: Access, clocks: &Clocks) {
        if crowd.many == ALONE {
            if clocks.before(crowd.one.epoch, access.epoch.task) {
                crowd.one = access;
                return;
            }
            crowd.many = self.take();
            self.put(crowd.many, crowd.one);
        }
        self.put(crowd.many, access);
    }

    /// Nobody any more.
    #[inline]
    pub(crate) fn empty(&mut self, crowd: &mut Crowd) {
        if crowd.many != ALONE {
            self.free.push(crowd.many);
        }
        *crowd = Crowd::EMPTY;
    }

    fn take(&mut self) -> u32 {
        if let Some(list) = self.free.pop() {
            self.lists[list as usize].clear();
            return list;
        }
        let list = self.used;
        self.used += 1;
        match self.lists.get_mut(list) {
            Some(list) => list.clear(),
            None => self.lists.push(Vec::new()),
        }
        list as u32
    }

    fn put(&mut self, list: u32, access: Access) {
        let list = &mut self.lists[list as usize];
        let place = access.epoch.task.index();
        if place >= list.len() {
            list.resize(place + 1, Access::NEVER);
        }
        list[place] = access;
    }
}
