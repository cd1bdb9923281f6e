//! The report of a run, version 5.

use crate::report as current;
use crate::v1::Misfit;
use crate::v4;
use alloc::vec::Vec;
use raddle_model::trace::Hidden;
use raddle_model::{SiteId, TaskId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    run: v4::report::Report,
    /// Of the run's log; 0 if there is none.
    hidden: u8,
    /// Only if it was asked for.
    called: Option<Called>,
}

#[derive(Serialize, Deserialize)]
struct Called {
    /// Site, callers.
    stacks: Vec<(u32, Vec<u32>)>,
    /// Task, its events before, stack.
    arrivals: Vec<(u32, u32, u32)>,
    /// How many stacks and arrivals are left out.
    before: (u32, u32),
}

impl From<&current::RunReport> for Report {
    fn from(report: &current::RunReport) -> Report {
        let hidden = report.recorded.as_ref().map_or(0, |recorded| recorded.trace.log.reached.hidden.0);
        let current::Called { stacks, arrivals } = &report.called;
        let before = report.since.as_ref().map_or((0, 0), |since| (since.stacks, since.arrivals));
        let none = stacks.is_empty() && arrivals.is_empty() && before == (0, 0);
        let stack =
            |stack: &current::Stack| (stack.site.0, stack.callers.iter().map(|site| site.0).collect());
        let called = (!none).then(|| Called {
            stacks: stacks.iter().map(stack).collect(),
            arrivals: arrivals.iter().map(|at| (at.task.0, at.events, at.stack)).collect(),
            before,
        });
        Report { run: report.into(), hidden, called }
    }
}

impl TryFrom<Report> for current::RunReport {
    type Error = Misfit;

    fn try_from(report: Report) -> Result<current::RunReport, Misfit> {
        let mut run = current::RunReport::try_from(report.run)?;
        if let Some(recorded) = &mut run.recorded {
            recorded.trace.log.reached.hidden = Hidden(report.hidden);
        }
        let Some(Called { stacks, arrivals, before }) = report.called else { return Ok(run) };
        match &mut run.since {
            Some(since) => (since.stacks, since.arrivals) = before,
            None if before == (0, 0) => {}
            None => return Err(Misfit("who called is left out of a run that is not")),
        }
        let known = before.0 as usize + stacks.len();
        if arrivals.iter().any(|&(_, _, stack)| stack as usize >= known) {
            return Err(Misfit("an operation was called by nobody"));
        }
        let stack = |(site, callers): (u32, Vec<u32>)| current::Stack {
            site: SiteId(site),
            callers: callers.into_iter().map(SiteId).collect(),
        };
        let arrival = |(task, events, stack)| current::Arrival { task: TaskId(task), events, stack };
        run.called = current::Called {
            stacks: stacks.into_iter().map(stack).collect(),
            arrivals: arrivals.into_iter().map(arrival).collect(),
        };
        Ok(run)
    }
}
