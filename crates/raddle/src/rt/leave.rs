//! How a task is left and gone back to: for others, in the middle of a panic, or for good.

use super::Rt;
use super::panics::RunOver;
use super::switch::{Context, switch};
use raddle_model::{SiteId, TaskId};
use std::panic::resume_unwind;
use std::{mem, ptr};

impl Rt {
    /// The run is over. Leaves the task's stack.
    #[cold]
    pub(super) fn unwind(self) -> ! {
        if std::thread::panicking() {
            // Unwinding out of a destructor that runs because of a panic would abort the process.
            self.give_up()
        }
        resume_unwind(Box::new(RunOver))
    }

    /// Whether the running task unwinds, as std says: that is asked only where it may be so.
    #[inline(always)]
    pub(crate) fn unwinds(self) -> bool {
        self.with(|run| run.panic_count.may_be_some()) && ask_std()
    }

    /// Switches away for good: for a task of a run that is over and that can neither go on nor unwind.
    pub(crate) fn give_up(self) -> ! {
        self.with(|run| run.stuck = true);
        self.leave();
        unreachable!("raddle bug: a task that was given up runs again")
    }

    /// The run does not do what the one before it did, by which it is led: it ends here, and is done again with care.
    #[cold]
    pub(crate) fn stray(self) -> ! {
        self.with(|run| run.engine.leave_rote());
        self.leave();
        self.unwind()
    }

    /// Switches from a task to somebody else, until it goes on. Whether the run may be over.
    ///
    /// # Safety
    /// `from` is the stack that this is called on, and whoever has `to` waits in a switch or has not begun.
    #[inline(always)]
    pub(super) unsafe fn switch(self, from: *mut Context, to: *const Context) -> bool {
        let panics = self.with(|run| run.panic_count.is_some());
        let (from, to) = if panics { self.take_panics_along(from, to) } else { (from, to) };
        // SAFETY: as promised by the caller.
        unsafe { switch(from, to) };
        let eventful = self.with(|run| run.eventful);
        if eventful {
            self.come_back();
        }
        eventful
    }

    /// The task on this stack unwinds, and is left: the others do not.
    // Gives back what it gets, so that it is called with nothing to be kept.
    #[cold]
    #[inline(never)]
    fn take_panics_along(self, stack: *mut Context, to: *const Context) -> (*mut Context, *const Context) {
        self.with(|run| {
            run.eventful = true;
            let panics = run.panic_count.set_aside();
            // Who is to run now is known already, so it is not the running task.
            let mut fibers = run.fibers.iter_mut();
            let fiber = fibers.find(|fiber| ptr::eq(&raw const fiber.context, stack));
            fiber.expect("raddle bug: a task without a stack was left").panics = panics;
        });
        (stack, to)
    }

    /// The running task has come back, in a run in which something may have happened to it or to all.
    #[cold]
    #[inline(never)]
    fn come_back(self) {
        self.with(|run| {
            let panics = mem::take(&mut run.fibers[run.running.index()].panics);
            if panics != 0 {
                run.panic_count.put_back(panics);
            }
        });
    }

    /// Switches to the carrier's own stack.
    pub(crate) fn leave(self) {
        let (here, root) = self.with(|run| (run.here(), run.home()));
        // SAFETY: the carrier waits in `drive`, `clear_away` or `drop_all` for as long as a task runs.
        unsafe { self.switch(here, root) };
    }

    /// Switches from the carrier's own stack to a task, until there is no more to do.
    pub(crate) fn visit(self, task: TaskId) {
        let (root, to) = self.with(|run| {
            run.stuck = false;
            let world = run.engine.world().tasks().get(task.index());
            let site = world.map_or(SiteId::UNKNOWN, |task| task.op.site);
            (&raw mut run.root, run.go_from(task, site))
        });
        // SAFETY: the task is alive, and waits in a switch or has not begun.
        unsafe { switch(root, to) };
    }
}

// Not in the program's own functions, for whom it is seldom.
#[cold]
#[inline(never)]
fn ask_std() -> bool {
    std::thread::panicking()
}
