//! Panics inside a run: caught, kept as values, and attributed to their task.
//!
//! The hook is process-wide and installed once; outside of runs it passes on to the one before it.
//! A second panic of a task that is already unwinding would abort the process in the real world.
//! Here the task is abandoned in the hook: it is suspended and never runs again. The carrier cannot
//! be used after that (std counts the panic as still going on), so it retires.

use crate::rt::{self, Rt, site};
use raddle_model::{Failure, FailureKind, SiteId};
use std::any::Any;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind};
use std::sync::Once;

/// What is known of a panic.
#[derive(Clone, Debug)]
pub(crate) struct Panic {
    pub(crate) message: String,
    pub(crate) site: SiteId,
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
    let again = rt.with(|run| {
        let fiber = &mut run.fibers[run.running.index()];
        let again = fiber.unwinding || run.ending;
        // What happens while a run is cleared away is no panic of the program's.
        if !run.ending && (!again || fiber.panic.is_none()) {
            fiber.panic = Some(Panic { message: text(info.payload()), site: place });
        }
        fiber.unwinding = true;
        again
    });
    if again {
        rt.abandon(text(info.payload()), place);
    }
    true
}

/// `catch_unwind`, and the hook knows that the unwinding has ended.
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
    let rt = rt::current();
    let before = rt.is_some_and(|rt| rt.with(|run| run.fibers[run.running.index()].unwinding));
    let result = catch_unwind(AssertUnwindSafe(f));
    if result.is_err() {
        unwinding(rt, before);
    }
    result
}

/// `resume_unwind`, and the hook knows that the task is unwinding again.
pub(crate) fn resume(payload: Box<dyn Any + Send>) -> ! {
    unwinding(rt::current(), true);
    resume_unwind(payload)
}

fn unwinding(rt: Option<Rt>, unwinding: bool) {
    if let Some(rt) = rt {
        rt.with(|run| run.fibers[run.running.index()].unwinding = unwinding);
    }
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
        run.engine.fail(Failure { kind: FailureKind::Panic, message, tasks: vec![task], sites: vec![site] });
    });
}
