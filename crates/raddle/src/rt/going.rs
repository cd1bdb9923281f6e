//! Who goes on, and where that is shown.

use super::Run;
use super::switch::Context;
use raddle_engine::Next;
use raddle_model::{SiteId, TaskId};

impl Run {
    /// The task goes on: where to switch to.
    #[inline(always)]
    pub(super) fn go(&mut self, task: TaskId) -> *const Context {
        let context = self.context(task);
        debug_assert!(!context.is_null(), "raddle bug: a task that has no stack goes on");
        self.running = task;
        context
    }

    /// The same for one that nothing has just happened to, which would be shown: it was here last.
    #[inline(always)]
    pub(super) fn go_from(&mut self, task: TaskId, site: SiteId) -> *const Context {
        self.heart.goes_on(task, site);
        self.go(task)
    }

    /// A task's stack; nothing if it has none.
    // Nothing that may unwind: see `Rt::start`.
    #[inline(always)]
    fn context(&mut self, task: TaskId) -> *mut Context {
        match self.contexts.get(task.index()) {
            Some(&context) => context,
            None => {
                let fiber = self.fibers.get_mut(task.index());
                fiber.map_or(std::ptr::null_mut(), |fiber| &raw mut fiber.context)
            }
        }
    }

    /// The stack of the running task.
    #[inline(always)]
    pub(super) fn here(&mut self) -> *mut Context {
        self.context(self.running)
    }

    /// The carrier goes on: where to switch to.
    pub(super) fn home(&mut self) -> *const Context {
        &raw const self.root
    }

    /// Whoever it is goes on: where to switch to.
    #[inline(always)]
    pub(super) fn go_on(&mut self, next: Next) -> *const Context {
        match next {
            Next::Run(task) => self.go(task),
            Next::Over => self.home(),
        }
    }
}
