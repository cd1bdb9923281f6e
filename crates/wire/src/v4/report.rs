//! The report of a run, version 4.

use crate::report as current;
use crate::v1::Misfit;
use crate::v3;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    run: v3::report::Report,
    accesses: u64,
}

impl From<&current::RunReport> for Report {
    fn from(report: &current::RunReport) -> Report {
        Report { run: report.into(), accesses: report.accesses }
    }
}

impl TryFrom<Report> for current::RunReport {
    type Error = Misfit;

    fn try_from(report: Report) -> Result<current::RunReport, Misfit> {
        let run = current::RunReport::try_from(report.run)?;
        Ok(current::RunReport { accesses: report.accesses, ..run })
    }
}
