//! Scoped threads, as [`std::thread::scope`].
//!
//! A scope's frame is never left while one of its threads could still run. Three ways lead out of
//! it: the closure returns or panics, and then all threads are waited for first; or the run is over,
//! and then they are gone already, because the youngest tasks are cleared away first and a thread
//! is always younger than the one that opened the scope it lives in.

use super::handle::Thread;
use super::spawn::{Awaited, Builder, mark_joined};
use crate::rt::site::here;
use crate::rt::{self, Rt, panics};
use raddle_model::{Kind, Op, SiteId, TaskId};
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Result;

/// A scope to make threads in, as [`std::thread::Scope`].
pub struct Scope<'scope, 'env: 'scope> {
    realm: Realm<'scope, 'env>,
    // invariant: both lifetimes are invariant, as with std: nobody may shrink or stretch them.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

enum Realm<'scope, 'env> {
    /// std's scope, set before anybody sees ours.
    Outside(OnceLock<&'scope std::thread::Scope<'scope, 'env>>),
    Inside(Arc<Children>),
}

/// The threads of a scope, in the order in which they were made.
#[derive(Default)]
struct Children(Mutex<Vec<Child>>);

struct Child {
    task: TaskId,
    /// Somebody has joined it and has its panic, or it has not begun.
    taken: bool,
    panicked: bool,
}

impl Children {
    /// Never contended: nothing inside switches tasks.
    fn lock(&self) -> MutexGuard<'_, Vec<Child>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all threads, also for those that they make meanwhile. Whether one has panicked that
    /// nobody else has waited for.
    fn wait(&self, rt: Rt, site: SiteId) -> bool {
        let mut next = 0;
        // If this frame is left in another way, threads that borrow from its callers run on.
        let guard = Unwaited(rt);
        loop {
            let child = self.lock().get(next).map(|child| (child.task, child.taken));
            let Some((task, taken)) = child else { break };
            if !taken {
                let object = rt.with(|run| run.engine().world().task(task).object);
                rt.arrive(Op::new(Kind::Join, object, site));
                mark_joined(rt, task);
            }
            next += 1;
        }
        std::mem::forget(guard);
        // Only now: a thread of the scope may have joined another.
        self.lock().iter().any(|child| child.panicked && !child.taken)
    }
}

/// Dropped only if waiting was broken off.
struct Unwaited(Rt);

impl Drop for Unwaited {
    fn drop(&mut self) {
        if !self.0.ending() {
            eprintln!("raddle bug: a scope was left while its threads run");
            std::process::abort();
        }
    }
}

/// Opens a scope, waits for its threads and closes it, as [`std::thread::scope`].
///
/// It waits until its threads have exited, their thread locals destroyed; std may return a little
/// earlier.
///
/// # Panics
/// If a thread panicked that nobody joined.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let site = here!();
    let (scope, env) = (PhantomData, PhantomData);
    let Some(rt) = rt::current() else {
        let scope = Scope { realm: Realm::Outside(OnceLock::new()), scope, env };
        return scope_outside(&scope, f);
    };
    let children = Arc::new(Children::default());
    let scope = Scope { realm: Realm::Inside(children.clone()), scope, env };
    let result = panics::catch(|| f(&scope));
    // In a run that is over the threads are gone, and there is nothing to wait for.
    let panicked = !rt.ending() && children.wait(rt, site);
    match result {
        Err(payload) => std::panic::resume_unwind(payload),
        Ok(_) if panicked => panic!("a scoped thread panicked"),
        Ok(value) => value,
    }
}

fn scope_outside<'scope, 'env, F, T>(scope: &'scope Scope<'scope, 'env>, f: F) -> T
where
    F: FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    std::thread::scope(|real| {
        // SAFETY: only the lifetimes change. std's scope lasts until `std::thread::scope` returns, and
        // only `f` and the threads of the scope can reach this copy: they end before that. What the
        // threads borrow outlives `'scope`, which is longer than that call.
        let real: &'scope std::thread::Scope<'scope, 'env> = unsafe { std::mem::transmute(real) };
        if let Realm::Outside(place) = &scope.realm {
            let _ = place.set(real);
        }
        f(scope)
    })
}

impl<'scope> Scope<'scope, '_> {
    /// Makes a thread in the scope, as [`std::thread::Scope::spawn`].
    ///
    /// # Panics
    /// Outside of runs, if the operating system makes no more threads.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, f).expect("failed to spawn thread")
    }
}

impl Builder {
    /// Makes a thread in a scope, as [`std::thread::Builder::spawn_scoped`].
    ///
    /// # Errors
    /// Outside of runs, if the operating system makes no more threads.
    ///
    /// # Panics
    /// If the scope belongs to a run, and the caller is not in it.
    #[track_caller]
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let site = here!();
        let children = match &scope.realm {
            Realm::Outside(real) => {
                let real = real.get().expect("raddle bug: a scope was seen before it was open");
                let handle = self.real().spawn_scoped(real, f)?;
                let thread = Thread::outside(handle.thread().clone());
                return Ok(ScopedJoinHandle(Inner::Outside(handle, thread)));
            }
            Realm::Inside(children) => children.clone(),
        };
        let rt =
            rt::current().expect("raddle: only threads of the run that opened this scope can spawn in it");
        // The child may end before `spawn` is back, so its entry must be there before.
        let index = {
            let mut list = children.lock();
            list.push(Child { task: TaskId::MAIN, taken: true, panicked: false });
            list.len() - 1
        };
        let told = children.clone();
        let done = move |panicked| told.lock()[index].panicked = panicked;
        // SAFETY: what `f` and its result borrow lives for `'scope`, and the scope is not left before
        // this task is gone: see the head of this file.
        let awaited = unsafe { Awaited::spawn(rt, self.checked_name(), site, f, done) };
        let task = awaited.owned().task;
        {
            let mut list = children.lock();
            list[index].task = task;
            list[index].taken = false;
        }
        Ok(ScopedJoinHandle(Inner::Inside { awaited, children, index }))
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// Waits for a thread of a scope, as [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T>(Inner<'scope, T>);

enum Inner<'scope, T> {
    Outside(std::thread::ScopedJoinHandle<'scope, T>, Thread),
    Inside { awaited: Awaited<T>, children: Arc<Children>, index: usize },
}

// SAFETY: as for std's handle: it is only made with `T: Send`.
unsafe impl<T> Send for ScopedJoinHandle<'_, T> {}
// SAFETY: a shared handle gives no access to the result.
unsafe impl<T> Sync for ScopedJoinHandle<'_, T> {}

impl<T> ScopedJoinHandle<'_, T> {
    /// See [`std::thread::ScopedJoinHandle::join`].
    ///
    /// # Errors
    /// The payload, if the thread panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let site = here!();
        match self.0 {
            Inner::Outside(handle, _) => handle.join(),
            Inner::Inside { awaited, children, index } => {
                let result = awaited.join(site);
                children.lock()[index].taken = true;
                result
            }
        }
    }

    /// See [`std::thread::ScopedJoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Outside(handle, _) => handle.is_finished(),
            Inner::Inside { awaited, .. } => awaited.is_finished(here!()),
        }
    }

    /// See [`std::thread::ScopedJoinHandle::thread`].
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Inner::Outside(_, thread) => thread,
            Inner::Inside { awaited, .. } => awaited.thread(),
        }
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
