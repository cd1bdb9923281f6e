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
        let log = log.filter(|log| !log.objects.is_empty());
        Report { run: report.into(), log: log.map(Log::from) }
    }
}

impl TryFrom<Report> for current::RunReport {
    type Error = Misfit;

    fn try_from(report: Report) -> Result<current::RunReport, Misfit> {
        let mut run = current::RunReport::try_from(report.run)?;
        if let Some(log) = report.log {
            let recorded =
                run.recorded.as_mut().ok_or(Misfit("it has the log of a run that it does not have"))?;
            let trace = &recorded.trace;
            recorded.trace.log = log.into_model(trace.names.len(), trace.events.len())?;
        }
        Ok(run)
    }
}
