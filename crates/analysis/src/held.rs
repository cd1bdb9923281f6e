//! Which locks each task holds, where it took them, and which it takes or waits for at an event.
//!
//! A once that a task is initializing counts as a lock: others who enter it wait for that task.

use alloc::vec::Vec;
use raddle_model::{Event, Kind, Mode, ObjectId, Outcome, SiteId, TaskId};

/// A lock that a task holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hold {
    /// Which one.
    pub lock: ObjectId,
    /// Where it was taken.
    pub site: SiteId,
    /// Whether others may hold it too: a read lock.
    pub shared: bool,
    // How often the task has it, for recursive mutexes and repeated read locks.
    depth: u32,
    // A condvar wait has given it back, and takes it again as often.
    waiting: bool,
}

/// A lock that an event takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Which one.
    pub lock: ObjectId,
    /// Whether others may hold it too.
    pub shared: bool,
    /// Whether the task would have waited for it as long as it takes.
    pub blocking: bool,
    // Whether the task has it now: one who finds a once complete has nothing.
    kept: bool,
}

/// The locks of all tasks.
#[derive(Default, Debug)]
pub struct Held {
    // invariant: lists from `tasks` on are empty.
    holds: Vec<Vec<Hold>>,
    tasks: usize,
}

impl Held {
    /// Nobody holds anything.
    pub fn begin(&mut self) {
        self.holds[..self.tasks].iter_mut().for_each(Vec::clear);
        self.tasks = 0;
    }

    /// What a task holds, in the order in which it took it.
    #[inline]
    pub fn of(&self, task: TaskId) -> impl Iterator<Item = &Hold> {
        let holds = self.holds.get(task.index());
        holds.into_iter().flatten().filter(|hold| !hold.waiting)
    }

    /// The lock that an event takes, if it does. To be asked before [`Held::event`].
    pub fn taken(event: &Event) -> Option<Taken> {
        let Event { op, outcome, .. } = *event;
        let (lock, shared, kept) = match (op.kind, outcome) {
            (Kind::Lock | Kind::WriteLock, Outcome::Done) => (op.object, false, true),
            (Kind::ReadLock, Outcome::Done) => (op.object, true, true),
            (Kind::Wake, _) => (op.second, false, true),
            (Kind::OnceEnter, Outcome::Value(found)) => (op.object, false, found == 0),
            _ => return None,
        };
        // A timed wait gives up waiting for its notification, but never for its mutex.
        let blocking = op.mode == Mode::Block || op.kind == Kind::Wake;
        Some(Taken { lock, shared, blocking, kept })
    }

    /// Takes one event.
    #[inline]
    pub fn event(&mut self, event: &Event) {
        let Event { task, op, .. } = *event;
        match op.kind {
            Kind::Lock | Kind::WriteLock | Kind::ReadLock | Kind::Wake | Kind::OnceEnter => {
                if let Some(taken) = Held::taken(event)
                    && taken.kept
                {
                    self.take(task, taken, op.site);
                }
            }
            Kind::Unlock | Kind::WriteUnlock | Kind::OnceDone => {
                self.give(task, op.object);
            }
            Kind::ReadUnlock => {
                // A guard may be dropped by another task than the one that made it.
                let given = self.give(task, op.object);
                if !given {
                    let mut others = (0..self.tasks as u32).map(TaskId);
                    others.find(|&other| self.give(other, op.object));
                }
            }
            Kind::Downgrade => {
                if let Some(hold) = self.find(task, op.object) {
                    hold.shared = true;
                }
            }
            Kind::Wait => {
                if let Some(hold) = self.find(task, op.second) {
                    hold.waiting = true;
                }
            }
            _ => {}
        }
    }

    fn find(&mut self, task: TaskId, lock: ObjectId) -> Option<&mut Hold> {
        let holds = self.holds.get_mut(task.index())?;
        holds.iter_mut().find(|hold| hold.lock == lock)
    }

    fn take(&mut self, task: TaskId, taken: Taken, site: SiteId) {
        if let Some(hold) = self.find(task, taken.lock) {
            hold.depth += u32::from(!hold.waiting);
            if hold.waiting {
                hold.waiting = false;
                hold.site = site;
            }
            return;
        }
        self.tasks = self.tasks.max(task.index() + 1);
        if self.holds.len() < self.tasks {
            self.holds.resize_with(self.tasks, Vec::new);
        }
        self.holds[task.index()].push(Hold {
            lock: taken.lock,
            site,
            shared: taken.shared,
            depth: 1,
            waiting: false,
        });
    }

    fn give(&mut self, task: TaskId, lock: ObjectId) -> bool {
        let Some(holds) = self.holds.get_mut(task.index()) else {
            return false;
        };
        let Some(at) = holds.iter().position(|hold| hold.lock == lock) else {
            return false;
        };
        holds[at].depth -= 1;
        if holds[at].depth == 0 {
            holds.remove(at);
        }
        true
    }
}
