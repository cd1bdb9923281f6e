//! The report of a run, version 5.

use crate::report as current;
use crate::v1::Misfit;
use crate::v4;
use raddle_model::trace::Hidden;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    run: v4::report::Report,
    /// Of the run's log; 0 if there is none.
    hidden: u8,
}

impl From<&current::RunReport> for Report {
    fn from(report: &current::RunReport) -> Report {
        let hidden = report.recorded.as_ref().map_or(0, |recorded| recorded.trace.log.reached.hidden.0);
        Report { run: report.into(), hidden }
    }
}

impl TryFrom<Report> for current::RunReport {
    type Error = Misfit;

    fn try_from(report: Report) -> Result<current::RunReport, Misfit> {
        let mut run = current::RunReport::try_from(report.run)?;
        if let Some(recorded) = &mut run.recorded {
            recorded.trace.log.reached.hidden = Hidden(report.hidden);
        }
        Ok(run)
    }
}
