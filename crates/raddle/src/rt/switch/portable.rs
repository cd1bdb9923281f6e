//! The switch by a coroutine library: every hand-over goes by way of the carrier's stack.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::ptr;

/// A stack that can be gone on with. Without a coroutine it is the carrier's own.
pub(crate) struct Context {
    stack: Option<Coroutine<(), (), *const Context, DefaultStack>>,
    yielder: *const Yielder<(), ()>,
}

impl Default for Context {
    fn default() -> Context {
        Context { stack: None, yielder: ptr::null() }
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
    /// Prepares `stack` so that a switch to it calls `body`, which says in the end who goes on.
    ///
    /// # Safety
    /// What `body` borrows must outlive it, it must not unwind, and this must not move before it ends.
    pub(crate) unsafe fn begin<F: FnOnce() -> *const Context>(&mut self, stack: DefaultStack, body: F) {
        let this: *mut Context = self;
        let entry = move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: the caller promises that this has not moved.
            unsafe { (*this).yielder = yielder };
            body()
        };
        // SAFETY: the caller promises that the borrows outlive the body.
        self.stack = Some(unsafe { Coroutine::with_stack_unchecked(stack, entry) });
    }

    /// The body's stack, after it has ended.
    pub(crate) fn end(&mut self) -> Option<DefaultStack> {
        self.stack.take().map(Coroutine::into_stack)
    }

    /// What waits on this stack will not go on: what it owns is leaked.
    pub(crate) fn abandon(&mut self) {
        if let Some(coroutine) = &mut self.stack {
            // SAFETY: nothing on this stack runs again; what lies there is leaked, which is safe.
            unsafe { coroutine.force_reset() };
        }
    }
}
