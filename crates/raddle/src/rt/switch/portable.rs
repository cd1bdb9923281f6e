//! The switch by a coroutine library: every hand-over goes by way of the carrier's stack.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::ptr;

/// A stack that can be gone on with. Without a coroutine it is the carrier's own.
pub(crate) struct Context {
    stack: Option<Coroutine<(), (), *const Context, DefaultStack>>,
    given: Option<DefaultStack>,
    yielder: *const Yielder<(), ()>,
}

impl Default for Context {
    fn default() -> Context {
        Context { stack: None, given: None, yielder: ptr::null() }
    }
}

thread_local! {
    /// Who goes on, on the way over the carrier's stack.
    static NEXT: Cell<*const Context> = const { Cell::new(ptr::null()) };
}

/// Leaves the running stack, which `from` describes from now on, and goes on with `to`. Comes back
/// when somebody goes on with `from`. They may be the same.
///
/// # Safety
/// `to` must have been begun or left by a switch, and not have ended.
pub(crate) unsafe fn switch(from: *mut Context, to: *const Context) {
    // SAFETY: contexts stay where they are while they are in use, and their yielders lie at the roots
    // of their own stacks.
    unsafe {
        if (*from).stack.is_some() {
            NEXT.set(to);
            return (*(*from).yielder).suspend(());
        }
        let mut to = to;
        while !ptr::eq(to, from) {
            let coroutine = (*to.cast_mut()).stack.as_mut().expect("raddle bug: a switch to no stack");
            to = match coroutine.resume(()) {
                CoroutineResult::Yield(()) => NEXT.get(),
                CoroutineResult::Return(next) => next,
            };
        }
    }
}

impl Context {
    /// Whether it has a stack: that of what has ended here, or one that was given.
    pub(crate) fn has_stack(&self) -> bool {
        self.stack.is_some() || self.given.is_some()
    }

    /// A stack for what will begin here.
    pub(crate) fn give_stack(&mut self, stack: DefaultStack) {
        self.given = Some(stack);
    }

    /// Prepares the stack so that a switch to it calls `body`, which says in the end who goes on.
    ///
    /// # Safety
    /// What `body` borrows must outlive it, it must not unwind, and this must not move before it ends. What was here
    /// before must have ended.
    pub(crate) unsafe fn begin<F: FnOnce() -> *const Context>(&mut self, body: F) {
        let stack = self.take_stack().expect("raddle bug: nothing can begin without a stack");
        let this: *mut Context = self;
        let entry = move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: the caller promises that this has not moved.
            unsafe { (*this).yielder = yielder };
            body()
        };
        // SAFETY: the caller promises that the borrows outlive the body.
        self.stack = Some(unsafe { Coroutine::with_stack_unchecked(stack, entry) });
    }

    /// The stack, after the body has ended.
    pub(crate) fn take_stack(&mut self) -> Option<DefaultStack> {
        self.given.take().or_else(|| self.stack.take().map(Coroutine::into_stack))
    }

    /// What waits on this stack will not go on: what it owns is leaked.
    pub(crate) fn abandon(&mut self) {
        if let Some(coroutine) = &mut self.stack {
            // SAFETY: nothing on this stack runs again; what lies there is leaked, which is safe.
            unsafe { coroutine.force_reset() };
        }
    }
}
