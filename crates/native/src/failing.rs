//! The program has failed: the run ends, or in a search the task.

use crate::run::{switch, with};
use crate::{calls, signals};
use alloc::string::String;
use alloc::vec;
use raddle_engine::Next;
use raddle_model::{Failure, FailureKind, SiteId};

/// The program has failed. Ends the run, or in a search the task.
pub fn fail(kind: FailureKind, message: String, site: SiteId) -> ! {
    if with(|run| run.calls.wanted) {
        calls::arrival(site);
    }
    with(|run| {
        let tasks = vec![run.running];
        run.engine.fail(Failure { kind, message, tasks, sites: vec![site] });
    });
    stop()
}

/// The program was interrupted at this address, such that nothing of it can go on. Ends the run. The failure is known by
/// the site, which must be the same whenever the plan is.
pub fn interrupt(kind: FailureKind, message: String, site: SiteId, pc: usize) -> ! {
    let wanted = with(|run| {
        let tasks = vec![run.running];
        run.engine.crash(Failure { kind, message, tasks, sites: vec![site] });
        run.calls.wanted
    });
    // What must be told is told already: after a crash nothing is sure, the stack least of all.
    if wanted {
        signals::may_crash_again(|| calls::interruption(pc));
    }
    crate::end::over()
}

/// The run has waited too long for something from outside. Where each task waits it has said when it came there.
pub(crate) fn give_up(failure: Failure) -> ! {
    with(|run| run.engine.crash(failure));
    crate::end::over()
}

/// The running task has failed. That ends the run, unless a search wants to see what the others do then.
pub(crate) fn stop() -> ! {
    let next = with(|run| {
        if run.engine.verdict().is_some() {
            return Next::Over;
        }
        match run.arrived(run.running) {
            Some(maker) => Next::Run(maker),
            None => run.engine.schedule_next(),
        }
    });
    match next {
        Next::Run(task) => switch(task),
        Next::Over => crate::idle::next().go(),
    }
    crate::end::over()
}
