//! One search of one subject: after how many runs it finds the bug.

use crate::problem::Problem;
use raddle::tool::LibraryTarget;
use raddle_explore::campaign::{self, Limits};
use raddle_explore::hapset::{Guided, Known, Under};
use raddle_explore::target::TargetError;
use raddle_explore::{Dpor, Exhausted, Explorer, Pcb, Systematic};
use raddle_model::{Plan, PointSet, Tail};
use raddle_subjects::hapset::Row;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// No run of a subject takes that long without an operation, whatever else the machine does.
pub(crate) const HANG: Duration = Duration::from_secs(30);

/// A search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Search {
    /// Guided by HaPSets, without training runs, as in the paper's experiments.
    Hapset(Under),
    /// Flanagan and Godefroid's.
    Dpor,
    /// At most so many preemptions.
    Pcb(u32),
}

impl Search {
    pub(crate) fn name(self) -> String {
        match self {
            Search::Hapset(Under::Dpor) => String::from("HaPSet"),
            Search::Hapset(Under::Pcb { bound }) => format!("HaPSet over PCB{bound}"),
            Search::Dpor => String::from("DPOR"),
            Search::Pcb(bound) => format!("PCB{bound}"),
        }
    }

    fn explorer(self, plan: Plan) -> Box<dyn Explorer> {
        match self {
            Search::Hapset(under) => {
                let guided = Guided::new(Known::default(), under, plan.seed);
                Box::new(Systematic::new(guided, plan))
            }
            Search::Dpor => Box::new(Systematic::new(Dpor::new(), plan)),
            Search::Pcb(bound) => Box::new(Systematic::new(Pcb::new(Some(bound)), plan)),
        }
    }
}

/// What came of a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "end", content = "runs")]
pub(crate) enum End {
    /// The bug, in this run.
    Found(u64),
    /// Nothing was left after so many runs.
    Missed(u64),
    /// So many runs were not enough.
    TimedOut(u64),
}

/// Searches one subject.
pub(crate) struct Bench {
    target: LibraryTarget,
    /// The same with callers as a part of statements, for searches that go by them.
    told: LibraryTarget,
    kind: &'static str,
}

impl Bench {
    pub(crate) fn new(row: &Row) -> Bench {
        let target = || LibraryTarget::new(Arc::new(row.subject), HANG);
        Bench { target: target(), told: target().with_hapsets(true), kind: row.kind }
    }

    /// Searches for the bug, in at most `runs` runs. The seed breaks ties; 0 takes them in order.
    pub(crate) fn search(&mut self, search: Search, seed: u64, runs: u64) -> Result<End, Problem> {
        let points = PointSet { all_accesses: true, ..PointSet::default() };
        let plan = Plan { points, ..Plan::new(seed, Tail::Stay) };
        let mut explorer = search.explorer(plan);
        let limits = Limits { runs, stop_after: 1, races: false };
        let target = match search {
            Search::Hapset(_) => &mut self.told,
            Search::Dpor | Search::Pcb(_) => &mut self.target,
        };
        let bug =
            |TargetError { message }| Problem::new(message, "this is a bug of raddle's: please report it");
        let summary =
            campaign::run(target, &mut *explorer, &limits, &mut || false, &mut |_| ()).map_err(bug)?;
        if let Some(found) = summary.failures.first() {
            let kind = found.failure.kind.name();
            if kind != self.kind {
                let what = format!("{}: {kind}: {}", search.name(), found.failure.message);
                return Err(Problem::new(what, format!("a {} was expected", self.kind)));
            }
            return Ok(End::Found(found.first_run + 1));
        }
        let runs = summary.progress.runs;
        let done = !matches!(summary.exhausted, Exhausted::No);
        Ok(if done { End::Missed(runs) } else { End::TimedOut(runs) })
    }
}
