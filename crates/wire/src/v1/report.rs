//! The report of a run, version 1.

use super::Misfit;
use super::failure::FailureKind;
use super::trace::Trace;
use crate::report as current;
use alloc::string::String;
use alloc::vec::Vec;
use raddle_model::{Divergence, Failure, ObjectId, ObjectInfo, Schedule, SiteId, TaskId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Verdict {
    Finished,
    Failed { kind: FailureKind, message: String, tasks: Vec<u32>, sites: Vec<u32> },
    Cut,
    Diverged { step: u64, decision: u64, expected: String, found: String },
}

#[derive(Serialize, Deserialize)]
struct Recorded {
    trace: Trace,
    /// Number, noun, site.
    objects: Vec<(u32, String, u32)>,
    tasks: Vec<String>,
    modules: Vec<String>,
    arrivals: Vec<Call>,
    accesses: Vec<Call>,
}

/// Task, site, callers.
type Call = (u32, u32, Vec<u32>);

fn call(call: &current::Call) -> Call {
    (call.task.0, call.site.0, call.callers.iter().map(|site| site.0).collect())
}

fn uncall((task, site, callers): Call) -> current::Call {
    current::Call {
        task: TaskId(task),
        site: SiteId(site),
        callers: callers.into_iter().map(SiteId).collect(),
    }
}

/// Sites, message, module and offset of the variable.
type Race = (u32, u32, String, Option<(u32, u64)>);

#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    verdict: Verdict,
    exit_code: Option<i32>,
    fingerprint: [u8; 16],
    steps: u64,
    decisions: u64,
    tasks: u32,
    releases: bool,
    weak_orders: bool,
    races: Vec<Race>,
    shared: Vec<u32>,
    /// Task, what it holds, sites.
    cycles: Vec<Vec<(String, String, u32, u32)>>,
    recorded: Option<Recorded>,
}

impl From<&raddle_model::Verdict> for Verdict {
    fn from(verdict: &raddle_model::Verdict) -> Verdict {
        use raddle_model::Verdict as Model;
        match verdict.clone() {
            Model::Finished => Verdict::Finished,
            Model::Failed(Failure { kind, message, tasks, sites }) => Verdict::Failed {
                kind: kind.into(),
                message,
                tasks: tasks.iter().map(|task| task.0).collect(),
                sites: sites.iter().map(|site| site.0).collect(),
            },
            Model::Cut => Verdict::Cut,
            Model::Diverged(Divergence { step, decision, expected, found }) => {
                Verdict::Diverged { step, decision: decision as u64, expected, found }
            }
        }
    }
}

impl From<Verdict> for raddle_model::Verdict {
    fn from(verdict: Verdict) -> raddle_model::Verdict {
        use raddle_model::Verdict as Model;
        match verdict {
            Verdict::Finished => Model::Finished,
            Verdict::Failed { kind, message, tasks, sites } => Model::Failed(Failure {
                kind: kind.into(),
                message,
                tasks: tasks.into_iter().map(TaskId).collect(),
                sites: sites.into_iter().map(SiteId).collect(),
            }),
            Verdict::Cut => Model::Cut,
            Verdict::Diverged { step, decision, expected, found } => {
                Model::Diverged(Divergence { step, decision: decision as usize, expected, found })
            }
        }
    }
}

impl From<&current::RunReport> for Report {
    fn from(report: &current::RunReport) -> Report {
        let edge =
            |edge: &current::Edge| (edge.task.clone(), edge.held.clone(), edge.sites[0].0, edge.sites[1].0);
        Report {
            verdict: (&report.verdict).into(),
            exit_code: report.exit_code,
            fingerprint: report.fingerprint.to_le_bytes(),
            steps: report.steps,
            decisions: report.decisions,
            tasks: report.tasks,
            releases: report.releases,
            weak_orders: report.weak_orders,
            races: report
                .races
                .iter()
                .map(|r| (r.sites[0].0, r.sites[1].0, r.message.clone(), r.place))
                .collect(),
            shared: report.shared.iter().map(|site| site.0).collect(),
            cycles: report.cycles.iter().map(|cycle| cycle.iter().map(edge).collect()).collect(),
            recorded: report.recorded.as_ref().map(|recorded| Recorded {
                trace: Trace::new(&recorded.trace, &Schedule::default()),
                objects: recorded.objects.iter().map(|o| (o.id.0, o.noun.clone(), o.site.0)).collect(),
                tasks: recorded.tasks.clone(),
                modules: recorded.modules.clone(),
                arrivals: recorded.arrivals.iter().map(call).collect(),
                accesses: recorded.accesses.iter().map(call).collect(),
            }),
        }
    }
}

impl TryFrom<Report> for current::RunReport {
    type Error = Misfit;

    fn try_from(report: Report) -> Result<current::RunReport, Misfit> {
        let edge = |(task, held, first, second)| current::Edge {
            task,
            held,
            sites: [SiteId(first), SiteId(second)],
        };
        let recorded = match report.recorded {
            None => None,
            Some(Recorded { trace, objects, tasks, modules, arrivals, accesses }) => {
                Some(current::Recorded {
                    trace: trace.into_model(&Schedule::default())?,
                    objects: objects
                        .into_iter()
                        .map(|(id, noun, site)| ObjectInfo {
                            id: ObjectId(id),
                            noun,
                            name: None,
                            site: SiteId(site),
                        })
                        .collect(),
                    tasks,
                    modules,
                    places: Vec::new(),
                    arrivals: arrivals.into_iter().map(uncall).collect(),
                    accesses: accesses.into_iter().map(uncall).collect(),
                })
            }
        };
        Ok(current::RunReport {
            verdict: report.verdict.into(),
            exit_code: report.exit_code,
            fingerprint: u128::from_le_bytes(report.fingerprint),
            steps: report.steps,
            accesses: 0,
            decisions: report.decisions,
            tasks: report.tasks,
            releases: report.releases,
            weak_orders: report.weak_orders,
            races: report
                .races
                .into_iter()
                .map(|(a, b, message, place)| current::Race { sites: [SiteId(a), SiteId(b)], message, place })
                .collect(),
            shared: report.shared.into_iter().map(SiteId).collect(),
            cycles: report.cycles.into_iter().map(|c| c.into_iter().map(edge).collect()).collect(),
            recorded,
            called: current::Called::default(),
            since: None,
        })
    }
}
