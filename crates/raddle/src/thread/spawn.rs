//! Making threads and waiting for them.

use crate::rt::site::here;
use crate::rt::slot::Mark;
use crate::rt::{self, Rt};
use raddle_model::{Kind, Op, Outcome, SiteId, TaskId};
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::Result;

/// What a task leaves behind.
struct Packet<T>(UnsafeCell<Option<Result<T>>>);

// SAFETY: the task writes before it exits, and the joiner reads after that; all on one thread.
unsafe impl<T: Send> Send for Packet<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Packet<T> {}

/// Waits for a thread, as [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(Inner<T>);

enum Inner<T> {
    Outside(std::thread::JoinHandle<T>),
    Inside { task: TaskId, mark: Mark, packet: Arc<Packet<T>> },
}

/// Makes a thread, as [`std::thread::spawn`].
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let site = here!();
    match rt::current() {
        None => JoinHandle(Inner::Outside(std::thread::spawn(f))),
        // SAFETY: `f` borrows nothing.
        Some(rt) => JoinHandle(unsafe { spawn_inside(rt, site, f) }),
    }
}

/// # Safety
/// What `f` borrows must outlive the task.
unsafe fn spawn_inside<F: FnOnce() -> T, T>(rt: Rt, site: SiteId, f: F) -> Inner<T> {
    let packet = Arc::new(Packet(UnsafeCell::new(None)));
    let result = packet.clone();
    let body = move || {
        let value = catch_unwind(AssertUnwindSafe(f));
        // SAFETY: nobody reads before this task has exited.
        unsafe { *result.0.get() = Some(value) };
    };
    // SAFETY: passed on to the caller.
    let task = unsafe { rt.spawn(None, site, body) };
    Inner::Inside { task, mark: rt.mark(), packet }
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
            Inner::Outside(handle) => handle.join(),
            Inner::Inside { task, mark, packet } => {
                let rt = rt::current().filter(|rt| rt.mark() == mark);
                let rt = rt.expect("raddle: a thread can be joined only inside the run that made it");
                let object = rt.with(|run| run.engine.world().task(task).object);
                let outcome = rt.arrive(Op::new(Kind::Join, object, site));
                debug_assert_eq!(outcome, Outcome::Done);
                rt.with(|run| run.fibers[task.index()].joined = true);
                // SAFETY: the task has exited.
                unsafe { (*packet.0.get()).take() }.expect("raddle bug: a task exited without a result")
            }
        }
    }

    /// See [`std::thread::JoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Outside(handle) => handle.is_finished(),
            Inner::Inside { task, .. } => {
                let rt = rt::current().expect("raddle: a thread of a run can be asked only inside it");
                let object = rt.with(|run| run.engine.world().task(*task).object);
                rt.arrive(Op::new(Kind::Finished, object, here!())) == Outcome::Value(1)
            }
        }
    }
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
