//! Tasks as coroutines: their stacks, and how they are switched to, unwound and abandoned.

use super::panics::Panic;
use crate::rt::Rt;
use crate::thread::local::Locals;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use raddle_model::TaskId;

/// Usable bytes of a task's stack. Only touched pages take memory.
pub(crate) const STACK_BYTES: usize = 256 * 1024;

/// What a task is told when it is switched to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signal {
    /// Its operation has happened.
    Run,
    /// The run is over: unwind.
    Unwind,
}

/// Why a task switched away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Report {
    /// It waits for its turn.
    Waiting,
    /// It can neither go on nor unwind, and must be abandoned.
    Stuck,
}

type Stack = Coroutine<Signal, Report, (), DefaultStack>;

/// A task's stack and what is known of it.
pub(crate) struct Fiber {
    stack: Option<Stack>,
    // Null until the task has begun.
    yielder: *const Yielder<Signal, Report>,
    /// The name its builder gave it.
    pub(crate) name: Option<std::sync::Arc<str>>,
    /// Its panic: the last one or, once it has ended, the one that ended it.
    pub(crate) panic: Option<Panic>,
    /// The panic before that.
    pub(crate) earlier_panic: Option<Panic>,
    /// Whether another task has been handed its result.
    pub(crate) joined: bool,
    /// Whether it is unwinding, as far as the hook can tell.
    pub(crate) unwinding: bool,
    /// Operations since the run was over.
    pub(crate) late_operations: u32,
    /// Its thread locals.
    pub(crate) locals: Locals,
}

impl Default for Fiber {
    fn default() -> Fiber {
        Fiber {
            stack: None,
            yielder: std::ptr::null(),
            name: None,
            panic: None,
            earlier_panic: None,
            joined: false,
            unwinding: false,
            late_operations: 0,
            locals: Locals::default(),
        }
    }
}

impl Drop for Fiber {
    /// Only in the middle of a run, if we have panicked ourselves: what lies on the stack is leaked.
    fn drop(&mut self) {
        if let Some(stack) = &mut self.stack {
            // SAFETY: nothing on this stack runs again.
            unsafe { stack.force_reset() };
        }
    }
}

impl std::fmt::Debug for Fiber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fiber").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Fiber {
    /// Prepares for a task that will run `body` on `stack`.
    ///
    /// # Safety
    /// What `body` borrows must outlive the fiber: until it has returned, was unwound or abandoned.
    pub(crate) unsafe fn begin<F: FnOnce(Rt)>(&mut self, rt: Rt, stack: DefaultStack, body: F) {
        debug_assert!(self.stack.is_none() && self.locals.is_empty());
        self.name = None;
        self.panic = None;
        self.earlier_panic = None;
        self.joined = false;
        self.unwinding = false;
        self.late_operations = 0;
        let entry = move |yielder: &Yielder<Signal, Report>, _: Signal| {
            let task = rt.running();
            rt.with(|run| {
                run.fibers[task.index()].yielder = yielder;
                run.yielder = yielder;
            });
            body(rt);
        };
        // SAFETY: the caller promises that the borrows outlive the fiber.
        self.stack = Some(unsafe { Coroutine::with_stack_unchecked(stack, entry) });
    }

    /// Whether the task has a stack to go on with.
    pub(crate) fn alive(&self) -> bool {
        self.stack.is_some()
    }

    /// The way back to whoever resumed the task.
    #[inline]
    pub(crate) fn yielder(&self) -> *const Yielder<Signal, Report> {
        self.yielder
    }
}

/// Switches to a task, which must not be running, until it switches away or returns.
#[inline]
pub(crate) fn resume(rt: Rt, task: TaskId, signal: Signal) -> Option<Report> {
    let fiber: *mut Fiber = rt.with(|run| {
        let fiber = &mut *run.fibers[task.index()];
        run.yielder = fiber.yielder;
        &raw mut *fiber
    });
    // SAFETY: fibers are boxed and live as long as the carrier; while its task runs, nobody but
    // this function touches a fiber's stack.
    let stack = unsafe { (*fiber).stack.as_mut() }.expect("raddle bug: a task without a stack is to run");
    match stack.resume(signal) {
        CoroutineResult::Yield(report) => Some(report),
        CoroutineResult::Return(()) => {
            retire(rt, task);
            None
        }
    }
}

/// The stack of a task that has ended serves another.
fn retire(rt: Rt, task: TaskId) {
    rt.with(|run| {
        let stack = run.fibers[task.index()].stack.take();
        run.stacks.push(stack.expect("raddle bug: a stack ends twice").into_stack());
    });
}

/// Gives a task up without unwinding it: what it owns is leaked, its stack is used again.
pub(crate) fn abandon(rt: Rt, task: TaskId) {
    rt.with(|run| {
        run.leaked += 1;
        let fiber = &mut run.fibers[task.index()];
        fiber.unwinding = false;
        let stack = fiber.stack.as_mut().expect("raddle bug: a task is given up twice");
        // SAFETY: nothing on this stack runs again; what lies there is leaked, which is safe.
        unsafe { stack.force_reset() };
    });
    retire(rt, task);
}
