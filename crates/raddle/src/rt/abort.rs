//! Giving a task up for which std is about to abort the process.
//!
//! std calls the panic hook with a lock held, and a task that were left there for good would leave the
//! lock taken: the next `set_hook`, as the test harness calls it when it ends, would wait for ever. So
//! the hook returns, std gives the lock back and calls `abort`, and the task is left in the handler of
//! the signal that `abort` raises, which need not return. std writes a line to stderr on the way.
//!
//! Where there are no signals the task is left in the hook.

use super::Rt;

#[cfg(not(unix))]
pub(super) fn leave(rt: Rt) {
    rt.give_up()
}

#[cfg(unix)]
pub(super) use signal::leave;

#[cfg(unix)]
mod signal {
    use super::Rt;
    use std::cell::Cell;
    use std::mem::MaybeUninit;
    use std::sync::{Mutex, PoisonError};

    thread_local! {
        /// Whether this thread is on its way from the hook to `abort`.
        static LEAVING: Cell<bool> = const { Cell::new(false) };
    }

    /// How many threads are on that way, and what SIGABRT did before the first of them.
    struct Before {
        leaving: usize,
        action: Option<libc::sigaction>,
    }

    static BEFORE: Mutex<Before> = Mutex::new(Before { leaving: 0, action: None });

    /// The hook returns after this, and the running task is given up when std aborts.
    pub(crate) fn leave(_: Rt) {
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        if before.leaving == 0 {
            before.action = Some(set(&ours()));
        }
        before.leaving += 1;
        LEAVING.set(true);
    }

    fn ours() -> libc::sigaction {
        // SAFETY: all zeros is a valid value: no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = aborted as extern "C" fn(libc::c_int) as usize;
        // The handler does not return, so the signal must not stay blocked.
        action.sa_flags = libc::SA_NODEFER;
        action
    }

    /// Says what SIGABRT does from now on; gives back what it did.
    fn set(action: &libc::sigaction) -> libc::sigaction {
        let mut before = MaybeUninit::zeroed();
        // SAFETY: both pointers are valid, and all zeros is a valid value.
        unsafe {
            libc::sigaction(libc::SIGABRT, action, before.as_mut_ptr());
            before.assume_init()
        }
    }

    extern "C" fn aborted(signal: libc::c_int) {
        // Not called in the middle of anything: `abort` raises the signal on its own thread.
        let leaving = LEAVING.replace(false);
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        before.leaving -= usize::from(leaving);
        if (before.leaving == 0 || !leaving)
            && let Some(action) = before.action.take()
        {
            set(&action);
        }
        drop(before);
        match super::super::current() {
            Some(rt) if leaving => rt.give_up(),
            // Somebody else aborts, and means it.
            // SAFETY: raising a signal is always sound.
            _ => unsafe {
                libc::raise(signal);
            },
        }
    }
}
