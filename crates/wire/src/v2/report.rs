//! The report of a run, version 2.

use super::log::Log;
use crate::report as current;
use crate::v1::{self, Misfit};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    run: v1::report::Report,
    /// Only if the run was one of a search.
    log: Option<Log>,
}

impl From<&current::RunReport> for Report {
    fn from(report: &current::RunReport) -> Report {
        let log = report.recorded.as_ref().map(|recorded| &recorded.trace.log);
        let log = log.filter(|log| report.since.is_some() || !log.objects.is_empty());
        Report { run: report.into(), log: log.map(Log::from) }
    }
}

impl TryFrom<Report> for current::RunReport {
    type Error = Misfit;

    fn try_from(report: Report) -> Result<current::RunReport, Misfit> {
        report.into_model(None)
    }
}

impl Report {
    /// Version 3 may leave out the beginning.
    pub(crate) fn into_model(self, since: Option<current::Since>) -> Result<current::RunReport, Misfit> {
        let mut run = current::RunReport::try_from(self.run)?;
        run.since = since;
        let none = current::Since::default();
        let since = run.since.as_ref().unwrap_or(&none);
        if let Some(recorded) = &mut run.recorded {
            // Indexes within a task were counted from 0.
            for event in &mut recorded.trace.events {
                event.index += since.events.get(event.task.index()).copied().unwrap_or(0);
            }
        }
        if let Some(log) = self.log {
            let recorded =
                run.recorded.as_mut().ok_or(Misfit("it has the log of a run that it does not have"))?;
            let trace = &recorded.trace;
            recorded.trace.log = log.into_model(trace.names.len(), trace.events.len(), since)?;
        }
        Ok(run)
    }
}
