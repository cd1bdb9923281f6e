//! The report of a run, version 3.

use crate::report as current;
use crate::v1::Misfit;
use crate::v2;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    run: v2::report::Report,
    /// Events by task, scheduling points, chosen values, objects.
    since: Option<(Vec<u32>, u32, u32, u32)>,
}

impl From<&current::RunReport> for Report {
    fn from(report: &current::RunReport) -> Report {
        let since = |since: &current::Since| (since.events.clone(), since.picks, since.chosen, since.objects);
        Report { run: report.into(), since: report.since.as_ref().map(since) }
    }
}

impl TryFrom<Report> for current::RunReport {
    type Error = Misfit;

    fn try_from(report: Report) -> Result<current::RunReport, Misfit> {
        let since = report.since;
        report.run.into_model(since.map(|(events, picks, chosen, objects)| current::Since {
            events,
            picks,
            chosen,
            objects,
            ..current::Since::default()
        }))
    }
}
