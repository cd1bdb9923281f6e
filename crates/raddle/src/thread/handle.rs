//! Which thread: [`Thread`] and [`ThreadId`].

use crate::rt::site::here;
use crate::rt::slot::Mark;
use crate::rt::{self, Rt};
use raddle_model::{Kind, ObjectId, Op, TaskId};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A task of a run, named so that no other run takes it for one of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owned {
    pub(crate) mark: Mark,
    pub(crate) task: TaskId,
}

impl Owned {
    /// The run that the task belongs to, if the caller is in it.
    #[inline]
    pub(crate) fn run(self) -> Option<Rt> {
        rt::current().filter(|rt| rt.mark() == self.mark)
    }

    /// The same, for what only that run can answer.
    #[inline]
    pub(crate) fn run_to(self, what: &str) -> Rt {
        self.run().unwrap_or_else(|| elsewhere(what))
    }

    /// What can be joined.
    #[inline]
    pub(crate) fn object(self, rt: Rt) -> ObjectId {
        rt.with(|run| run.engine().world().task(self.task).object)
    }
}

#[cold]
fn elsewhere(what: &str) -> ! {
    panic!(
        "raddle: this thread belongs to a run of raddle::check, and only that run can {what} it. A handle must \
         not be kept for a later run, nor be given to a thread outside of the run"
    )
}

/// A handle to a thread, as [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread(Inner);

#[derive(Clone)]
enum Inner {
    Outside(std::thread::Thread),
    Inside(Owned, Option<Arc<str>>),
}

impl Thread {
    pub(crate) fn outside(thread: std::thread::Thread) -> Thread {
        Thread(Inner::Outside(thread))
    }

    pub(crate) fn of(rt: Rt, task: TaskId) -> Thread {
        let name = rt.with(|run| run.fibers[task.index()].name.clone());
        Thread::inside(Owned { mark: rt.mark(), task }, name)
    }

    /// A task that has this name.
    #[inline]
    pub(super) fn inside(owned: Owned, name: Option<Arc<str>>) -> Thread {
        Thread(Inner::Inside(owned, name))
    }

    /// The task, if it is one.
    #[inline]
    pub(super) fn owned(&self) -> Option<Owned> {
        match &self.0 {
            Inner::Outside(_) => None,
            Inner::Inside(owned, _) => Some(*owned),
        }
    }

    /// Gives the thread its token, as [`std::thread::Thread::unpark`].
    ///
    /// Nothing happens if the thread's run is over, as with a thread of std's that has ended.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Inner::Outside(thread) => thread.unpark(),
            Inner::Inside(owned, _) => match owned.run() {
                Some(rt) => {
                    let token = rt.with(|run| run.engine.world_mut().token(owned.task));
                    rt.arrive(Op::new(Kind::Unpark, token, here!()));
                }
                None => owned.mark.assert_over("unpark one of its threads"),
            },
        }
    }

    /// The thread's id, as [`std::thread::Thread::id`].
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Inner::Outside(thread) => Id::Outside(thread.id()),
            Inner::Inside(owned, _) => Id::Inside(*owned),
        })
    }

    /// The thread's name, as [`std::thread::Thread::name`].
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Inner::Outside(thread) => thread.name(),
            Inner::Inside(Owned { task: TaskId::MAIN, .. }, _) => Some("main"),
            Inner::Inside(_, name) => name.as_deref(),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// What tells threads apart, as [`std::thread::ThreadId`].
///
/// In a run it depends on nothing but the order in which the run made its threads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Id {
    Outside(std::thread::ThreadId),
    Inside(Owned),
}

impl Hash for ThreadId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            Id::Outside(id) => id.hash(state),
            // Without the run: what a program does with a hash must be the same in every run.
            Id::Inside(owned) => owned.task.hash(state),
        }
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Id::Outside(id) => id.fmt(f),
            // std counts from one.
            Id::Inside(owned) => f.debug_tuple("ThreadId").field(&(u64::from(owned.task.0) + 1)).finish(),
        }
    }
}
