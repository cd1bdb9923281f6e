//! Making threads and waiting for them.

use super::handle::{Owned, Thread};
use super::packet::Packet;
use crate::rt::site::here;
use crate::rt::{self, Rt, panics};
use raddle_model::{Kind, Op, Outcome, SiteId, TaskId};
use std::io;
use std::sync::Arc;
use std::thread::Result;

/// A task whose result somebody may ask for.
pub(super) struct Awaited<T>(Packet<T>);

impl<T> Awaited<T> {
    /// Makes a task. `done` is told, on that task and after everything of `f`, whether it panicked.
    ///
    /// # Safety
    /// What `f`, its result and `done` borrow must outlive the task. `done` must not unwind.
    pub(super) unsafe fn spawn<F: FnOnce() -> T>(
        rt: Rt,
        name: Option<Arc<str>>,
        site: SiteId,
        f: F,
        done: impl FnOnce(bool),
    ) -> Awaited<T> {
        let place = rt.prepare(site);
        let owned = Owned { mark: rt.mark(), task: place.0 };
        // The name is asked for in two places.
        let (result, packet) = Packet::pair(Some(rt), owned, name.clone());
        let body = move || {
            let value = panics::catch(f);
            let panicked = value.is_err();
            match &value {
                Err(payload) => panics::settle_task(rt, &**payload),
                // Whatever panicked on the way was caught.
                Ok(_) => rt.with(|run| {
                    if run.untidy {
                        run.fibers[run.running.index()].forget_panic();
                    }
                }),
            }
            // SAFETY: nobody reads before this task has exited.
            unsafe { result.put(value) };
            // If nobody holds the handle any more, the value is dropped here, as std does.
            if (panicked || std::mem::needs_drop::<T>()) && panics::catch(move || drop(result)).is_err() {
                panics::abort_run(rt, "thread result panicked on drop");
            }
            done(panicked);
            Ok(())
        };
        // SAFETY: passed on to the caller.
        unsafe { rt.start(place, name, site, body) };
        Awaited(packet)
    }

    /// Whom somebody may ask for.
    #[inline]
    pub(super) fn thread(&self) -> &Thread {
        self.0.thread()
    }

    #[inline]
    pub(super) fn owned(&self) -> Owned {
        self.thread().owned().expect("raddle bug: a task of a run is a thread outside of it")
    }

    /// Waits for the task.
    #[inline]
    pub(super) fn join(self, site: SiteId) -> Result<T> {
        let owned = self.owned();
        let rt = owned.run_to("join");
        let outcome = rt.arrive(Op::new(Kind::Join, owned.object(rt), site));
        assert_eq!(outcome, Outcome::Done, "raddle bug: a join ended before its task");
        mark_joined(rt, owned.task);
        // SAFETY: the task has exited, and its handle is ours.
        let result = unsafe { self.0.take() };
        result.expect("raddle bug: a task exited without a result")
    }

    pub(super) fn is_finished(&self, site: SiteId) -> bool {
        let owned = self.owned();
        let rt = owned.run_to("ask about");
        rt.arrive(Op::new(Kind::Finished, owned.object(rt), site)) == Outcome::Value(1)
    }
}

/// Somebody has been told how the task ended: its panic is that one's business now.
pub(crate) fn mark_joined(rt: Rt, task: TaskId) {
    rt.with(|run| run.fibers[task.index()].joined = true);
}

/// Waits for a thread, as [`std::thread::JoinHandle`].
///
/// Two words, so that it travels in registers: a larger one would be copied through memory, piece by
/// piece, and a processor waits for such copies.
pub struct JoinHandle<T>(Inner<T>);

enum Inner<T> {
    Outside(Box<(std::thread::JoinHandle<T>, Thread)>),
    Inside(Awaited<T>),
}

// SAFETY: as for std's handle: it is only made with `T: Send`.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: a shared handle gives no access to the result.
unsafe impl<T> Sync for JoinHandle<T> {}

/// Makes a thread, as [`std::thread::spawn`].
///
/// # Panics
/// Outside of runs, if the operating system makes no more threads.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("failed to spawn thread")
}

/// Makes threads with a name, as [`std::thread::Builder`].
#[must_use = "must eventually spawn the thread"]
#[derive(Debug, Default)]
pub struct Builder {
    pub(super) name: Option<String>,
    pub(super) stack_size: Option<usize>,
}

impl Builder {
    /// See [`std::thread::Builder::new`].
    pub fn new() -> Builder {
        Builder::default()
    }

    /// See [`std::thread::Builder::name`]. In a report the thread has this name.
    pub fn name(self, name: String) -> Builder {
        Builder { name: Some(name), ..self }
    }

    /// See [`std::thread::Builder::stack_size`]. Inside a run all stacks have the same size.
    pub fn stack_size(self, size: usize) -> Builder {
        Builder { stack_size: Some(size), ..self }
    }

    /// See [`std::thread::Builder::spawn`].
    ///
    /// # Errors
    /// Outside of runs, if the operating system makes no more threads.
    #[inline]
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.spawn_unchecked(f) }
    }

    /// See [`std::thread::Builder::spawn_unchecked`].
    ///
    /// # Safety
    /// As for std's: the thread must be joined before anything that `f` or its result borrow ends.
    /// A run that ends early clears away its youngest threads first, so a thread that waits in a
    /// join, as that of std's must, outlives the one it waits for.
    ///
    /// # Errors
    /// Outside of runs, if the operating system makes no more threads.
    #[inline]
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let site = here!();
        match rt::current() {
            None => {
                // SAFETY: passed on to the caller.
                let handle = unsafe { self.real().spawn_unchecked(f) }?;
                let thread = Thread::outside(handle.thread().clone());
                Ok(JoinHandle(Inner::Outside(Box::new((handle, thread)))))
            }
            Some(rt) => {
                let name = self.checked_name();
                // SAFETY: passed on to the caller.
                let awaited = unsafe { Awaited::spawn(rt, name, site, f, |_| {}) };
                Ok(JoinHandle(Inner::Inside(awaited)))
            }
        }
    }

    /// std's own builder with the same settings.
    pub(super) fn real(self) -> std::thread::Builder {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }

    /// The name, with std's own condition.
    #[inline]
    pub(super) fn checked_name(&self) -> Option<Arc<str>> {
        self.name.as_deref().map(|name| {
            assert!(!name.contains('\0'), "thread name may not contain interior null bytes");
            Arc::from(name)
        })
    }
}

impl<T> JoinHandle<T> {
    /// See [`std::thread::JoinHandle::join`].
    ///
    /// # Errors
    /// The payload, if the thread panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let site = here!();
        match self.0 {
            Inner::Outside(outside) => outside.0.join(),
            Inner::Inside(awaited) => awaited.join(site),
        }
    }

    /// See [`std::thread::JoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Outside(outside) => outside.0.is_finished(),
            Inner::Inside(awaited) => awaited.is_finished(here!()),
        }
    }

    /// See [`std::thread::JoinHandle::thread`].
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Inner::Outside(outside) => &outside.1,
            Inner::Inside(awaited) => awaited.thread(),
        }
    }

    /// The task, inside a run.
    pub(crate) fn owned(&self) -> Option<Owned> {
        match &self.0 {
            Inner::Outside(_) => None,
            Inner::Inside(awaited) => Some(awaited.owned()),
        }
    }
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
