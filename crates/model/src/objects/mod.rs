//! What tasks can conflict on, one file for each kind. An object knows its own state and rules;
//! [`crate::world::World`] routes operations to it and keeps track of who can run.

pub mod barrier;
pub mod channel;
pub mod condvar;
pub mod mutex;
pub mod once;
pub mod rwlock;
pub mod semaphore;

use crate::ids::{SiteId, TaskId};
use crate::taskset::TaskSet;

/// The state of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// A task, as something to join.
    Task {
        /// Which one.
        task: TaskId,
        /// Whether it has exited.
        exited: bool,
    },
    /// A task's park token. The flag says that it is there.
    Token(bool),
    /// A mutex.
    Mutex(mutex::Mutex),
    /// A readers-writer lock.
    RwLock(rwlock::RwLock),
    /// A condition variable.
    Condvar(condvar::Condvar),
    /// A semaphore.
    Semaphore(semaphore::Semaphore),
    /// A barrier.
    Barrier(barrier::Barrier),
    /// A once.
    Once(once::Once),
    /// A channel.
    Channel(channel::Channel),
    /// An atomic. Its value lives in the program's own memory.
    Atomic,
    /// Plain memory. Its value lives in the program's own memory.
    Cell,
    /// What the kernel keeps for the program, and what people call that.
    Kernel(&'static str),
}

impl State {
    /// What people call it.
    pub fn noun(&self) -> &'static str {
        match self {
            State::Task { .. } => "task",
            State::Token(_) => "park token",
            State::Mutex(_) => "mutex",
            State::RwLock(_) => "rwlock",
            State::Condvar(_) => "condvar",
            State::Semaphore(_) => "semaphore",
            State::Barrier(_) => "barrier",
            State::Once(_) => "once",
            State::Channel(_) => "channel",
            State::Atomic => "atomic",
            State::Cell => "cell",
            State::Kernel(noun) => noun,
        }
    }
}

/// An object with those who wait for it.
#[derive(PartialEq, Eq, Debug)]
pub struct Object {
    /// Its state.
    pub state: State,
    /// Tasks whose pending operation may have to wait for this object. For two-sided objects the
    /// readers or receivers.
    pub waiting: TaskSet,
    /// The other side: writers, senders.
    pub waiting_other: TaskSet,
    /// Number of changes so far: equal numbers mean that a reader reads the same.
    pub version: u32,
    /// Where it was first used.
    pub site: SiteId,
}

impl Clone for Object {
    fn clone(&self) -> Object {
        let Object { state, waiting, waiting_other, version, site } = self;
        let (state, waiting, waiting_other) = (state.clone(), waiting.clone(), waiting_other.clone());
        Object { state, waiting, waiting_other, version: *version, site: *site }
    }

    /// In the memory that is there: searches copy whole worlds, in which most objects are one of a few kinds.
    #[inline]
    fn clone_from(&mut self, other: &Object) {
        let Object { state, waiting, waiting_other, version, site } = other;
        match (&mut self.state, state) {
            (State::Mutex(mine), State::Mutex(theirs)) => mine.clone_from(theirs),
            (State::Task { task: mine, exited }, State::Task { task, exited: theirs }) => {
                (*mine, *exited) = (*task, *theirs);
            }
            (State::Atomic, State::Atomic) | (State::Cell, State::Cell) => {}
            (mine, theirs) => mine.clone_from(theirs),
        }
        self.waiting.clone_from(waiting);
        self.waiting_other.clone_from(waiting_other);
        (self.version, self.site) = (*version, *site);
    }
}

impl Object {
    /// One that nobody has used, and that is nothing yet.
    pub(crate) const NEW: Object = Object {
        state: State::Cell,
        waiting: TaskSet::EMPTY,
        waiting_other: TaskSet::EMPTY,
        version: 0,
        site: SiteId::UNKNOWN,
    };
}
