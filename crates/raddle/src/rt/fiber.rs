//! Tasks as stacks of their own: how they begin, end and are abandoned.

use super::Rt;
use super::panics::Panic;
use super::switch::Context;
use crate::thread::local::Locals;
use raddle_model::TaskId;

/// Usable bytes of a task's stack. Only touched pages take memory.
pub(crate) const STACK_BYTES: usize = 256 * 1024;

/// A task's stack and what is known of it.
#[derive(Default)]
pub(crate) struct Fiber {
    pub(super) context: Context,
    /// Whether the task has begun and can go on.
    pub(super) alive: bool,
    /// The name its builder gave it.
    pub(crate) name: Option<std::sync::Arc<str>>,
    /// Its panic: the last one or, once it has ended, the one that ended it.
    pub(crate) panic: Option<Panic>,
    /// The panic before that.
    pub(crate) earlier_panic: Option<Panic>,
    /// Whether another task has been handed its result.
    pub(crate) joined: bool,
    /// Panics that it took along when it was left.
    pub(super) panics: usize,
    /// Operations since the run was over.
    pub(crate) late_operations: u32,
    /// Its thread locals.
    pub(crate) locals: Locals,
}

impl Drop for Fiber {
    /// Only in the middle of a run, if we have panicked ourselves: what lies on the stack is leaked.
    fn drop(&mut self) {
        if self.alive {
            self.context.abandon();
        }
    }
}

impl std::fmt::Debug for Fiber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fiber").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Fiber {
    /// Its panic was caught.
    #[inline]
    pub(crate) fn forget_panic(&mut self) {
        if self.panic.is_some() {
            self.panic = None;
        }
    }

    /// What is seldom there, and stays until another run begins.
    pub(super) fn forget(&mut self) {
        self.name = None;
        self.panic = None;
        self.earlier_panic = None;
    }

    /// Prepares for a task that will run `body` on the context's stack, and go on in the end with what that says. Before
    /// that it must call [`super::Run::ends`].
    ///
    /// # Safety
    /// What `body` borrows must outlive the fiber: until it has returned, was unwound or abandoned.
    // Always part of its caller, so that what the body takes along is written once, where it is read.
    #[inline(always)]
    pub(crate) unsafe fn begin<F>(&mut self, rt: Rt, body: F)
    where
        F: FnOnce(Rt) -> *const Context,
    {
        debug_assert!(!self.alive && self.locals.is_empty() && self.panic.is_none() && self.name.is_none());
        self.alive = true;
        self.joined = false;
        self.late_operations = 0;
        self.panics = 0;
        // SAFETY: the caller promises that the borrows outlive the fiber; fibers are boxed.
        unsafe { self.context.begin(move || body(rt)) };
    }
}

/// Gives a task up without unwinding it: what it owns is leaked, its stack is used again.
pub(crate) fn abandon(rt: Rt, task: TaskId) {
    rt.with(|run| {
        run.leaked += 1;
        let fiber = &mut run.fibers[task.index()];
        fiber.alive = false;
        fiber.context.abandon();
        run.alive -= 1;
        run.ended.push(task);
    });
}
