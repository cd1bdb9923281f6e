//! The report of a run, version 6.

use crate::report as current;
use crate::v1::Misfit;
use crate::v5;
use alloc::vec::Vec;
use raddle_model::ObjectId;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    run: v5::report::Report,
    /// Object, module, offset.
    places: Vec<(u32, u32, u64)>,
}

impl From<&current::RunReport> for Report {
    fn from(report: &current::RunReport) -> Report {
        let places = report.recorded.iter().flat_map(|recorded| &recorded.places);
        let places = places.map(|&(object, module, offset)| (object.0, module, offset)).collect();
        Report { run: report.into(), places }
    }
}

impl TryFrom<Report> for current::RunReport {
    type Error = Misfit;

    fn try_from(report: Report) -> Result<current::RunReport, Misfit> {
        let mut run = current::RunReport::try_from(report.run)?;
        let places = report.places.into_iter();
        let places = places.map(|(object, module, offset)| (ObjectId(object), module, offset)).collect();
        match &mut run.recorded {
            Some(recorded) => recorded.places = places,
            None if places.is_empty() => {}
            None => return Err(Misfit("it says where objects are of a run that was not recorded")),
        }
        Ok(run)
    }
}
