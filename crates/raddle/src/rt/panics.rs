//! Panics inside a run: caught, kept as values, and attributed to their task.
//!
//! The hook is process-wide and installed once; outside of runs it passes on to the one before it.
//! It cannot tell whether an earlier panic of the task was caught or is still unwinding. std can: a
//! panic that leaves a destructor during an unwinding makes it call the hook once more, with a text of
//! its own, before it aborts the process. That is where such a task is given up (see
//! `abort.rs`). The carrier cannot be used after that (std counts the panics as still going on),
//! so it retires.

use crate::rt::{self, Rt, abort, site};
use raddle_model::{Failure, FailureKind, SiteId};
use std::any::Any;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

/// What is known of a panic.
#[derive(Clone, Debug)]
pub(crate) struct Panic {
    pub(crate) message: String,
    pub(crate) site: SiteId,
    /// Number of events before it.
    pub(crate) step: u64,
}

/// What unwinds a task whose run is over.
pub(crate) struct RunOver;

/// The text of a panic's payload.
pub(crate) fn text(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        String::from("a panic with a payload that is no text")
    }
}

/// Installs the hook, once for the process.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let outer = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !inside(info) {
                outer(info);
            }
        }));
    });
}

/// Takes a panic that happened inside a run; false if there is none.
fn inside(info: &PanicHookInfo<'_>) -> bool {
    let Some(rt) = rt::current() else { return false };
    let place = info.location().map_or(SiteId::UNKNOWN, |location| {
        // SAFETY: the location of a panic is a constant of the program; std only shortens its lifetime.
        let location: &'static std::panic::Location<'static> = unsafe { std::mem::transmute(location) };
        site::site(location)
    });
    let message = text(info.payload());
    if aborts(&message) {
        rt.aborts();
        abort::leave(rt);
        return true;
    }
    rt.with(|run| {
        let step = run.engine().steps();
        let fiber = &mut run.fibers[run.running.index()];
        // What happens while a run is cleared away is no panic of the program's.
        if !run.ending {
            run.untidy = true;
            run.engine.leave_rote();
            fiber.earlier_panic = fiber.panic.replace(Panic { message, site: place, step });
        }
    });
    true
}

/// Whether this is not the program's panic but std's own, right before it aborts the process.
fn aborts(message: &str) -> bool {
    matches!(message, "panic in a destructor during cleanup" | "panic in a function that cannot unwind")
}

/// The running task has ended with this panic. Which one it was is told by its text: there may have
/// been others, in destructors meanwhile or caught before.
pub(crate) fn settle(rt: Rt, payload: &(dyn Any + Send)) {
    let message = text(payload);
    rt.with(|run| {
        let fiber = &mut run.fibers[run.running.index()];
        let is_it = |panic: &Panic| panic.message == message;
        let panics = [fiber.panic.take(), fiber.earlier_panic.take()];
        fiber.panic = panics.into_iter().flatten().find(is_it);
    });
}

/// The same for a task other than main, of which it must be known that it panicked even if the hook
/// was never called: it may have passed on another's panic.
pub(crate) fn settle_task(rt: Rt, payload: &(dyn Any + Send)) {
    if payload.is::<RunOver>() {
        return;
    }
    settle(rt, payload);
    rt.with(|run| {
        run.untidy = true;
        run.engine.leave_rote();
        let step = run.engine().steps();
        let panic = &mut run.fibers[run.running.index()].panic;
        panic.get_or_insert_with(|| Panic { message: text(payload), site: SiteId::UNKNOWN, step });
    });
}

/// What came of `f`, be it a panic.
#[inline(always)]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
    catch_unwind(AssertUnwindSafe(f))
}

/// The running task has panicked where std aborts the process, and was caught: the run fails.
pub(crate) fn abort_run(rt: Rt, why: &str) {
    rt.with(|run| {
        if run.ending {
            return;
        }
        let task = run.running;
        let (what, site) = match &run.fibers[task.index()].panic {
            Some(panic) => (panic.message.as_str(), panic.site),
            None => ("a resumed panic", SiteId::UNKNOWN),
        };
        let message = format!("{why}, which aborts the process: {what}");
        run.engine.crash(Failure { kind: FailureKind::Panic, message, tasks: vec![task], sites: vec![site] });
    });
}
