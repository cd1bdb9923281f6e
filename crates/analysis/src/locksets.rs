//! Locksets: what protects each plainly accessed object.
//!
//! Follows Eraser (Savage et al. 1997) as rstest uses it (Stoller, RV 2002; DESIGN §8): while one
//! task has an object to itself it initializes it, and nothing is asked; from the second task's
//! first access on, the locks held at every access are kept, a read lock counting only for reads.
//! Accesses to what is unshared or protected need no scheduling point.
//!
//! Deviation: a hand-over by other means than a lock counts as unprotected; whether it races is
//! for [`crate::races`] to say. Across runs sites are what is kept, since ids mean nothing
//! there: a site is classified by the worst object that any run accessed there, and an object's
//! class belongs to all sites that access it.

use crate::held::Held;
use alloc::vec::Vec;
use raddle_model::{Analysis, Event, Kind, ObjectId, SiteId, TaskId, World};

/// What keeps the accesses to an object apart, the safest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// One task has it.
    Unshared,
    /// Not written since a second task has accessed it.
    ReadOnly,
    /// A common lock was held at every access since then.
    Protected,
    /// None of these.
    Unprotected,
}

/// What is known of an object in this run.
#[derive(Debug)]
struct Object {
    owner: Option<TaskId>,
    shared: bool,
    written: bool,
    locks: Vec<ObjectId>,
    sites: Vec<SiteId>,
}

impl Object {
    fn forget(&mut self) {
        self.owner = None;
        self.shared = false;
        self.written = false;
        self.locks.clear();
        self.sites.clear();
    }

    fn class(&self) -> Class {
        match (self.shared, self.written, self.locks.is_empty()) {
            (false, _, _) => Class::Unshared,
            (true, false, _) => Class::ReadOnly,
            (true, true, false) => Class::Protected,
            (true, true, true) => Class::Unprotected,
        }
    }
}

/// Classes of sites over any number of runs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SiteClasses {
    // Sorted by site.
    sites: Vec<(SiteId, Class)>,
}

impl SiteClasses {
    /// The class of a site at which some run accessed something.
    pub fn get(&self, site: SiteId) -> Option<Class> {
        let at = self.sites.binary_search_by_key(&site, |&(site, _)| site);
        at.ok().map(|at| self.sites[at].1)
    }

    /// All sites, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (SiteId, Class)> + '_ {
        self.sites.iter().copied()
    }

    /// Adds what other runs have shown. Says whether anything is worse now than it was: then what
    /// was left out on the strength of the old classes is to be done again.
    pub fn merge(&mut self, other: &SiteClasses) -> bool {
        let worse = other.iter().map(|(site, class)| self.add(site, class));
        worse.fold(false, |any, one| any | one)
    }

    fn add(&mut self, site: SiteId, class: Class) -> bool {
        match self.sites.binary_search_by_key(&site, |&(site, _)| site) {
            Ok(at) if self.sites[at].1 < class => {
                self.sites[at].1 = class;
                true
            }
            Ok(_) => false,
            Err(at) => {
                self.sites.insert(at, (site, class));
                class > Class::Unshared
            }
        }
    }
}

/// The classes of the run so far.
#[derive(Default, Debug)]
pub struct LockSets {
    held: Held,
    objects: Vec<Object>,
}

impl LockSets {
    /// The class of an object; `None` if nobody has accessed it plainly.
    pub fn class(&self, object: ObjectId) -> Option<Class> {
        let object = self.objects.get(object.index())?;
        object.owner.map(|_| object.class())
    }

    /// The locks that protect an object.
    pub fn locks(&self, object: ObjectId) -> &[ObjectId] {
        let object = self.objects.get(object.index());
        object.map_or(&[], |object| &object.locks)
    }

    /// The classes of this run's sites.
    pub fn sites(&self) -> SiteClasses {
        let mut classes = SiteClasses::default();
        for object in self.objects.iter().filter(|object| object.owner.is_some()) {
            for &site in &object.sites {
                classes.add(site, object.class());
            }
        }
        classes
    }

    fn access(&mut self, event: &Event) {
        let Event { task, op, .. } = *event;
        let place = op.object.index();
        while self.objects.len() <= place {
            self.objects.push(Object {
                owner: None,
                shared: false,
                written: false,
                locks: Vec::new(),
                sites: Vec::new(),
            });
        }
        let object = &mut self.objects[place];
        if !object.sites.contains(&op.site) {
            object.sites.push(op.site);
        }
        if *object.owner.get_or_insert(task) == task && !object.shared {
            return;
        }
        let write = op.kind == Kind::CellWrite;
        object.written |= write;
        let protecting = |lock: ObjectId| {
            let counts = |hold: &crate::held::Hold| hold.lock == lock && !(write && hold.shared);
            self.held.of(task).any(counts)
        };
        if object.shared {
            object.locks.retain(|&lock| protecting(lock));
        } else {
            object.shared = true;
            let held = self.held.of(task).map(|hold| hold.lock);
            object.locks.extend(held.filter(|&lock| protecting(lock)));
        }
    }
}

impl Analysis for LockSets {
    fn begin(&mut self) {
        self.held.begin();
        self.objects.iter_mut().for_each(Object::forget);
    }

    #[inline]
    fn event(&mut self, event: &Event, _: &World) {
        match event.op.kind {
            Kind::CellRead | Kind::CellWrite => self.access(event),
            _ => self.held.event(event),
        }
    }
}
